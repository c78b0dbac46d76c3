"""A search for a better prompt without any key: the demo model fails, proposes, and does better."""

from collections import Counter

from app.domain.provenance import Trigger
from app.domain.trace import RunFilter
from app.engine.experiments.searching import Wish
from app.workbench import Workbench
from tests.waiting import until

PAGE = Trigger(kind="page")


async def test_the_demo_model_finds_a_better_variant_on_a_sample_dataset_and_says_that_it_follows_a_rule(tmp_path):
    bench = Workbench.open(tmp_path / "data", demo_pace=0)
    try:
        await bench.start()
        await bench.plant()
        agent, dataset = bench.agents.by_slug("math-tutor"), bench.datasets.by_slug("math-tutor-long-sums")
        wish = Wish(agent.id, agent.active, dataset.id, "demo/agent", tools="live")
        suggestion = await bench.suggesting.start(wish, PAGE)
        await until(lambda: suggestion.status != "running", 120)
        tried = bench.cells.of(suggestion.experiment_id)
        assert tried and [cell.why for cell in tried if cell.end == "error"] == []
        assert suggestion.outcome.startswith("On 9 cases that no proposal saw: "), suggestion.outcome
        assert ": better." in suggestion.outcome, suggestion.outcome
        assert "The demo model follows a fixed rule and understands nothing." in suggestion.proposal.reason
        ended = Counter((row.status, row.failure) for row in bench.rows.find(RunFilter(behind=True), limit=500).rows)
        assert suggestion.behaviour.limits.max_steps == 20, (suggestion.told, ended)
        assert suggestion.proposal.by_failure[0].reason.endswith("Its steps ran out.")
    finally:
        await bench.close()
