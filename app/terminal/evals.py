"""An experiment from the terminal, for people and build servers: through the app where it is up, else right here.

What is printed and the exit code come from the same verdict.
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from app.api.door.caller import STARTED_FROM, TERMINAL
from app.api.door.envelopes import Envelope
from app.api.routes import experiments, gates
from app.api.routes.experiment_bodies import ColumnReply, ExperimentDetail, ExperimentReply, ExperimentRequest
from app.api.routes.gates import GateReply
from app.domain.errors import StorageError, WorkbenchError
from app.domain.evals.drafts import Estimate
from app.domain.evals.gates import GateState
from app.domain.evals.verdicts import MOST_ERRORS
from app.export.words import cost_words
from app.start.already_running import ask, running_app
from app.store.folder.lock import Announcement
from app.workbench import Workbench

FINE, FAILED, BAD_CALL, CANNOT_TELL = 0, 1, 2, 3
LOOK_SECONDS, ANSWER_SECONDS = 0.5, 300
GATE_SAYS = "With --gate the agent's gate says how often, with which tools and models: name one --variant, and no more."
OTHER_GATE = "The gate of {agent!r} is the dataset {gate!r}, not {dataset!r}. Name that one, or change the gate."
_GATE_CODES: dict[GateState, int] = {"green": FINE, "red": FAILED, "amber": CANNOT_TELL}
_ENDS = {FINE: "Fine.", FAILED: "Failed.", CANNOT_TELL: "Cannot tell."}
_OVER = ("completed", "cancelled", "paused", "interrupted")

Which = Literal["pause", "resume"]
R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class Asked:
    """What somebody wants tried."""

    draft: ExperimentRequest
    gate: bool = False
    as_json: bool = False
    junit: str = ""
    """The file to write for a build server; empty for none."""


class Told(BaseModel):
    """What came of it."""

    code: int
    """The exit code."""
    words: tuple[str, ...]
    experiment: ExperimentDetail
    gate: GateReply | None = None


class Evals(Protocol):
    """Where experiments are run."""

    async def estimate(self, draft: ExperimentRequest) -> Estimate: ...

    async def start(self, draft: ExperimentRequest) -> ExperimentReply: ...

    async def seen(self, experiment_id: str) -> ExperimentDetail: ...

    async def tell(self, experiment_id: str, what: Which) -> object: ...

    async def gate(self, agent: str, variant: int) -> GateReply: ...

    async def run_gate(self, agent: str, variant: int) -> ExperimentReply: ...

    async def junit(self, experiment_id: str) -> bytes: ...


def evaluate(folder: Path, asked: Asked) -> int:
    """Run it, print what came of it; the exit code."""
    try:
        return asyncio.run(_evaluated(folder, asked))
    except WorkbenchError as problem:
        sys.stderr.write(f"{problem}\n")
        return BAD_CALL


async def _evaluated(folder: Path, asked: Asked) -> int:
    if (running := running_app(folder)) is not None:
        return await _printed(There(running), asked)
    workbench = Workbench.open(folder)
    try:
        await workbench.start()
        await workbench.user_tools.settled()
        return await _printed(Here(workbench), asked)
    finally:
        await workbench.close()


async def _printed(evals: Evals, asked: Asked) -> int:
    if asked.junit:
        await asyncio.to_thread(_try, Path(asked.junit))
    told = await ran(evals, asked)
    sys.stdout.write((told.model_dump_json(indent=2) if asked.as_json else "\n".join(told.words)) + "\n")
    if asked.junit:
        try:
            await asyncio.to_thread(_write, Path(asked.junit), await evals.junit(told.experiment.id))
        except WorkbenchError as problem:  # the verdict stands, whoever is told of it
            sys.stderr.write(f"{problem}\n")
    return told.code


async def ran(evals: Evals, asked: Asked) -> Told:
    """What came of the experiment, or what the gate says then. Raises `WorkbenchError` for a bad call."""
    draft = asked.draft
    if asked.gate:
        gate = await _gate_asked(evals, draft)
        started = await evals.run_gate(draft.agent, draft.variants[0])
    else:
        gate, estimate = None, await evals.estimate(draft)
        sys.stderr.write(f"{estimate.cells} tries; {estimate.reach}.\n" + "".join(f"{one}\n" for one in estimate.notes))
        started = await evals.start(draft)
    sys.stderr.write(f"Begun: {started.title}, /experiments/{started.id}\n")
    detail = await _over(evals, started.id)
    if gate is not None:
        gate = await evals.gate(draft.agent, draft.variants[0])
    return told_of(detail, gate)


async def _gate_asked(evals: Evals, draft: ExperimentRequest) -> GateReply:
    plain = ExperimentRequest(dataset=draft.dataset, agent=draft.agent, variants=draft.variants)
    if len(draft.variants) != 1 or draft != plain:
        raise WorkbenchError(GATE_SAYS)
    gate = await evals.gate(draft.agent, draft.variants[0])
    if gate.dataset != draft.dataset:
        raise WorkbenchError(OTHER_GATE.format(agent=draft.agent, gate=gate.dataset, dataset=draft.dataset))
    return gate


async def _over(evals: Evals, experiment_id: str) -> ExperimentDetail:
    """The experiment once nothing of it goes on; what paused after its pilot goes on by itself, up to its ceiling."""
    try:
        while (detail := await evals.seen(experiment_id)).status not in _OVER or _is_pilot(detail):
            if _is_pilot(detail):
                sys.stderr.write(f"{detail.why.removesuffix('Resume to go on.').strip()}\n")
                await evals.tell(experiment_id, "resume")
            await asyncio.sleep(LOOK_SECONDS)
    except asyncio.CancelledError:
        sys.stderr.write("Stopped. What has ended is kept; it can be resumed on its page.\n")
        await evals.tell(experiment_id, "pause")
        raise
    return detail


def _is_pilot(detail: ExperimentDetail) -> bool:
    """Whether it waits after its first cases, which told what the whole costs."""
    return detail.pilot and detail.status == "paused"


def told_of(detail: ExperimentDetail, gate: GateReply | None = None) -> Told:
    """The verdict in words, and the exit code that goes with it."""
    words = [f"{detail.title}: {detail.status}", *([detail.why] if detail.why else []), *map(_column, detail.columns)]
    words += [f"{_named(one.variant, one.model)} against {one.against}: {one.words}" for one in detail.verdicts]
    words += [detail.noise] if detail.noise else []
    code = _code(detail)
    if gate is not None:
        outcome = gate.outcome
        code = FINE if outcome is None else _GATE_CODES[outcome.state]
        lines = outcome.lines if outcome else ()
        words += [f"Gate: {line.state}: {line.words}" for line in lines] or ["Gate: this variant was active before."]
    return Told(code=code, words=(*words, _ENDS[code]), experiment=detail, gate=gate)


def _code(detail: ExperimentDetail) -> int:
    said = [one.verdict for one in detail.verdicts]
    if detail.status != "completed" or (not said and any(map(_is_spoilt, detail.columns))):
        return CANNOT_TELL
    return FAILED if "worse" in said else CANNOT_TELL if "cannot tell" in said else FINE


def _is_spoilt(column: ColumnReply) -> bool:
    """Whether too much of it was not scored to say anything."""
    unscored = column.errors + column.not_scored + column.skipped + column.pending
    return unscored > MOST_ERRORS * (unscored + column.passed + column.failed)


def _column(column: ColumnReply) -> str:
    scored, low, high = column.passed + column.failed, column.low, column.high
    between = "" if low is None or high is None else f" ({low:.0%} to {high:.0%})"
    kinds = {"errors": column.errors, "not scored": column.not_scored, "skipped": column.skipped}
    more = "".join(f", {count} {kind}" for kind, count in kinds.items() if count)
    took = "" if column.p50_ms is None else f", median {column.p50_ms / 1000:.2f} s"
    cost = cost_words(column.cost_usd + column.judge_usd, unpriced=column.unpriced)
    return f"{column.words}: {column.passed} of {scored} passed{between}{more}, {cost}{took}"


def _named(variant: int, model: str) -> str:
    return f"variant {variant}" + (f" · {model}" if model else "")


def _try(path: Path) -> None:
    """Raises `StorageError` where no results can be written; what was in the file stays."""
    is_new = not path.exists()
    _write(path, b"", "ab")
    if is_new:
        path.unlink(missing_ok=True)


def _write(path: Path, content: bytes, mode: Literal["wb", "ab"] = "wb") -> None:
    try:
        with path.open(mode) as file:
            file.write(content)
    except OSError as error:
        why = f"The results cannot be written to {path}: {error.strerror}."
        raise StorageError(f"{why} Make its folder, or name another file with --junit.") from error


@dataclass(frozen=True)
class Here:
    """In this process."""

    workbench: Workbench

    async def estimate(self, draft: ExperimentRequest) -> Estimate:
        return (await experiments.estimate_experiment(draft, self.workbench, TERMINAL)).data

    async def start(self, draft: ExperimentRequest) -> ExperimentReply:
        return (await experiments.start_experiment(draft, self.workbench, TERMINAL)).data

    async def seen(self, experiment_id: str) -> ExperimentDetail:
        return (await experiments.get_experiment(experiment_id, self.workbench, TERMINAL)).data

    async def tell(self, experiment_id: str, what: Which) -> object:
        told = experiments.pause_experiment if what == "pause" else experiments.resume_experiment
        return await told(experiment_id, self.workbench, TERMINAL)

    async def gate(self, agent: str, variant: int) -> GateReply:
        return (await gates.get_gate(agent, self.workbench, TERMINAL, variant)).data

    async def run_gate(self, agent: str, variant: int) -> ExperimentReply:
        return (await gates.run_gate(agent, variant, self.workbench, TERMINAL)).data

    async def junit(self, experiment_id: str) -> bytes:
        return bytes((await experiments.export_experiment(experiment_id, self.workbench, TERMINAL, "junit")).body)


@dataclass(frozen=True)
class There:
    """In the app that is up, through its API."""

    app: Announcement

    async def estimate(self, draft: ExperimentRequest) -> Estimate:
        return await self._asked(Estimate, "/experiments/estimate", draft)

    async def start(self, draft: ExperimentRequest) -> ExperimentReply:
        return await self._asked(ExperimentReply, "/experiments", draft)

    async def seen(self, experiment_id: str) -> ExperimentDetail:
        return await self._asked(ExperimentDetail, f"/experiments/{experiment_id}")

    async def tell(self, experiment_id: str, what: Which) -> object:
        return await self._asked(ExperimentReply, f"/experiments/{experiment_id}/{what}", method="POST")

    async def gate(self, agent: str, variant: int) -> GateReply:
        return await self._asked(GateReply, f"/agents/{quote(agent, safe='')}/gate?variant={variant}")

    async def run_gate(self, agent: str, variant: int) -> ExperimentReply:
        address = f"/agents/{quote(agent, safe='')}/variants/{variant}/gate"
        return await self._asked(ExperimentReply, address, method="POST")

    async def junit(self, experiment_id: str) -> bytes:
        return await self._bytes(f"/experiments/{experiment_id}/export?format=junit")

    async def _asked(
        self,
        kind: type[R],
        path: str,
        draft: ExperimentRequest | None = None,
        *,
        method: Literal["GET", "POST"] = "GET",
    ) -> R:
        answer = await self._bytes(path, draft, method=method)
        return Envelope[kind].model_validate_json(answer).data  # type: ignore[valid-type]

    async def _bytes(self, path: str, draft: ExperimentRequest | None = None, *, method: str = "GET") -> bytes:
        body = draft.model_dump(mode="json") if draft else None
        sent = "POST" if draft else method
        from_here = {STARTED_FROM: "terminal"}
        answer, _ = await asyncio.to_thread(
            ask, self.app, path, method=sent, body=body, seconds=ANSWER_SECONDS, **from_here
        )
        return answer
