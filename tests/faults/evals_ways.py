"""E2: a fake provider acts in all its ways in experiments: what it did is an error, what the variant did a failure."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.domain.agents import Limits, PromptBehaviour, ToolChoice, new_agent
from app.domain.evals.cases import CaseContent, new_cases
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.experiments import VARIANTS_FAULT, Cell, CellEnd
from app.domain.evals.scorers import Contains
from app.domain.provenance import Trigger
from app.engine.experiments.cells import Trying
from app.engine.experiments.collecting import Collecting
from app.engine.experiments.experimenting import Experimenting
from app.engine.experiments.judging import Judging
from app.engine.experiments.planning import Planning
from app.engine.experiments.scoring import Scoring
from app.llm.litellm.litellm_model import ensure_litellm
from app.tools.expressions import JsonExpressions
from app.tools.user_tools.scorer_files import ScorerFolder
from tests.faults.provider_ways import Bench, bench
from tests.faults.ways import WAYS, Way
from tests.figures import Figure
from tests.waiting import until

ANSWERED: tuple[CellEnd, ...] = ("passed", "failed")
WRONG = "this is in no answer"


async def run(*, brief: bool = False) -> list[Figure]:
    ways = [way for way in WAYS if way.brief or not brief]
    await ensure_litellm()
    as_failures, as_errors = list[str](), list[str]()
    with tempfile.TemporaryDirectory() as temporary:
        async with bench(Path(temporary) / "data") as workplace:
            trials = await Trials.of(workplace)
            for way in ways:
                cell = await trials.take(way)
                if cell.end not in expected(way):
                    told = f"{way.model}: {cell.end} ({cell.failure}) {cell.why}"
                    (as_failures if cell.end in ANSWERED else as_errors).append(told)
    return [
        _figure("failures of a provider counted as failures of a variant", as_failures, len(ways)),
        _figure("failures of a variant counted as errors", as_errors, len(ways)),
    ]


def _figure(name: str, wrong: list[str], number: int) -> Figure:
    return Figure(f"E2 {name}", "; ".join([f"{len(wrong)} of {number} ways", *wrong]), "0", not wrong)


def expected(way: Way) -> tuple[CellEnd, ...]:
    """How a cell may end whose run ends like that; all answers are wrong ones."""
    outcome = way.outcome
    if outcome.status == "completed" or outcome.failure in VARIANTS_FAULT:
        return ("failed",)
    return ("error",)


@dataclass
class Trials:
    workplace: Bench
    experimenting: Experimenting
    dataset: str

    @classmethod
    async def of(cls, workplace: Bench) -> "Trials":
        data, chat, runs = workplace.data, workplace.chat, workplace.chat.runs
        collecting = Collecting(data.datasets, data.cases, runs, data.artifacts)
        dataset = await collecting.new_dataset("Ways")
        await collecting.add_all(dataset.id, new_cases(dataset.id, [CaseContent(input="hi")]))
        planning = Planning(
            *(collecting, data.datasets, data.agents, chat.toolbox, runs.models, data.rows),
            provider_of=lambda model: model.partition("/")[0],
        )
        files = ScorerFolder(data.path / "scorers", data.trusted_files)
        scoring = Scoring(JsonExpressions(), files, Judging(runs, data.sessions))
        trying = Trying(chat, data.cells, collecting)
        parts = (data.experiments, data.cells, planning, collecting, trying, scoring)
        return cls(workplace, Experimenting(*parts), dataset.slug)

    async def take(self, way: Way) -> Cell:
        """The cell of an experiment whose provider acts that way."""
        agents = self.workplace.data.agents
        choices, limits = (ToolChoice(name="f"), ToolChoice(name="g")), Limits(idle_timeout=way.silence)
        behaviour = PromptBehaviour(system_prompt="Be short.", model=way.model, tools=choices, limits=limits)
        agent = await agents.create(new_agent("Tester", behaviour, taken_slugs=agents.slugs()))
        draft = ExperimentDraft(
            dataset=self.dataset, agent=agent.slug, tools="live", scorers=(Contains(texts=(WRONG,)),)
        )
        experiment = await self.experimenting.plan(draft, Trigger(kind="terminal"))
        await self.experimenting.start(experiment.id)
        await until(lambda: not self.experimenting.is_live(experiment.id), seconds=way.seconds + 30)
        [cell] = self.workplace.data.cells.of(experiment.id)
        return cell
