"""E1 as it really goes: two columns of one variant through the whole engine, told better or worse than each other.

The model gives the right answer to four of five questions, by a seeded chance. `evals` does the same with figures
alone, a thousand times.
"""

import tempfile
from pathlib import Path
from random import Random

from app.domain.evals.statistics import wilson
from tests.engine.experiments.trials import Trials
from tests.figures import Figure
from tests.waiting import until

EXPERIMENTS = 60
CASES = 50
PASS_CHANCE = 0.8
MOST_TOLD = 0.05


async def run(experiments: int = EXPERIMENTS, cases: int = CASES) -> list[Figure]:
    chance, told = Random(3), 0
    with tempfile.TemporaryDirectory() as folder:
        trials = await Trials.opened(Path(folder))
        try:
            await trials.agent()
            await trials.written(*(f"question {number}" for number in range(cases)))
            trials.models.answers = lambda _request: "It is 3." if chance.random() < PASS_CHANCE else "It is 4."
            for _ in range(experiments):
                told += await _told_apart(trials)
        finally:
            await trials.close()
    share = told / experiments
    words = f"{share:.1%} of {experiments}, of {cases} cases each"
    least = wilson(told, of=experiments).low
    return [Figure("E1 the same variant twice, through the engine: told apart", words, "<= 5 %", least <= MOST_TOLD)]


async def _told_apart(trials: Trials) -> bool:
    experiment = await trials.planned(variants=(1, 1), ceiling_usd=0, concurrency=4)
    await trials.bench.experimenting.start(experiment.id)
    await until(lambda: not trials.bench.experimenting.is_live(experiment.id), seconds=60, pause=0.01)
    if trials.bench.experimenting.get(experiment.id).status == "paused":  # the first one is a pilot
        await trials.bench.experimenting.resume(experiment.id)
        await until(lambda: not trials.bench.experimenting.is_live(experiment.id), seconds=60, pause=0.01)
    results = await trials.bench.experimenting.results(experiment.id)
    assert results.finished, results
    return results.verdicts[0].verdict.verdict in ("better", "worse")
