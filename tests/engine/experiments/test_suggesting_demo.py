"""A search for a better prompt without any key: the demo model fails, proposes, and does better."""

from app.domain.agents import Behaviour, Limits, ToolChoice, new_agent
from app.domain.evals.cases import CaseContent, DatasetChanges, new_cases
from app.domain.evals.scorers import Contains
from app.domain.provenance import Trigger
from app.engine.experiments.searching import Wish
from app.workbench import Workbench
from tests.waiting import until

PAGE = Trigger(kind="page")


async def test_the_demo_model_proposes_by_its_rule_and_says_that_it_is_one(tmp_path):
    bench = Workbench.open(tmp_path / "data", demo_pace=0)
    try:
        hurried = Behaviour(system_prompt="Add.", tools=(ToolChoice(name="calculator"),), limits=Limits(max_steps=1))
        agent = await bench.agents.create(new_agent("Hurried", hurried, taken_slugs=()))
        dataset = await bench.collecting.new_dataset("Sums")
        await bench.collecting.change_dataset(dataset.id, DatasetChanges(scorers=(Contains(),)))
        contents = [CaseContent(input=f"What is {n} + 10?", reference=f"{n + 10}") for n in range(32)]
        await bench.collecting.add_all(dataset.id, new_cases(dataset.id, contents))
        wish = Wish(agent.id, 1, dataset.id, "demo/agent", tools="live")
        suggestion = await bench.suggesting.start(wish, PAGE)
        await until(lambda: suggestion.status != "running", 60)
        assert suggestion.outcome.startswith("On 8 cases that no proposal saw: 8 better, 0 worse of 8: better.")
        assert "The demo model follows a fixed rule and understands nothing." in suggestion.proposal.reason
        assert suggestion.behaviour.limits.max_steps == 2
        assert suggestion.proposal.by_failure[0].reason.endswith("Its steps ran out.")
    finally:
        await bench.close()
