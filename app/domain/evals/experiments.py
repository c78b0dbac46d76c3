"""Experiments: a plan that is written before anything runs, and the cells that come of it."""

from datetime import datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from app.domain.agents import Behaviour
from app.domain.errors import FailureClass
from app.domain.evals.scorers import Scorer
from app.domain.provenance import Trigger
from app.domain.values import Text, Value

CellEnd = Literal["passed", "failed", "error", "not_scored", "skipped"]
"""Only the first two count in a rate. An error is the provider's or ours; what is not scored can be scored again."""
CellState = Literal["passed", "failed", "error", "not_scored", "skipped", "pending"]
ExperimentStatus = Literal["planned", "running", "paused", "completed", "cancelled", "interrupted"]
ToolMode = Literal["recorded", "live"]

MOST_CELLS = 100_000
VARIANTS_FAULT: tuple[FailureClass, ...] = ("context_overflow", "safety_filter", "bad_request", "limit", "node")
"""Failures of a run that its variant did: they are failed answers, and no scorer is asked."""


class Column(Value):
    """What is tried: a variant of an agent, with its own model or another one."""

    agent_id: str = ""
    """Of an agent that is tried besides; empty for the plan's."""
    agent_slug: str = ""
    variant: int
    model: str = ""
    """Empty for the variant's own."""
    tried: Behaviour | None = None
    """What goes before the variant, which nobody has saved like that."""
    as_recorded: bool = False
    """Nothing is run: what is scored are the runs that the cases were made from, whatever made them."""

    @property
    def words(self) -> str:
        if self.as_recorded:
            return "as recorded"
        number = f"variant {self.variant}" if self.tried is None else f"suggestion for variant {self.variant}"
        return f"{self.agent_slug} {number}".lstrip() + (f" · {self.model}" if self.model else "")


class Plan(Value):
    """All that decides what an experiment does. Another plan is another experiment."""

    dataset_id: str
    dataset_slug: str
    dataset_version: int
    cases: str
    """The sha256 of its cases as they are then: JSON Lines, an artifact."""
    case_ids: tuple[str, ...]
    agent_id: str
    agent_slug: str
    columns: Annotated[tuple[Column, ...], Field(min_length=1)]
    """The first one is the baseline."""
    repeats: int = Field(default=1, ge=1, le=20)
    tools: ToolMode = "recorded"
    live: tuple[str, ...] = ()
    """The tools that are called for real although the others answer from the record."""
    tool_digests: dict[str, str] = {}
    """By tool: the digest of its spec when the plan was made."""
    scorers: tuple[Scorer, ...] = ()
    primary: str = ""
    """The name of the scorer that decides."""
    margin: float | None = None
    """In shares of 1: how much worse is still no worse."""
    ceiling_usd: float = Field(default=1.0, ge=0)
    """US dollars of all its runs and judges; 0 for no ceiling."""
    concurrency: int = Field(default=4, ge=1, le=64)
    """Cells that go on at once, at most, for each provider."""
    wait: bool = True
    """Whether a provider that is busy is waited for; else the cell ends in an error."""

    def agent_of(self, column: Column) -> str:
        """The id of the agent that the column tries."""
        return column.agent_id or self.agent_id

    @property
    def size(self) -> int:
        """How many cells it has."""
        return len(self.case_ids) * len(self.columns) * self.repeats

    @property
    def deciding(self) -> str:
        """The name of the scorer that decides whether a cell passed; empty where nothing is scored."""
        return self.primary or (self.scorers[0].name if self.scorers else "")

    def scorer(self, name: str) -> Scorer | None:
        return next((scorer for scorer in self.scorers if scorer.name == name), None)


class Experiment(Value):
    id: str
    title: str = ""
    plan: Plan
    status: ExperimentStatus = "planned"
    why: Text = ""
    """Why it paused or stopped, in words, where nobody asked for that."""
    pilot: bool = False
    """Whether it runs its first three cases only, to learn what the whole would cost."""
    by: Trigger
    workers: str = ""
    """The address of the cluster that tries its cells; empty for this machine."""
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None
    deleted_at: datetime | None = None


class CellKey(NamedTuple):
    """Which cell of an experiment: a case, a column counted from 0, a repeat counted from 0."""

    case_id: str
    column: int
    repeat: int


class CellScore(Value):
    """What one scorer said of a cell."""

    name: str
    value: float | None = None
    """From 0 to 1; `None`: it could not say."""
    passed: bool | None = None
    reason: Text = ""
    """Why, or why it could not say."""
    runs: tuple[str, ...] = ()
    """The runs of the judge that said it."""
    cost: float = 0.0
    """US dollars of these."""
    scorer: str = ""
    """The digest of the scorer as it was, with its file's text or the words that its judge is asked with."""
    flipped: bool | None = None
    """Of two answers that a judge compared: whether its verdict changed with their order; `None` for all others."""
    traceback: Text = ""
    """Where a scorer's file broke down, for developers."""


class Cell(Value):
    """One try of one case. Its id is `<experiment>.<case>.<column>.<repeat>`; what is not begun has none."""

    id: str
    experiment_id: str
    case_id: str
    column: int
    repeat: int
    session_id: str = ""
    runs: tuple[str, ...] = ()
    """The runs of this try, one a turn; noted before they begin."""
    before: tuple[str, ...] = ()
    """Runs of tries that ended in an error or were broken off; they count in money only."""
    spoken: tuple[str, ...] = ()
    """Runs in which a simulated user spoke; they count in money only."""
    end: CellEnd | None = None
    """`None` while it goes on, or was left."""
    failure: FailureClass | None = None
    why: Text = ""
    """The error, or why it was skipped, in words."""
    scores: tuple[CellScore, ...] = ()
    answer: Text = ""
    """The head of the last answer."""
    ms: float = 0.0
    """Of work; waits for retries do not count."""
    cost: float = 0.0
    """US dollars of `runs`, `before` and `spoken`, judges apart; nothing for what was recorded elsewhere."""
    unpriced: bool = False
    """Whether nobody said what a model of `runs`, or of runs that these started, costs: it cost more than `cost`."""
    judged_before: float = 0.0
    """US dollars of judges whose word was replaced."""
    recorded: int = 0
    """Calls of tools that the record answered."""
    called: int = 0
    """Calls of tools in all."""
    worker: str = ""
    """The machine that ran it, where that was another one."""
    ended_at: datetime | None = None

    @property
    def key(self) -> CellKey:
        return CellKey(self.case_id, self.column, self.repeat)

    def score(self, name: str) -> CellScore | None:
        return next((score for score in self.scores if score.name == name), None)

    @property
    def judged(self) -> float:
        """US dollars of its judges."""
        return self.judged_before + sum(score.cost for score in self.scores)


def cell_id(experiment_id: str, key: CellKey) -> str:
    return f"{experiment_id}.{key.case_id}.{key.column}.{key.repeat}"


def planned(plan: Plan) -> list[CellKey]:
    """Every cell in the order of work: the first repeat of all cases first, so that a part of it is a whole."""
    return [
        CellKey(case_id, column, repeat)
        for repeat in range(plan.repeats)
        for case_id in plan.case_ids
        for column in range(len(plan.columns))
    ]
