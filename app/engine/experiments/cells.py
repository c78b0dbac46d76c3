"""One try of a case: an ordinary run for each message of its user, in a hidden session, and how that ended.

Each run is noted in its cell before it begins, so that no kill leaves one of which nobody knows.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from app.domain.errors import Conflict, NotFound, StorageError, WorkbenchError
from app.domain.evals.cases import Case
from app.domain.evals.endings import ANSWERED, STOPPED, Ending, ending_of
from app.domain.evals.evidence import Evidence
from app.domain.evals.experiments import Cell, CellKey, Experiment, cell_id
from app.domain.events import Entry, ModelFailed, ModelReturned, PauseRequested, RunStarted
from app.domain.provenance import Trigger
from app.domain.trace import conversation, finished, totals
from app.domain.values import new_id
from app.engine.experiments.collecting import Collecting
from app.engine.experiments.limiting import Slot
from app.engine.experiments.recorded import ASKED, Acting, CaseRecord, unasked
from app.engine.experiments.simulated import SimulatedUsers
from app.engine.run.run import Run
from app.engine.sessions.chat import Chat

log = logging.getLogger(__name__)

BUSY = "The provider said that it had too much to do, and this experiment does not wait."
GONE = "The run that this case was made from is gone, so there is nothing to score."
NOTHING_FROM = "This case was not made from a run, so there is none to score."
HEAD = 200  # characters
KEPT_RECORDS = 64
_CANCELLED = Ending(end="skipped", failure="cancelled", why=STOPPED)


class CellStore(Protocol):
    """The cells of all experiments."""

    def find(self, key: str) -> Cell | None: ...

    def of(self, experiment_id: str) -> Sequence[Cell]:
        """Those that were begun, in no order; for many in a thread."""
        ...

    def revision(self, experiment_id: str) -> int:
        """Goes up with every change of a cell of the experiment."""
        ...

    async def save(self, value: Cell) -> Cell:
        """Insert or replace."""
        ...


@dataclass
class Tried:
    """A try as it goes on, and what came of it."""

    experiment: Experiment
    case: Case
    cell: Cell
    slot: Slot
    record: CaseRecord
    stopped: Callable[[], bool] = lambda: False
    """Whether nothing of it is to go on by now."""
    traces: tuple[Sequence[Entry], ...] = ()
    below_usd: float = 0.0
    below_unpriced: bool = False
    busy: bool = False
    ending: Ending = ANSWERED

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.case, self.traces, self.below_usd, self.below_unpriced)

    @property
    def trigger(self) -> Trigger:
        """As whom its runs begin: nobody is at a page to be asked, and a key's rights stay its own."""
        by = self.experiment.by
        return by if by.kind == "api_key" else Trigger(kind="job", name=self.experiment.title, key=by.key)

    def told(self, evidence: Evidence) -> Cell:
        """The cell with what is known of its runs."""
        record = self.record
        return self.cell.model_copy(
            update={
                "end": self.ending.end,
                "failure": self.ending.failure,
                "why": self.ending.why,
                "answer": evidence.answer[:HEAD],
                "ms": evidence.ms,
                "unpriced": evidence.unpriced,
                "recorded": len(record.answered),
                "called": len(record.called),
            }
        )


@dataclass
class Trying:
    chat: Chat
    cells: CellStore
    collecting: Collecting

    def __post_init__(self) -> None:
        self._runs = self.chat.runs
        self._users = SimulatedUsers(self._runs, self.chat.sessions)
        self._records: OrderedDict[str, tuple[Entry, ...]] = OrderedDict()
        """By sha256: those that were read last, as each case is tried several times."""

    async def tried(
        self, experiment: Experiment, case: Case, cell: Cell, slot: Slot, *, stopped: Callable[[], bool]
    ) -> Tried:
        """What came of the case's runs, none of which is scored yet.

        `cell` says what was tried before. Raises `StorageError` where nothing can be stored any more.
        """
        plan = experiment.plan
        if plan.columns[cell.column].as_recorded:
            return await self._as_recorded(experiment, case, cell, slot)
        try:
            record = await self._record_of(case)
        except WorkbenchError as problem:
            ending = Ending(end="error", why=f"The recorded calls of this case cannot be read. {problem}")
            return Tried(experiment, case, cell, slot, CaseRecord((), plan, origin=case.id), ending=ending)
        tried = Tried(experiment, case, cell, slot, CaseRecord(record, plan, origin=case.run_id or case.id), stopped)
        try:
            tried.ending = await self._talk(tried)
        except StorageError:
            raise
        except WorkbenchError as problem:
            tried.ending = Ending(end="error", failure="internal", why=str(problem))
        return tried

    async def _record_of(self, case: Case) -> tuple[Entry, ...]:
        if case.record not in self._records:
            self._records[case.record] = await self.collecting.record_of(case)
            if len(self._records) > KEPT_RECORDS:
                self._records.popitem(last=False)
        return self._records[case.record]

    async def renewed(self, cell: Cell) -> Cell:
        """The cell as it is before another try: what was tried is kept, and ended where it was left."""
        before, cost = (*cell.before, *cell.runs), cell.cost
        if cell.end is None:
            paid = {run_id: await self._given_up(run_id) for run_id in (*before, *cell.spoken)}
            before = tuple(run_id for run_id in before if paid[run_id] is not None)
            cost = sum(one for one in paid.values() if one is not None)
        kept = {"before": before, "spoken": cell.spoken, "cost": cost}
        return await self.cells.save(new_cell(cell.experiment_id, cell.key).model_copy(update=kept))

    def stop(self, cell: Cell) -> None:
        """End what goes on of it."""
        for run_id in (*cell.runs, *cell.spoken):
            if (live := self._runs.live(run_id)) is not None:
                live.stop()

    async def evidence_of(self, cell: Cell, case: Case) -> Evidence | None:
        """What a cell that was answered is scored by; `None` where its runs cannot be read any more."""
        try:
            traces = [tuple((await self._runs.trace(run_id)).entries) for run_id in cell.runs]
        except WorkbenchError:
            return None
        below, unpriced = sum(map(self._below, cell.runs)), any(map(self._is_unpriced_below, cell.runs))
        return Evidence(case, tuple(traces), below, unpriced)

    def _paid(self, run_id: str) -> float:
        """US dollars of the run and of those that it started."""
        row = self._runs.rows.get(run_id)
        return (row.cost if row else 0.0) + self._below(run_id)

    def _below(self, run_id: str) -> float:
        return sum(row.cost for row in self._runs.rows.below(run_id))

    def _is_unpriced_below(self, run_id: str) -> bool:
        return any(row.unpriced for row in self._runs.rows.below(run_id))

    async def _given_up(self, run_id: str) -> float | None:
        """End a run that an app that was closed had left, and store what it cost, with those below it.

        `None` where it had not begun.
        """
        try:
            entries = (await self._runs.trace(run_id)).entries
            if not entries or not isinstance(entries[0].event, RunStarted):
                return None
            if finished(entries) is None:  # of those below it the rows come later
                live = await self._runs.end(run_id, by="app")
                return self._runs.ledger.run_cost(live.budget.account)
            # else the kill came before its row
            await self._runs.interrupted_runs.store(entries)
        except NotFound:
            return None
        except Conflict as problem:
            log.warning("Run %s stays as it was left: %s", run_id, problem)
        return self._paid(run_id)

    async def _as_recorded(self, experiment: Experiment, case: Case, cell: Cell, slot: Slot) -> Tried:
        tried = Tried(experiment, case, cell, slot, CaseRecord((), experiment.plan, origin=case.id))
        if not case.run_id:
            tried.ending = Ending(end="skipped", why=NOTHING_FROM)
            return tried
        try:
            entries = tuple((await self._runs.trace(case.run_id)).entries)
        except WorkbenchError:
            tried.ending = Ending(end="skipped", why=GONE)
            return tried
        tried.traces, tried.ending = (entries,), ending_of(entries)
        tried.cell = cell.model_copy(update={"runs": (case.run_id,)})
        return tried

    async def _talk(self, tried: Tried) -> Ending:
        said: str | None = tried.case.first_message
        while said is not None:
            ending = await self._turn(tried, said)
            if ending.end is not None:
                return ending
            said = await self._next(tried)
            if said is not None and tried.stopped():
                return _CANCELLED
        return tried.ending

    async def _turn(self, tried: Tried, text: str) -> Ending:
        """One message and its answer."""
        first, run_id = not tried.cell.runs, new_id()
        await (self._opened(tried, run_id) if first else self._noted(tried, run_id))
        acting = Acting(tried.record)
        live = await self.chat.send(
            *(tried.cell.session_id, text, tried.case.attachments if first else ()),
            trigger=tried.trigger,
            purpose="experiment",
            run_id=run_id,
            begun_as=lambda started: _begun(started, tried, first=first),
            work=acting,
        )
        if tried.stopped():  # it was not there yet to be stopped
            live.stop()
        await self._watched(live, tried, acting)
        entries = tuple(live.entries)
        cost = self._runs.ledger.run_cost(live.budget.account)
        tried.traces = (*tried.traces, entries)
        tried.below_usd += cost - totals(entries).cost
        tried.below_unpriced = tried.below_unpriced or self._is_unpriced_below(run_id)
        tried.cell = tried.cell.model_copy(update={"cost": tried.cell.cost + cost})
        if tried.record.missing:
            return Ending(end="error", why=tried.record.missing)
        return Ending(end="error", failure="rate_limit", why=BUSY) if tried.busy else ending_of(entries)

    async def _opened(self, tried: Tried, run_id: str) -> None:
        """The session, while its first run is noted: neither waits for the other to be on the disk."""
        plan, session_id = tried.experiment.plan, new_id()
        column = plan.columns[tried.cell.column]
        tried.cell = tried.cell.model_copy(update={"session_id": session_id})
        session = self.chat.new_session(
            plan.agent_of(column),
            column.variant,
            model=column.model or None,
            variables=tried.case.variables,
            behind=tried.experiment.id,
            tried=column.tried,
            session_id=session_id,
        )
        try:
            await asyncio.gather(session, self._noted(tried, run_id))
        except WorkbenchError:
            tried.cell = tried.cell.model_copy(update={"runs": ()})  # none begins
            raise

    async def _noted(self, tried: Tried, run_id: str) -> None:
        tried.cell = tried.cell.model_copy(update={"runs": (*tried.cell.runs, run_id)})
        await self.cells.save(tried.cell)

    async def _watched(self, live: Run, tried: Tried, acting: Acting) -> None:
        """Tells the limiter how the provider answers, and ends what would wait for a person or must not wait at all."""
        async for entry in live.follow():
            match entry.event:
                case ModelReturned():
                    tried.slot.clean()
                case ModelFailed(failure="rate_limit", retry_at=retry_at):
                    tried.slot.busy()
                    if retry_at is not None and not tried.experiment.plan.wait:
                        tried.busy = True
                        live.stop()
                case PauseRequested(name=name, question=question) if acting.tools is not None:
                    acting.tools.miss(ASKED.format(name=name or "A tool", question=question))
                case _:
                    pass
        await live.ended()

    async def _next(self, tried: Tried) -> str | None:
        """What the user says next; `None` where they have said all."""
        case, turns = tried.case, len(tried.traces)
        if case.user is None:
            return case.turns[turns - 1] if turns <= len(case.turns) else None
        if turns >= case.user.most_turns:
            return None
        run_id = new_id()
        spoken = (*tried.cell.spoken, run_id)
        tried.cell = await self.cells.save(tried.cell.model_copy(update={"spoken": spoken}))
        told = conversation(tried.traces[-1])
        speaks = partial(self._users.says, case.user, told, behind=tried.experiment.id, stopped=tried.stopped)
        said = await speaks(trigger=tried.trigger, run_id=run_id)
        tried.cell = tried.cell.model_copy(update={"cost": tried.cell.cost + said.cost})
        if said.problem:
            tried.ending = _CANCELLED if tried.stopped() else Ending(end="error", why=said.problem)
        return said.text or None


def new_cell(experiment_id: str, key: CellKey) -> Cell:
    return Cell(
        id=cell_id(experiment_id, key),
        experiment_id=experiment_id,
        case_id=key.case_id,
        column=key.column,
        repeat=key.repeat,
    )


def _begun(started: RunStarted, tried: Tried, *, first: bool) -> RunStarted:
    changes: dict[str, object] = {"tools": unasked(started.tools, tried.experiment.plan.live)}
    if first:
        changes |= {"history": tried.case.history, "files": {**tried.case.files, **started.files}}
    return started.model_copy(update=changes)
