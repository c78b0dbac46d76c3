"""What programs send of experiments and are told of them."""

from datetime import datetime
from typing import Self

from pydantic import ConfigDict, Field, JsonValue

from app.api.door.dependencies import Paging
from app.api.door.envelopes import Reply
from app.api.following.run_replies import triggered_by
from app.domain.errors import FailureClass
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.experiments import Cell, CellScore, CellState, Column, Experiment, ExperimentStatus
from app.domain.evals.results import ColumnResults, ColumnVerdict
from app.domain.evals.verdicts import VerdictWord
from app.workbench import Workbench

_TWO_VARIANTS: dict[str, JsonValue] = {"dataset": "sums", "agent": "assistant", "variants": [1, 2]}
_CHEAPER_MODEL: dict[str, JsonValue] = {
    "dataset": "sums",
    "agent": "assistant",
    "models": ["claude-sonnet", "claude-haiku"],
    "repeats": 3,
    "scorers": [{"type": "numeric", "tolerance": 0.01}],
    "margin": 0.05,
    "ceiling_usd": 2,
}
_TWO_AGENTS: dict[str, JsonValue] = {"dataset": "sums", "agent": "assistant", "beside": ["sort-a-request"]}
_COLUMN: dict[str, JsonValue] = {
    **{"agent": "", "variant": 2, "model": "", "words": "variant 2"},
    **{"passed": 17, "failed": 2, "errors": 1, "not_scored": 0},
    **{"skipped": 0, "pending": 0, "rate": 0.895, "low": 0.686, "high": 0.971, "worst": 0.85, "best": 0.9},
    **{"cost_usd": 0.12, "unpriced": False, "judge_usd": 0.0, "p50_ms": 2140.0, "p95_ms": 4300.0},
    **{"recorded": 19, "called": 19},
}


class ProgressReply(Reply):
    """How far it is, in cells."""

    total: int
    ended: int
    running: int
    """That go on now."""
    cost_usd: float
    """So far, judges included."""
    judge_usd: float


class ExperimentReply(Reply):
    """An experiment as a list shows it."""

    id: str
    title: str
    status: ExperimentStatus
    why: str
    """Why it paused or stopped, where nobody asked for that."""
    pilot: bool
    """Whether it runs its first three cases only, to learn what the whole would cost."""
    workers: str
    """The cluster that tries its cells; empty for this machine."""
    plan: dict[str, JsonValue]
    """All that was decided before it began, but for the ids of its cases."""
    progress: ProgressReply
    by: str
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    async def seen(cls, workbench: Workbench, experiment: Experiment) -> "ExperimentReply":
        stands = workbench.experimenting.get(experiment.id)
        progress = await workbench.experimenting.progress(experiment.id)
        counts = {"total": progress.total, "ended": progress.ended, "running": progress.running}
        money = {"cost_usd": progress.cost, "judge_usd": progress.judged}
        plan = experiment.plan.model_dump(mode="json", exclude={"case_ids"})
        same = {"id", "title", "status", "why", "pilot", "workers", "created_at", "finished_at"}
        told = stands.model_dump(include=same)
        return ExperimentReply.model_validate(
            {
                **told,
                "plan": plan | {"case_count": len(experiment.plan.case_ids), "cells": experiment.plan.size},
                "progress": {**counts, **money},
                "by": triggered_by(experiment.by),
            }
        )


class ColumnReply(Reply):
    """What came of one column; only what passed and failed is in its rate."""

    model_config = ConfigDict(json_schema_extra={"examples": [_COLUMN]})

    agent: str
    """The slug of an agent that is tried besides; empty for the experiment's."""
    variant: int
    model: str
    words: str
    passed: int
    failed: int
    errors: int
    not_scored: int
    skipped: int
    pending: int
    rate: float | None
    low: float | None
    """Of the 95 % interval of the rate."""
    high: float | None
    worst: float | None
    """The rate if all errors were failures."""
    best: float | None
    """The rate if no error were a failure."""
    cost_usd: float
    unpriced: bool = False
    """Whether a try had a model of which nobody said what it costs: it cost more than `cost_usd`."""
    judge_usd: float
    p50_ms: float | None
    p95_ms: float | None
    recorded: int
    """Calls of tools that the record answered."""
    called: int

    @classmethod
    def of(cls, column: ColumnResults) -> Self:
        return cls.model_validate(column.model_dump() | _named(column.column))


class VerdictReply(Reply):
    """A column beside the first one."""

    agent: str
    """The slug of an agent that is tried besides; empty for the experiment's."""
    variant: int
    model: str
    against: str
    """The baseline, in words."""
    verdict: VerdictWord
    words: str
    better: int
    """Cases, as are `worse` and `same`."""
    worse: int
    same: int
    dropped: int
    """Cases without a score on one side or both."""
    p: float | None
    low: float | None
    """Of the 95 % interval of the difference, in shares of 1."""
    high: float | None

    @classmethod
    def of(cls, columns: tuple[Column, ...], told: ColumnVerdict) -> Self:
        column = columns[told.column]
        return cls.model_validate({**_named(column), **told.verdict.model_dump(), "against": columns[0].words})


class ExperimentDetail(ExperimentReply):
    """An experiment with what came of it."""

    columns: tuple[ColumnReply, ...]
    verdicts: tuple[VerdictReply, ...]
    noise: str
    """How much changes by itself, in words."""

    @classmethod
    async def seen(cls, workbench: Workbench, experiment: Experiment) -> "ExperimentDetail":
        """How it stands is read before what came of it: one that is said to be over has its verdicts."""
        stands = await ExperimentReply.seen(workbench, experiment)
        results = await workbench.experimenting.results(experiment.id)
        columns = tuple(ColumnReply.of(column) for column in results.columns)
        verdicts = tuple(VerdictReply.of(experiment.plan.columns, one) for one in results.verdicts)
        return cls(**dict(stands), columns=columns, verdicts=verdicts, noise=results.noise)


class CellReply(Reply):
    """One try of one case."""

    case_id: str
    column: int
    """Counted from 0, the baseline."""
    repeat: int
    """Counted from 0."""
    state: CellState
    failure: FailureClass | None
    why: str
    answer: str
    """Its head."""
    scores: tuple[CellScore, ...]
    ms: float
    cost_usd: float
    recorded: int
    called: int
    runs: tuple[str, ...]
    """One for each message of the user."""
    before: tuple[str, ...]
    """Runs of tries that ended in an error or were broken off."""
    ended_at: datetime | None

    @classmethod
    def of(cls, cell: Cell) -> Self:
        return cls.model_validate(cell.model_dump() | {"state": cell.end or "pending", "cost_usd": cell.cost})


class WhichCells(Paging):
    """Which cells are wanted."""

    only: CellState | None = Field(None, description="Those that ended so; `pending` for those that go on.")


class WhichExperiments(Paging):
    """Which experiments are wanted."""

    dataset: str = Field("", max_length=200, description="A dataset's slug.")
    agent: str = Field("", max_length=200, description="An agent's slug.")


class ExperimentRequest(ExperimentDraft):
    """Dataset × variants × models × repeats. The first column is the baseline of all others."""

    model_config = ConfigDict(json_schema_extra={"examples": [_TWO_VARIANTS, _CHEAPER_MODEL, _TWO_AGENTS]})


def _named(column: Column) -> dict[str, object]:
    return {"agent": column.agent_slug, "variant": column.variant, "model": column.model, "words": column.words}
