"""Goes back to a step of a run and runs on from there, in a new run; and replays runs without asking anybody."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.branches import FIRST
from app.domain.edits import ActedOut
from app.domain.errors import Conflict, WorkbenchError
from app.domain.events import Entry, Forked, RunStarted, ToolReturned
from app.domain.forks.fork_edits import place as edited_place
from app.domain.forks.fork_prefix import Prefix, prefix_for
from app.domain.forks.forks import TASK_TOOLS, CallAgain, ForkCheck, ForkPlan
from app.domain.forks.replays import ReplayReport
from app.domain.provenance import WORKING_COPY, Trigger
from app.domain.sessions import Session
from app.domain.tools import GrantedTool, canonical_name
from app.domain.trace import AlignedStep, Edits, align, edits_of, files_after, origins_of, trajectory
from app.domain.trace.fork_view import ForkView, fork_of, fork_view, reused_steps
from app.domain.values import new_id, now
from app.engine.forks.allowance import Allowance
from app.engine.forks.fork_beginnings import Beginnings
from app.engine.forks.replay import Replayer
from app.engine.ports import AgentStore, SessionStore, Toolbox
from app.engine.run.run import Run
from app.engine.run.tools_since import ToolsSince
from app.engine.runs.recorded_models import given_whole
from app.engine.runs.recorded_tools import LIVE, sources
from app.engine.runs.runs import Runs

DAMAGED = "Parts of this run cannot be read, so nothing can run on from it. Send its message again instead."
NO_REPLAY = (
    "This is the run of a workflow. Its agents have runs of their own, which can be replayed; it is not as a whole."
)
PROMPT_FOR_THIS_RUN = (
    "The changed system prompt holds for this run only. Save it as a variant of the agent to go on talking with it."
)
NO_TASK_AGAIN = (
    "Tasks that the run handed over are not begun again: spawn_task and join_task answer as they did, and a task that "
    "was not handed over then is refused. Let them be called for real to begin tasks."
)


@dataclass(frozen=True)
class _Copied:
    """What a fork copies, and what there is to say about it."""

    prefix: Prefix
    steps: int
    """Those that are whole."""
    calls: int
    files: tuple[str, ...]


@dataclass(frozen=True)
class _Draft:
    """A fork that has not begun."""

    original: RunStarted
    plan: ForkPlan
    started: RunStarted
    """How it will say that it began; its session is not there yet."""
    forked: Forked
    copied: _Copied

    @property
    def prefix(self) -> Prefix:
        return self.copied.prefix


@dataclass
class Forks:
    agents: AgentStore
    sessions: SessionStore
    runs: Runs
    toolbox: Toolbox

    def __post_init__(self) -> None:
        self._allowance = Allowance(self.agents, self.sessions, self.toolbox, self.runs.rows)
        runs = self.runs
        self._begins = Beginnings(self.agents, self.sessions, runs.models, self.toolbox, runs.starting.loading)

    async def check(self, run_id: str, plan: ForkPlan) -> ForkCheck:
        """What the fork would reuse, call and change; nothing runs. Raises what `start` does."""
        draft = await self._draft(run_id, plan, Trigger(kind="page"))
        prefix, copied = draft.prefix, draft.copied
        since = ToolsSince.of(draft.started, self.toolbox)
        live, unasked = self._live(draft), {tool.spec.name for tool in draft.started.tools if tool.policy == "auto"}
        return ForkCheck(
            seq=prefix.seq,
            moved=prefix.moved,
            can_join=self._joinable(run_id, draft.original) is not None,
            reused_steps=copied.steps,
            reused_calls=copied.calls,
            again=tuple(
                CallAgain(
                    call_id=call.call_id, name=call.name, arguments=call.arguments, asked=call.name not in unasked
                )
                for call in prefix.again
            ),
            live=tuple(tool.spec.name for tool in live),
            unasked=tuple(tool.spec.name for tool in live if tool.spec.name in unasked),
            side_effects=tuple(tool.spec.name for tool in live if self._has_side_effects(tool)),
            files=copied.files,
            notes=(*self._notes(draft), *since.notes),
        )

    async def start(self, run_id: str, plan: ForkPlan, *, trigger: Trigger) -> Run:
        """Copy the run up to the point and run on; returns when all that is copied is on disk.

        In a new session, or where the plan says so and that can be, as a branch of the run's own. Raises `NotFound` for
        a run, variant or model there is not, `Conflict` for a damaged trace or while a run of that session goes on,
        `WorkbenchError` for a plan that does not fit the run, `StorageError`; then nothing has begun.
        """
        return await self.runs.unbroken.or_undone(self._begun(run_id, plan, trigger))

    async def _begun(self, run_id: str, plan: ForkPlan, trigger: Trigger) -> Run:
        draft = await self._draft(run_id, plan, trigger)
        joined = self._joinable(run_id, draft.original) if plan.join else None
        if joined is None:
            return await self._run_in(await self._new_session(run_id, draft), draft)
        async with self.runs.beginning(joined.id):
            await self.runs.check_idle(joined.id)
            path = self.runs.branches(joined).up_to(run_id)[:-1]
            return await self._run_in(joined, draft, path)

    def _joinable(self, run_id: str, original: RunStarted) -> Session | None:
        """The session of a run that has ended, where that is listed and the run one of its turns."""
        session = self._begins.session_of(original)
        if session is None or session.deleted_at or self.runs.live(run_id):
            return None
        if session.comparison or session.parent or session.tried is not None:
            return None
        return session if run_id in self.runs.branches(session).follows else None

    async def _run_in(self, session: Session, draft: _Draft, path: tuple[str, ...] | None = None) -> Run:
        """Begin the fork behind `path` of the session, or as the next turn of one that was made for it."""
        before = session.runs if path is None else path
        started = draft.started.model_copy(
            update={"session_id": session.id, "follows": before[-1] if before else FIRST}
        )
        first = draft.prefix.entries[0].model_copy(update={"event": started})
        chosen = {} if path is None else draft.plan.chosen

        async def join(live: Run) -> None:
            changes = {"runs": (*before, live.run_id), "updated_at": now(), **chosen}
            await self.sessions.change(session.id, lambda newest: newest.model_copy(update=changes))

        try:
            return await self.runs.fork((first, *draft.prefix.entries[1:]), started, draft.forked, join=join)
        except BaseException:
            if path is None:
                await self.sessions.change(session.id, lambda one: one.model_copy(update={"deleted_at": now()}))
            raise

    async def replay(self, run_id: str) -> ReplayReport:
        """Put the run's recorded answers and results through the engine once more; costs nothing, changes nothing.

        Raises `NotFound`, `Conflict` for a damaged trace, a run that goes on, or one of a workflow.
        """
        if self.runs.live(run_id) is not None:
            raise Conflict("This run is still going on. Replay it when it has ended.")
        entries = await self._entries(run_id)
        if _beginning(entries).workflow is not None:
            raise Conflict(NO_REPLAY)
        runs = self.runs
        return await Replayer(runs.models, self.toolbox, runs.artifacts, runs.rows).replay(entries, _beginning(entries))

    async def compare(self, run_id: str) -> ForkView | None:
        """The fork beside the run it comes from, as far as that is there; `None` for a run that is no fork."""
        entries = await self._entries(run_id)
        if (found := fork_of(entries)) is None:
            return None
        return await asyncio.to_thread(fork_view, entries, tuple(await self._original(found[1].run_id)))

    async def beside(self, first: str, second: str) -> list[AlignedStep]:
        """The steps of two runs in rows, so that as little as possible differs. Raises `NotFound`, `StorageError`."""
        traces = [tuple((await self.runs.trace(run_id)).entries) for run_id in (first, second)]
        return await asyncio.to_thread(lambda: align([trajectory(entries) for entries in traces]))

    async def edits(self, entries: Sequence[Entry]) -> Edits:
        """What a person edited of a run, with the old values where the runs that hold them are there."""
        origins = await origins_of(entries, self._original)
        return await asyncio.to_thread(edits_of, tuple(entries), origins)

    async def _original(self, run_id: str) -> Sequence[Entry]:
        """Empty where it cannot be read any more."""
        try:
            return (await self.runs.trace(run_id)).entries
        except WorkbenchError:
            return ()

    async def _entries(self, run_id: str) -> tuple[Entry, ...]:
        trace = await self.runs.trace(run_id)
        entries = tuple(trace.entries)
        if trace.damaged or not entries or entries[-1].seq != len(entries) - 1:
            raise Conflict(DAMAGED)
        _beginning(entries)
        return entries

    async def _draft(self, run_id: str, plan: ForkPlan, trigger: Trigger) -> _Draft:
        entries = await self._entries(run_id)
        original = self._allowance.forked(_beginning(entries), entries)
        plan = plan.model_copy(update={"tools": {canonical_name(name): tool for name, tool in plan.tools.items()}})
        copied = await asyncio.to_thread(_copied, entries, plan)
        prefix = copied.prefix
        started = await self._begins.started(original, prefix, plan, trigger)
        plan = plan.among({tool.spec.name for tool in started.tools}, entries)
        changed = () if started.system == original.system else (0,)
        forked = Forked(
            run_id=run_id,
            seq=prefix.seq,
            prefix_digest=entries[prefix.seq].digest,
            edited=(*changed, *prefix.edited),
            sources=plan.sources,
            acted_out=_acted_out(entries, prefix, plan),
        )
        return _Draft(original, plan, started, forked, copied)

    async def _new_session(self, run_id: str, draft: _Draft) -> Session:
        """A session of the fork's own, set as the fork is, with what was said before the run in the original's."""
        started, origin, began = draft.started, self._begins.session_of(draft.original), now()
        branches = self.runs.branches(origin) if origin is not None else None
        earlier = branches.up_to(run_id)[:-1] if branches is not None and run_id in branches.follows else ()
        row, tries = self.runs.rows.get(run_id), started.agent.variant == WORKING_COPY
        title = (origin.title if origin else "") or (row.request[:60] if row else "") or draft.original.agent.name
        session = Session(
            id=new_id(),
            agent_id=started.agent.id,
            agent_slug=started.agent.slug,
            variant=started.agent.variant or (origin.variant if origin else 1),
            tried=origin.tried if tries and origin else None,
            title=f"{title} (from step {draft.copied.steps + 1})",
            runs=earlier,
            variables=origin.variables if origin else started.variables,
            model=None if started.model == self._begins.own_model(started) else started.model,
            tools_off=origin.tools_off if origin else (),
            created_at=began,
            updated_at=began,
        )
        return await self.sessions.create(session)

    def _live(self, draft: _Draft) -> list[GrantedTool]:
        """The tools that the fork may call for real."""
        after = sources(draft.plan.sources)
        before = {name for name, tool in draft.plan.tools.items() if tool.before == "live"}
        gone = ToolsSince.of(draft.started, self.toolbox).gone
        return [
            tool
            for tool in draft.started.tools
            if tool.policy != "off" and tool.spec.name not in gone
            if tool.spec.name in before or after(tool.spec.name).mode in ("live", "recorded_or_live")
        ]

    def _has_side_effects(self, tool: GrantedTool) -> bool:
        """As it says now, or said then."""
        return tool.spec.side_effects or any(spec.side_effects for spec in self.toolbox.specs((tool.spec.name,)))

    def _notes(self, draft: _Draft) -> list[str]:
        notes = []
        agent = self._begins.agent_of(draft.started)
        if agent is None or agent.deleted_at is not None:
            notes.append("The agent is deleted: the fork goes on as it was then, and its session takes no new message.")
        if draft.plan.system_prompt is not None:
            notes.append(PROMPT_FOR_THIS_RUN)
        if any(draft.plan.sources.get(name, LIVE).mode == "recorded" for name in TASK_TOOLS):
            notes.append(NO_TASK_AGAIN)
        return notes


def _beginning(entries: Sequence[Entry]) -> RunStarted:
    event = entries[0].event if entries else None
    if not isinstance(event, RunStarted):
        raise Conflict(DAMAGED)
    return event


def _copied(entries: Sequence[Entry], plan: ForkPlan) -> _Copied:
    prefix = prefix_for(entries, plan)
    calls = sum(isinstance(entry.event, ToolReturned) for entry in prefix.entries)
    return _Copied(prefix, reused_steps(trajectory(prefix.entries)), calls, tuple(sorted(files_after(prefix.entries))))


def _acted_out(entries: Sequence[Entry], prefix: Prefix, plan: ForkPlan) -> ActedOut | None:
    """What of the run is acted out, since tools before the point are called for real."""
    live = tuple(sorted(name for name, tool in plan.tools.items() if tool.before == "live"))
    if not prefix.rehearsed and not any(call.name in live for call in prefix.again):
        return None
    first = prefix.rehearsed[0].seq if prefix.rehearsed else prefix.seq + 1
    return ActedOut(
        first=first,
        behind=first + len(prefix.rehearsed),
        answers=given_whole(prefix.rehearsed),
        live=live,
        edits=tuple(edit for edit in plan.edits if edited_place(entries, edit) >= first),
    )
