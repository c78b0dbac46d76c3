"""What somebody wants to try, before it is a plan; what that may cost, and what it can show; how far it has come."""

from typing import Annotated

from pydantic import Field

from app.domain.evals.experiments import MOST_CELLS, ExperimentStatus, ToolMode
from app.domain.evals.scorers import Scorer
from app.domain.values import Strict, Text, Value

MOST_COLUMNS = 12


class ExperimentDraft(Strict):
    """Dataset × variants × models × repeats, as a person or a program asks for it."""

    dataset: str
    """Its slug or id."""
    agent: str
    """Its slug or id."""
    variants: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(max_length=MOST_COLUMNS)] = ()
    """The first one is the baseline; without any the agent's active one."""
    models: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=MOST_COLUMNS)] = ()
    """Each variant is tried with each of them; empty for a variant's own."""
    beside: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=MOST_COLUMNS)] = ()
    """Other agents, prompts or workflows, by slug or id: each is tried on the same cases with its active variant."""
    as_recorded: bool = False
    """Whether the runs that the cases were made from are scored as the baseline, without running anything."""
    repeats: int = Field(default=1, ge=1, le=20)
    tools: ToolMode = "recorded"
    live: Annotated[tuple[str, ...], Field(max_length=500)] = ()
    """Tools that are called for real, and without asking: nobody is there to say yes."""
    scorers: Annotated[tuple[Scorer, ...], Field(max_length=20)] = ()
    """In place of the dataset's."""
    primary: str = ""
    margin: float | None = Field(default=None, gt=0, lt=1)
    ceiling_usd: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    concurrency: int = Field(default=4, ge=1, le=64)
    wait: bool = True
    title: Text = Field(default="", max_length=200)
    workers: str = Field(default="", max_length=300, pattern=r"^$|^(tcp|tls)://[A-Za-z0-9.:_\[\]-]+$")
    """The scheduler of a Dask cluster that tries the cells, such as `tcp://10.0.0.5:8786`; empty for this machine.

    Whoever runs that cluster reads the cases and can run programs here: use one of your own.
    """


class Estimate(Value):
    """What an experiment may cost and what it can show, said before it starts."""

    cells: int
    low_usd: float | None
    """Without its judges; `None` where nothing is known of what a run costs, so that a pilot goes first."""
    high_usd: float | None
    judge_low_usd: float | None
    judge_high_usd: float | None
    """`None` where nobody said what the judge's model costs."""
    pilot: bool
    """Whether the first three cases run alone, to learn what the whole would cost."""
    reach: str
    """What so many cases can show, in words."""
    live: tuple[str, ...] = ()
    """The tools that would be called for real."""
    side_effects: tuple[str, ...] = ()
    """Those of them that change something outside the conversation."""
    notes: tuple[str, ...] = ()
    """What the person should know before."""


class Progress(Value):
    """How far an experiment has come."""

    status: ExperimentStatus
    why: str = ""
    total: int
    passed: int = 0
    failed: int = 0
    error: int = 0
    not_scored: int = 0
    skipped: int = 0
    running: int = 0
    """Cells that go on in this process now."""
    left: int = 0
    """Cells that were begun and never came to an end; where nothing goes on they are tried anew."""
    cost: float = 0.0
    """US dollars so far, judges included."""
    unpriced: bool = False
    """Whether a try had a model of which nobody said what it costs."""
    judged: float = 0.0
    """US dollars of the judges alone."""

    @property
    def ended(self) -> int:
        return self.passed + self.failed + self.error + self.not_scored + self.skipped

    @property
    def pending(self) -> int:
        return max(0, self.total - self.ended)

    @property
    def given_up(self) -> int:
        """Cells that an experiment which is over never began: skipped, as its results count them."""
        return self.pending - self.running if self.status in ("completed", "cancelled") else 0


def too_large(size: int) -> str:
    """Why it cannot be that large, in words; empty where it can."""
    if size <= MOST_CELLS:
        return ""
    return f"This would be {size:,} cells; an experiment has at most {MOST_CELLS:,}. Take fewer columns or repeats."
