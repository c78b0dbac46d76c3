"""Runs that agents start themselves: a task goes on beside the run that handed it over, which may ask what came of it.

Which run a call starts is in the trace before that begins, so that a call that is made again after a kill starts none
twice. A run that is stopped stops those it started; one that comes to its end leaves them going on.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import inf
from typing import assert_never

from app.domain.agents import Agent, Behaviour, Limits, PromptBehaviour, WorkflowBehaviour, model_of
from app.domain.errors import Conflict, NotFound, ToolError, WorkbenchError
from app.domain.events import ChildFinished, ChildStarted, FinalStatus, LimitReached, RunStarted
from app.domain.provenance import Parent, Trigger
from app.domain.sessions import title_of
from app.domain.streaming import Draft
from app.domain.tools import FIND_TOOLS, GrantedTool, Progress, Task, TaskEnd, canonical_name, stricter
from app.domain.trace import Child, children, finished, run_row, totals
from app.domain.values import new_id
from app.engine.loop.loop import run_agent
from app.engine.loop.unpriced import agreed
from app.engine.run.limits import sentence
from app.engine.run.run import Run
from app.engine.sessions.chat import Chat
from app.engine.sessions.joining import handed_back, watched
from app.engine.sessions.turns import Begun, with_child

log = logging.getLogger(__name__)

MOST_UNFINISHED = 16
"""Children of one run that have not ended."""
MOST_NAMES = 40
LEAST_SECONDS = 1.0
ENDS: dict[str, FinalStatus] = {
    "completed": "completed", "failed": "failed", "cancelled": "cancelled", "limited": "limited"
}  # fmt: skip


MayUse = Callable[[Trigger, Agent], bool]
"""Whether whoever started a run may use the agent."""


def anybody(_trigger: Trigger, _agent: Agent) -> bool:
    """All agents are there for everybody."""
    return True


@dataclass
class Spawning:
    chat: Chat
    may_use: MayUse = anybody

    def __post_init__(self) -> None:
        self._runs = self.chat.runs
        self._runs.starting.spawner = self
        self._runs.on_end.append(self._run_ended)
        self._runs.on_resume.append(self._run_resumed)

    async def spawn(self, run_id: str, call_id: str, task: Task) -> str:
        """Start a run for the task, unless this call has started it before; its id."""
        parent = self._parent(run_id)
        known = next((child.run_id for child in children(parent.entries) if child.call_id == call_id), "")
        if known and await self._is_begun(known):
            return known
        agent = self._checked(parent, task, begun_before=bool(known))
        child_id = known or new_id()
        if not known:
            parent.recorder.record(ChildStarted(call_id=call_id, child_run_id=child_id))
            await parent.recorder.flush()
        try:
            await self._begin(parent, agent, Parent.of(run_id, call_id, above=parent.started.parent), child_id, task)
        except WorkbenchError as error:
            self._note(parent, child_id, "failed")
            raise ToolError(f"The task was not begun. {error}") from error
        return child_id

    async def join(self, run_id: str, call_id: str, task_id: str, progressed: Callable[[Progress], None]) -> TaskEnd:
        """What came of the task once it has ended; one that was left by an app that ended goes on for that."""
        parent = self._parent(run_id)
        child_id = self._meant(parent, task_id)
        if (child := await self._going_on(child_id)) is not None:
            await watched(child, parent, call_id, progressed)
        trace = await self._runs.trace(child_id)
        if (end := finished(trace.entries)) is None:
            raise ToolError(f"The task {child_id} was interrupted before its end. Join it again.")
        self._note(parent, child_id, end.status)
        recent = self._runs.recent(child_id)
        cost = self._runs.ledger.run_cost(recent.budget.account) if recent else totals(trace.entries).cost
        return handed_back(parent, call_id, trace.entries, end, cost=cost)

    def stop(self, run_id: str, call_id: str) -> None:
        """End the runs that this call of that run has started, and that go on or are about to; returns at once."""
        if (parent := self._runs.live(run_id)) is not None:
            for child in _unfinished(parent):
                if child.call_id == call_id:
                    self._runs.unbroken.begin(self._stop(child.run_id))

    def draft(self, task_id: str) -> Draft | None:
        """What the run of the task is just saying in plain words; `None` where it does not go on."""
        live = self._runs.live(task_id)
        return None if live is None or live.started.output_schema is not None else live.draft

    def _checked(self, parent: Run, task: Task, *, begun_before: bool) -> Agent:
        """The agent that gets the task. Raises `ToolError` where it may not be started."""
        started = parent.started
        if not task.text.strip():
            raise ToolError("The task is empty. Say what is to be done.")
        if (depth := started.depth + 1) > started.limits.spawn_depth:
            too_deep = LimitReached(limit="depth", allowed=started.limits.spawn_depth, reached=depth)
            raise ToolError(f"The task was not begun: do it yourself. {sentence(too_deep)}")
        check_wanted(started.tools, task.tools)
        unfinished = sum(child.status is None for child in children(parent.entries))
        if unfinished >= MOST_UNFINISHED and not begun_before and started.workflow is None:  # which counts itself
            raise ToolError(f"{unfinished} tasks of this run have not ended yet. Join one of them before the next.")
        agent = self._agent(parent, task.agent.strip())
        if not begun_before:
            self._check_means(parent, agent)
        return agent

    def _check_means(self, parent: Run, agent: Agent) -> None:
        """Raises `ToolError` where there are no tokens or no money left for the task's first step."""
        started = parent.started
        cost = self._least_cost(started if agent.id == started.agent.id else agent.active_variant.behaviour)
        if (limit := parent.budget.forbids_task(cost)) is not None:
            raise ToolError(
                "The task was not begun: join those that go on, or do what is left yourself. " + sentence(limit)
            )

    def _least_cost(self, asked: RunStarted | Behaviour) -> float:
        """What its first answer may cost, in US dollars; nothing where its model has no price, or is not known yet."""
        match asked:
            case WorkflowBehaviour():
                return 0.0
            case RunStarted() | PromptBehaviour():
                price = self._runs.models.price(asked.model)
                return 0.0 if price is None else asked.parameters.max_tokens * price.output
            case _:
                assert_never(asked)

    def _agent(self, parent: Run, name: str) -> Agent:
        """The agent of that slug or name; without one that of the run itself.

        One that is not there for whoever started the first run above is as one that is not there.
        """
        trigger = parent.budget.account.root.trigger
        agents = [agent for agent in self.chat.agents.all() if self.may_use(trigger, agent)]
        wanted = name.casefold() or parent.started.agent.id
        for agent in agents:
            if wanted in (agent.id, agent.slug, agent.name.casefold()):
                return agent
        known = ", ".join(agent.slug for agent in agents[:MOST_NAMES]) or "none"
        called = name or parent.started.agent.slug
        raise ToolError(f"There is no agent {called!r}: it is not known, or was deleted. Agents: {known}.")

    async def _begin(self, parent: Run, agent: Agent, above: Parent, child_id: str, task: Task) -> None:
        """Start the run; the same agent goes on with the same variant, model and variables."""
        started = parent.started
        same = started.agent if agent.id == started.agent.id else None
        above_it = self.chat.sessions.get(started.session_id)
        tried = above_it.tried if same else None
        own_model = model_of(tried or agent.variant(same.variant).behaviour) if same else None
        session = await self.chat.new_session(
            agent.id,
            same.variant if same and tried is None else task.variant,
            model=started.model if own_model is not None and started.model != own_model else None,
            variables=started.variables if same else task.variables,
            parent=above.run_id,
            behind=above_it.behind,
            tried=tried,
        )
        await self.chat.send(
            session.id,
            task.text,
            trigger=Trigger(
                kind="agent",
                name=started.agent.name,
                key=parent.budget.account.root.trigger.key,
                traceparent=started.trigger.traceparent,
            ),
            purpose=started.purpose,
            run_id=child_id,
            begun_as=_begun_below(parent, above, task),
            work=parent.work_below or run_agent,
        )

    async def _is_begun(self, child_id: str) -> bool:
        """Whether the run is on disk; its row and session know of it then, also where a kill came before that."""
        row = self._runs.rows.get(child_id)
        if row is None:
            try:
                entries = (await self._runs.trace(child_id)).entries
            except NotFound:
                return False
            if not entries or not isinstance(entries[0].event, RunStarted):
                return False
            row = run_row(entries, alive=True)
            await self._runs.rows.save(row if finished(entries) else row.model_copy(update={"status": "running"}))
        title = title_of(row.request)
        await self.chat.sessions.change(row.session_id, lambda session: with_child(session, child_id, title))
        return True

    async def _going_on(self, child_id: str) -> Run | None:
        """The run as it goes on, resumed where it was left; `None` where it has ended."""
        if (live := self._runs.live(child_id)) is not None:
            return live
        try:
            if finished((await self._runs.trace(child_id)).entries) is not None:
                return None
            return await self.chat.resume(child_id, by="agent")
        except WorkbenchError as error:
            if isinstance(error, Conflict) and (live := self._runs.live(child_id)) is not None:
                return live  # somebody else was faster
            raise ToolError(f"The task {child_id} cannot go on. {error}") from error

    def _meant(self, parent: Run, task_id: str) -> str:
        """The run that this one, or an earlier one of its session, has started under that id."""
        wanted = task_id.strip()
        own = [child.run_id for child in children(parent.entries)]
        if wanted in own or self._is_of_session(parent, wanted):
            return wanted
        known = ", ".join(own[-MOST_NAMES:]) or "none yet"
        raise ToolError(f"There is no task {wanted!r}. Tasks that this run has started: {known}.")

    def _is_of_session(self, parent: Run, task_id: str) -> bool:
        row = self._runs.rows.get(task_id)
        above = self._runs.rows.get(row.parent.run_id) if row is not None and row.parent is not None else None
        return above is not None and above.session_id == parent.started.session_id

    def _parent(self, run_id: str) -> Run:
        if (live := self._runs.live(run_id)) is None:
            raise ToolError("The run has ended, so it cannot hand over or await a task any more.")
        return live

    def _note(self, parent: Run, child_id: str, status: FinalStatus) -> None:
        """Tell the run that started it, once, how it ended."""
        child = next((one for one in _unfinished(parent) if one.run_id == child_id), None)
        if child is not None and finished(parent.entries) is None:
            parent.recorder.record(ChildFinished(call_id=child.call_id, child_run_id=child_id, status=status))

    def _run_ended(self, live: Run) -> None:
        end, above = finished(live.entries), live.started.parent
        if end is None:
            return
        if above is not None and (parent := self._runs.live(above.run_id)) is not None:
            self._note(parent, live.run_id, end.status)
        if end.status == "cancelled":
            for child in _unfinished(live):
                self._runs.unbroken.begin(self._stop(child.run_id))

    def _run_resumed(self, live: Run) -> None:
        """Tell it of the children that ended while it was left."""
        for child in _unfinished(live):
            row = self._runs.rows.get(child.run_id)
            if row is not None and row.status in ENDS:
                self._note(live, child.run_id, ENDS[row.status])

    async def _stop(self, child_id: str) -> None:
        """End the run, also one that an earlier process left, or that is about to begin."""
        await self._runs.starting.settled(child_id)
        if (live := self._runs.live(child_id)) is not None:
            live.stop()
            return
        try:
            await self._runs.end(child_id)
        except (NotFound, Conflict):
            log.debug("Run %s had ended, or never begun, when the one that started it was stopped", child_id)


def _unfinished(live: Run) -> list[Child]:
    return [child for child in children(live.entries) if child.status is None]


def _begun_below(parent: Run, above: Parent, task: Task) -> Begun:
    def begun(started: RunStarted) -> RunStarted:
        limits = parent.started.limits
        same_model = started.model == parent.started.model
        return started.model_copy(
            update={
                "parent": above,
                "depth": parent.started.depth + 1,
                "background": True,
                "files": {**parent.files, **started.files},
                "tools": tools_at_most(started.tools, parent.started.tools, task.tools),
                "limits": limits_at_most(
                    started.limits, limits, seconds_left=min(parent.stopwatch.left, task.seconds or inf)
                ),
                "unpriced_agreed": same_model and agreed(parent),
            }
        )

    return begun


def tools_at_most(
    own: Collection[GrantedTool], above: Collection[GrantedTool], wanted: Collection[str] | None
) -> tuple[GrantedTool, ...]:
    """Those of its own tools that the run above it has too, under the stricter of both policies.

    `wanted` are the names of the only tools and kits it is to have, `None` where that was left open.
    """

    def is_wanted(tool: GrantedTool) -> bool:
        return wanted is None or bool({tool.spec.name, tool.spec.kit} & {FIND_TOOLS, *map(canonical_name, wanted)})

    policies = {tool.spec.name: tool.policy for tool in above} | {FIND_TOOLS: "auto"}  # it finds no more than these
    shared = (tool for tool in own if tool.spec.name in policies and is_wanted(tool))
    return tuple(tool.model_copy(update={"policy": stricter(tool.policy, policies[tool.spec.name])}) for tool in shared)


def check_wanted(above: Collection[GrantedTool], wanted: Collection[str] | None) -> None:
    """Raises `ToolError` for a name behind which the run above has no tool."""
    names = {tool.spec.name for tool in above}
    known = names | {tool.spec.kit for tool in above}
    if missing := [name for name in wanted or () if canonical_name(name) not in known]:
        raise ToolError(
            f"You have no tool {', '.join(map(repr, missing))} to give away. You have: {', '.join(sorted(names))}."
        )


def limits_at_most(own: Limits, above: Limits, *, seconds_left: float) -> Limits:
    """Its own limits, but no more time than is left above it, and no more levels of runs below it."""
    return own.model_copy(
        update={
            "total_time": min(own.total_time, max(seconds_left, LEAST_SECONDS)),
            "spawn_depth": min(own.spawn_depth, above.spawn_depth),
        }
    )
