"""Cells that are tried on other machines: each is handed out once, and what comes back is held against what was asked.

Nothing that a machine says decides more than its own cell: its runs get ids of ours, stand in a hidden session of ours,
and end as their traces say. Whoever runs a cluster can answer for the models all the same: use one of your own.
"""

import asyncio
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Protocol

from app.domain.agents import Agent, Limits, WorkflowBehaviour
from app.domain.errors import NotFound, StorageError, WorkbenchError
from app.domain.evals.cases import Case
from app.domain.evals.elsewhere import CellOrder, CellReturn, sha256
from app.domain.evals.endings import STOPPED, Ending, ending_of
from app.domain.evals.evidence import Evidence
from app.domain.evals.experiments import Cell, Experiment, Plan
from app.domain.events import Entry, RunStarted
from app.domain.provenance import AgentRef, Purpose, Trigger
from app.domain.trace import limit_of, totals
from app.domain.values import new_id
from app.engine.experiments.cells import Tried, Trying
from app.engine.experiments.limiting import Slot
from app.engine.experiments.planning import Planning
from app.engine.experiments.recorded import CaseRecord
from app.engine.loop.granting import allowed
from app.engine.run.limits import dollars

SHARE = "The share of the ceiling that this cell had, {share}, was used up."
SPENT = "The money of the day or the month is used up. Resume when the next one begins, or raise the ceiling."
LEAST = 1e-6
"""US dollars: no share is none at all, which would be no ceiling."""
STRANGE = "What a worker gave back for this cell is not what it was asked for: {what}. Nothing of it was taken in."
_DIGEST = re.compile(rb"[0-9a-f]{64}")


class Workers(Protocol):
    """Machines that try cells."""

    async def tried(self, order: bytes, contents: Mapping[str, bytes]) -> tuple[bytes, Sequence[bytes]]:
        """What one of them gave back: a `CellReturn` as JSON, and bundles. What a lost one had is tried by another.

        `contents` are the artifacts by their sha256. Raises `WorkbenchError` where none of them could, `Unreachable`
        where none can any more.
        """
        ...

    async def close(self) -> None: ...


class Unreachable(WorkbenchError):
    """There are no workers to hand cells to."""


class TakesOver(Protocol):
    async def take_over(
        self, source: bytes, run_id: str, begun_as: Callable[[RunStarted], RunStarted]
    ) -> tuple[Entry, ...]:
        """The run of a bundle, stored as one of our own under that id. Raises `WorkbenchError`."""
        ...


@dataclass(frozen=True)
class Elsewhere:
    """How cells are tried on other machines, as the workbench plugs it together."""

    connect: Callable[[str], Awaitable[Workers]]
    """To those at that address; raises `Unreachable`."""
    runs_here: TakesOver
    trying: Trying
    version: str
    """Of the app."""

    def handing(self, workers: Workers, planning: Planning, spent: Callable[[], float]) -> "Handing":
        """What tries the cells of one experiment."""
        here = self.trying
        return Handing(here.chat, here.cells, here.collecting, planning, workers, self.runs_here, self.version, spent)


@dataclass
class HandedOut(Tried):
    returned: Cell | None = None

    def told(self, evidence: Evidence) -> Cell:
        cell, returned = super().told(evidence), self.returned
        if returned is None:
            return cell
        return cell.model_copy(update={"recorded": returned.recorded, "called": returned.called})


@dataclass
class Handing(Trying):
    """Tries the cells of one experiment, as `Trying` does, elsewhere."""

    planning: Planning
    workers: Workers
    runs_here: TakesOver
    version: str
    spent: Callable[[], float]
    """US dollars of the experiment so far."""
    held: dict[str, float] = field(default_factory=dict)
    """By cell that is out: its share of the ceiling."""
    out: dict[str, "asyncio.Task[tuple[bytes, Sequence[bytes]]]"] = field(default_factory=dict)

    async def tried(
        self, experiment: Experiment, case: Case, cell: Cell, slot: Slot, *, stopped: Callable[[], bool]
    ) -> Tried:
        if experiment.plan.columns[cell.column].as_recorded or self._has_nodes(experiment.plan, cell.column):
            return await super().tried(experiment, case, cell, slot, stopped=stopped)
        tried = HandedOut(experiment, case, cell, slot, CaseRecord((), experiment.plan, origin=case.id), stopped)
        share = self._share(experiment)
        if share is None:
            tried.ending = Ending(end="skipped", failure="limit", why=SPENT, day_is_spent=True)
            return tried
        self.held[cell.id] = share
        try:
            tried.ending = await self._handed(tried, share)
        except Unreachable as problem:
            tried.ending = Ending(end="skipped", why=str(problem), day_is_spent=True)
        except StorageError:
            raise
        except WorkbenchError as problem:
            tried.ending = Ending(end="error", failure="internal", why=str(problem))
        finally:
            del self.held[cell.id]
        return tried

    def _has_nodes(self, plan: Plan, column: int) -> bool:
        """Whether it is a workflow, whose nodes ask agents that are here alone."""
        chosen = plan.columns[column]
        behaviour = chosen.tried or self.chat.agents.get(plan.agent_of(chosen)).variant(chosen.variant).behaviour
        return isinstance(behaviour, WorkflowBehaviour)

    def stop(self, cell: Cell) -> None:
        super().stop(cell)
        if (task := self.out.get(cell.id)) is not None:
            task.cancel()

    def _share(self, experiment: Experiment) -> float | None:
        """US dollars that a cell may cost, so that all that are out together pass no ceiling.

        0 where there is no ceiling, `None` where the money of the day or the month is used up.
        """
        plan, ledger = experiment.plan, self._runs.ledger
        of_all = ((ledger.day_ceiling(), ledger.day_cost()), (ledger.month_ceiling(), ledger.month_cost()))
        left = [ceiling - spent for ceiling, spent in of_all if ceiling]
        if min(left, default=1.0) <= 0:
            return None
        if plan.ceiling_usd:
            left.append(plan.ceiling_usd - self.spent())
        if not left:
            return 0.0
        free = max(1, plan.concurrency - len(self.held))
        return max(min(left) - sum(self.held.values()), LEAST) / free

    async def _handed(self, tried: HandedOut, share: float) -> Ending:
        order = self._order(tried, share)
        written = order.model_dump_json().encode()
        contents = await self._contents(tried.case)
        name = (await self.cells.save(tried.cell)).id  # what is not there cannot be stopped
        if tried.stopped():
            return Ending(end="skipped", failure="cancelled", why=STOPPED)
        task = self.out[name] = asyncio.ensure_future(self.workers.tried(written, contents))
        try:
            await asyncio.wait([task])
        finally:
            del self.out[name]
            task.cancel()
        if task.cancelled():
            return Ending(end="skipped", failure="cancelled", why=STOPPED)
        said, bundles = task.result()
        returned = _checked(order, written, said, bundles)
        if returned.cell is None:
            return Ending(end="error", failure="internal", why=returned.problem or "The worker gave no reason.")
        await self._take_over(tried, returned, returned.cell, bundles)
        return _ending(tried, returned.cell, share)

    def _order(self, tried: Tried, share: float) -> CellOrder:
        experiment, cell = tried.experiment, tried.cell
        plan, column = experiment.plan, experiment.plan.columns[cell.column]
        agent = _alone(self.chat.agents.get(plan.agent_of(column)), column.variant, share)
        alone = column.model_copy(update={"agent_id": "", "agent_slug": ""})
        changes = {"columns": (alone,), "case_ids": (tried.case.id,), "scorers": (), "repeats": 1, "tool_digests": {}}
        asked = experiment.model_copy(
            update={"plan": plan.model_copy(update=changes), "by": Trigger(kind="job", name=experiment.title)}
        )
        tools = allowed(self.planning.toolbox, agent.active_variant.behaviour)
        return CellOrder(
            app=self.version,
            secret=secrets.token_urlsafe(32),
            experiment=asked,
            case=tried.case,
            agent=agent,
            tools={tool.spec.name: tool.spec.digest for tool in tools},
            repeat=cell.repeat,
        )

    async def _contents(self, case: Case) -> dict[str, bytes]:
        """All artifacts that the case and its record name."""
        found: dict[str, bytes] = {}
        wanted = set(_DIGEST.findall(case.model_dump_json().encode()))
        while wanted:
            digest = wanted.pop().decode()
            try:
                found[digest] = content = await self.collecting.artifacts.get(digest)
            except NotFound:  # it only looks like one
                continue
            if digest == case.record:
                wanted |= {one for one in _DIGEST.findall(content) if one.decode() not in found}
        return found

    async def _take_over(self, tried: HandedOut, returned: CellReturn, cell: Cell, bundles: Sequence[bytes]) -> None:
        """Its runs become ours; they are noted before they are stored."""
        plan = tried.experiment.plan
        column = plan.columns[tried.cell.column]
        session = await self.chat.new_session(
            plan.agent_of(column),
            column.variant,
            model=column.model or None,
            variables=tried.case.variables,
            behind=tried.experiment.id,
        )
        ids = [new_id() for _ in bundles]
        runs, spoken = tuple(ids[: len(cell.runs)]), tuple(ids[len(cell.runs) :])
        changes = {"session_id": session.id, "runs": runs, "spoken": (*tried.cell.spoken, *spoken)}
        tried.cell = await self.cells.save(tried.cell.model_copy(update=changes | {"worker": returned.worker[:200]}))
        await self.chat.sessions.change(session.id, lambda newest: newest.model_copy(update={"runs": runs}))
        agent = self.chat.agents.get(session.agent_id)
        ref = AgentRef(id=agent.id, slug=agent.slug, name=agent.name, variant=column.variant)
        cost = 0.0
        for run_id, source in zip(ids, bundles, strict=True):
            purpose: Purpose = "experiment" if run_id in runs else "simulated_user"
            begun_as = _as_ours(session.id, ref, tried.trigger, purpose)
            entries = await self.runs_here.take_over(source, run_id, begun_as)
            self._runs.ledger.forget()
            cost += totals(entries).cost
            if run_id in runs:
                tried.traces = (*tried.traces, entries)
        told = max(cost, cell.cost) if isfinite(cell.cost) else cost  # agents below it are in what it says alone
        tried.below_usd, tried.below_unpriced, tried.returned = told - cost, cell.unpriced, cell
        tried.cell = tried.cell.model_copy(update={"cost": tried.cell.cost + told})


def _ending(tried: Tried, cell: Cell, share: float) -> Ending:
    """As the trace of its last run says; of what is no answer to score the worker knows more."""
    if not tried.traces:
        return Ending(end="error", failure="internal", why=cell.why or "It came back without a run.")
    limit = limit_of(tried.traces[-1])
    if share and limit is not None and limit.limit == "session_cost" and limit.allowed <= share:
        return Ending(end="skipped", failure="limit", why=SHARE.format(share=dollars(share)))
    if cell.end in ("error", "skipped"):
        return Ending(end=cell.end, failure=cell.failure, why=cell.why)
    return ending_of(tried.traces[-1]).model_copy(update={"day_is_spent": False})


def _alone(agent: Agent, number: int, share: float) -> Agent:
    """The agent with that variant alone, whose session may cost that much."""
    variant = agent.variant(number)
    behaviour, limits = variant.behaviour, variant.behaviour.limits
    most = min(filter(None, (share, limits.session_cost)), default=0.0)
    limited: Limits = limits.model_copy(update={"session_cost": most})
    own = variant.model_copy(update={"behaviour": behaviour.model_copy(update={"limits": limited})})
    return agent.model_copy(update={"variants": (own,), "active": number, "archived": (), "is_public": False})


def _as_ours(
    session_id: str, agent: AgentRef, trigger: Trigger, purpose: Purpose
) -> Callable[[RunStarted], RunStarted]:
    changes = {"session_id": session_id, "agent": agent, "trigger": trigger, "purpose": purpose}
    return lambda started: started.model_copy(update=changes)


def _checked(order: CellOrder, written: bytes, said: bytes, bundles: Sequence[bytes]) -> CellReturn:
    """What was given back for that order. Raises `WorkbenchError` for anything else."""
    try:
        returned = CellReturn.model_validate_json(said)
    except ValueError as error:
        raise WorkbenchError(STRANGE.format(what="it cannot be read")) from error
    cell = returned.cell
    if not hmac.compare_digest(returned.secret.encode(), order.secret.encode()):
        raise WorkbenchError(STRANGE.format(what="it names another secret"))
    if returned.order != sha256(written):
        raise WorkbenchError(STRANGE.format(what="it answers another order"))
    if tuple(map(sha256, bundles)) != returned.bundles:
        raise WorkbenchError(STRANGE.format(what="its runs are not what their hashes say"))
    if cell is not None and (cell.case_id, cell.experiment_id) != (order.case.id, order.experiment.id):
        raise WorkbenchError(STRANGE.format(what="it is another cell"))
    if cell is not None and len(cell.runs) + len(cell.spoken) != len(bundles):
        raise WorkbenchError(STRANGE.format(what="it is not whole"))
    return returned
