"""Talking to an agent: each message of a session becomes a run that knows what was said before."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from app.domain.agents import (
    Agent,
    Behaviour,
    WorkflowBehaviour,
    check_model_choice,
    schema_of,
    template_of,
    values_of,
)
from app.domain.branches import FIRST
from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.domain.events import MessageAdded, Origin, PauseResolved, RunStarted
from app.domain.messages import Attachment, Message, user_message
from app.domain.prompts import system_of
from app.domain.provenance import WORKING_COPY, AgentRef, Purpose, Trigger
from app.domain.sessions import QueuedMessage, Session, behaviour_of, check_not_deleted, queued_message, switched
from app.domain.streaming import ModelRequest
from app.domain.trace import StoredTrace, files_after
from app.domain.values import new_id, now
from app.domain.workflows.document import Workflow
from app.engine.forks.allowance import Allowance
from app.engine.loop.attachments import attach
from app.engine.loop.granting import granted, offered
from app.engine.loop.loop import run_agent
from app.engine.ports import AgentStore, SessionStore, Toolbox
from app.engine.run.run import Run, request_of
from app.engine.runs.runs import Runs, Work
from app.engine.sessions.turns import Begun, Path, as_it_is, checked, history_after, purpose_of, with_run
from app.engine.workflows.grants import Nodes

NO_REQUEST = "A workflow asks no model itself: its agents do, each with what its node tells it."
FROM_PAGE = Trigger(kind="page")
MayVary = Callable[[Trigger], bool]
"""Whether whoever starts a run may have another variant or model in it than the agent's own."""


def everybody(_trigger: Trigger) -> bool:
    """Whoever it is may."""
    return True


@dataclass
class Chat:
    agents: AgentStore
    sessions: SessionStore
    runs: Runs
    toolbox: Toolbox
    may_vary: MayVary = everybody

    def __post_init__(self) -> None:
        self.allowance = Allowance(self.agents, self.sessions, self.toolbox, self.runs.rows)
        self.runs.held = self.allowance.resumed
        self.loading = self.runs.starting.loading

    async def new_session(
        self,
        agent_id: str,
        variant: int | None = None,
        *,
        model: str | None = None,
        variables: Mapping[str, str] | None = None,
        tools_off: tuple[str, ...] = (),
        comparison: str = "",
        parent: str = "",
        behind: str = "",
        tried: Behaviour | None = None,
        session_id: str | None = None,
    ) -> Session:
        """An empty session with the agent's active variant, or the one asked for. Raises `NotFound`.

        `WorkbenchError` for a model where there is none to replace. `model` and `variables` are used in place of the
        variant's, without the tools that are `tools_off`; `comparison` names the one whose column it is, `parent` the
        run that begins it, `behind` its experiment; `tried` goes first. `session_id` is its id where somebody notes it.
        """
        agent = self.agents.get(agent_id)
        chosen = agent.variant(variant or agent.active)
        check_model_choice(chosen.behaviour, model)
        began = now()
        session = Session(
            id=session_id or new_id(),
            agent_id=agent.id,
            agent_slug=agent.slug,
            variant=chosen.number,
            model=model,
            variables=dict(variables or {}),
            tools_off=tools_off,
            comparison=comparison,
            parent=parent,
            behind=behind,
            tried=tried,
            created_at=began,
            updated_at=began,
        )
        return await self.sessions.create(session)

    async def try_out(self, session_id: str, behaviour: Behaviour, *, origin: int) -> Session:
        """The session, whose next run behaves like that from now on; `origin` is the variant that it began from.

        Raises `NotFound`, `StorageError`.
        """
        changes = {"variant": origin, "tried": behaviour}
        return await self.sessions.change(session_id, lambda newest: newest.model_copy(update=changes))

    async def send(
        self,
        session_id: str,
        text: str,
        attachments: tuple[Attachment, ...] = (),
        *,
        trigger: Trigger = FROM_PAGE,
        purpose: Purpose | None = None,
        run_id: str | None = None,
        begun_as: Begun = as_it_is,
        after: str | None = None,
        work: Work = run_agent,
    ) -> Run:
        """Start a run with the message, as the session's next turn; without a `purpose` the session's own.

        Attachments become files of the session; with them the text may be empty. `run_id` is the run's id where
        somebody has noted it before; `begun_as` makes a job of it, or the child of another run; `after` is the run
        that it follows, where that is not the last one of the branch one stands on; `work` is what it does. Raises
        `WorkbenchError` for an empty message, `TooLarge`, `NotFound`, `Conflict` while another run of it goes on or
        where it was deleted.
        """
        session = self.sessions.get(session_id)
        if purpose != "compare":  # a column's runs are found in its comparison, too
            check_not_deleted(session)
        message = user_message(checked(text, attachments), *attachments)
        before = () if after is None else self.runs.branches(session).up_to(after)
        begun = partial(self._begun, session_id, lambda newest: before or newest.runs, message, trigger, purpose)
        typed = trigger.kind == "page"
        return await self.runs.unbroken.or_undone(begun(run_id=run_id, typed=typed, begun_as=begun_as, work=work))

    async def send_queued(self, session_id: str, message_id: str, *, at_once: bool = False) -> Run:
        """Start a run with that message of the session's queue, which leaves the queue.

        `at_once`: nothing was in its way. Raises `NotFound` when it does not wait any more, and what `send` raises.
        """
        waiting = queued_message(self.sessions.get(session_id), message_id)
        message = user_message(checked(waiting.text, waiting.attachments), *waiting.attachments)
        path, waited = partial(self._branch_of, message_id), 0.0 if at_once else waiting.waited_ms(now())
        return await self.runs.unbroken.or_undone(
            self._begun(session_id, path, message, waiting.trigger, queued=waiting, waited_ms=waited)
        )

    def _branch_of(self, message_id: str, session: Session) -> tuple[str, ...]:
        """The runs that the message follows: where one stands, unless it was queued on another branch."""
        waiting = queued_message(session, message_id)
        branches = self.runs.branches(session)
        elsewhere = waiting.follows in branches.follows and waiting.follows not in session.runs
        return branches.through(waiting.follows) if elsewhere else session.runs

    async def edit(self, session_id: str, run_id: str, text: str) -> Run:
        """Send other words beside those that began that run, with the same attachments: a branch of its own."""
        attachments = (await self._message(run_id)).attachments
        return await self._beside(session_id, run_id, user_message(checked(text, attachments), *attachments), FROM_PAGE)

    async def regenerate(self, session_id: str, run_id: str, *, trigger: Trigger = FROM_PAGE) -> Run:
        """Answer the message of that run once more, on a branch beside it."""
        return await self._beside(session_id, run_id, await self._message(run_id), trigger)

    async def _beside(self, session_id: str, run_id: str, message: Message, trigger: Trigger) -> Run:
        session = self.sessions.get(session_id)
        if purpose_of(session) != "compare":
            check_not_deleted(session)
        before = self.runs.branches(session).up_to(run_id)[:-1]
        return await self.runs.unbroken.or_undone(self._begun(session_id, lambda _: before, message, trigger))

    async def stand_on(self, session_id: str, run_id: str) -> Session:
        """The session, from now on on the branch through that run that was gone on with last. Raises `NotFound`."""

        def standing(session: Session) -> Session:
            return session.model_copy(update={"runs": self.runs.branches(session).through(run_id)})

        return await self.sessions.change(session_id, standing)

    async def resume(self, run_id: str, *, decided: PauseResolved | None = None, by: str = "user") -> Run:
        """Go on with a run that its process left, as the last answer of its branch.

        `decided` is the decision on its open pause. Raises what `Runs.resume` does, and `Conflict` where the
        conversation went on behind the run.
        """
        return await self.runs.unbroken.or_undone(self._resumed(run_id, decided=decided, by=by))

    async def _resumed(self, run_id: str, *, decided: PauseResolved | None, by: str) -> Run:
        row = self.runs.row(run_id)
        async with self.runs.beginning(row.session_id):
            if not self.runs.branches(self.sessions.get(row.session_id)).is_last(run_id):
                raise Conflict(
                    "The conversation went on after this answer, so it cannot go on from there. Send its message again."
                )
            return await self.runs.resume(run_id, decided=decided, by=by)

    async def next_request(
        self, session_id: str, text: str = "", attachments: tuple[Attachment, ...] | None = None
    ) -> ModelRequest:
        """What `send` would ask the model first, with what is attached; without both what is known before.

        `attachments` stand in place of those that wait in the session's own composer.

        Raises `WorkbenchError` where `send` would refuse, but for the text.
        """
        session = self.sessions.get(session_id)
        before = await self._trace_before(session.runs)
        attached = session.composer_attachments if attachments is None else attachments
        message = user_message(text, *attached)
        started, message = await self._run_started(session, before, message, FROM_PAGE, "chat")
        if started.workflow is not None:
            raise WorkbenchError(NO_REQUEST)
        said = (message,) if text.strip() or attached else ()
        sent = tuple(tool.spec for tool in started.tools if tool.spec.name not in started.unsent)
        return request_of(started, (*started.history, *said, *session.app_messages), sent)

    async def system_changed(self, session_id: str) -> bool:
        """Whether the next run's system prompt differs from the last run's, so that the provider's cache misses."""
        session = self.sessions.get(session_id)
        before = await self._trace_before(session.runs)
        last = next((entry.event for entry in before.entries if isinstance(entry.event, RunStarted)), None)
        if last is None:
            return False
        behaviour = behaviour_of(session, self.agents.get(session.agent_id))
        return last.system != system_of(template_of(behaviour), values_of(behaviour, session.variables))

    async def _begun(
        self,
        session_id: str,
        path_of: Path,
        message: Message,
        trigger: Trigger,
        purpose: Purpose | None = None,
        *,
        run_id: str | None = None,
        queued: QueuedMessage | None = None,
        typed: bool = False,
        waited_ms: float | None = None,
        begun_as: Begun = as_it_is,
        work: Work = run_agent,
    ) -> Run:
        async with self.runs.beginning(session_id):
            if queued is not None:
                queued_message(self.sessions.get(session_id), queued.id)
            await self.runs.check_idle(session_id)
            session = self.sessions.get(session_id)  # a run may have begun and ended since it was asked for
            path, purpose = path_of(session), purpose or purpose_of(session)
            before = await self._trace_before(path)
            session = await self._as_allowed(session, trigger)
            started, message = await self._run_started(session, before, message, trigger, purpose)
            started = begun_as(started.model_copy(update={"follows": path[-1] if path else FIRST}))
            origin: Origin = "queued" if queued else "user"
            said, along = session.app_contexts, session.app_messages
            waited = "" if queued is None else queued.id

            async def join(live: Run) -> None:
                turned = partial(with_run, before=path, run_id=live.run_id, text=message.headline, queued=waited)
                await self.sessions.change(
                    session_id, lambda newest: turned(_as_asked(newest, purpose, queued), typed=typed, along=said)
                )

            return await self.runs.start(
                started, message, origin=origin, waited_ms=waited_ms, run_id=run_id, along=along, join=join, work=work
            )

    async def _as_allowed(self, session: Session, trigger: Trigger) -> Session:
        """The session, from now on with its agent's active variant where nothing else is for who starts its next run.

        Whatever was chosen before: the variant may have been retired since, and who chose it may not any more.
        """
        agent = self.agents.get(session.agent_id)
        as_its_own = session.variant == agent.active and session.model is None and session.tried is None
        if as_its_own or self.may_vary(trigger):
            return session
        return await self.sessions.change(
            session.id, lambda newest: switched(newest, agent, agent.active).model_copy(update={"model": None})
        )

    async def _message(self, run_id: str) -> Message:
        """The message that began the run."""
        trace = await self.runs.trace(run_id)
        message = next((entry.event.message for entry in trace.entries if isinstance(entry.event, MessageAdded)), None)
        if message is None:
            raise NotFound("The message of this run cannot be read any more, so it cannot be sent again.")
        return message

    async def _trace_before(self, path: tuple[str, ...]) -> StoredTrace:
        return await self.runs.trace(path[-1]) if path else StoredTrace([])

    async def _run_started(
        self, session: Session, before: StoredTrace, message: Message, trigger: Trigger, purpose: Purpose
    ) -> tuple[RunStarted, Message]:
        """How a run with the message begins, and the message with its attachments among the session's files."""
        agent = self.agents.get(session.agent_id)
        behaviour = behaviour_of(session, agent)
        number = session.variant if session.tried is None else WORKING_COPY
        attached = attach(message, files_after(before.entries))
        history, variables = history_after(before), values_of(behaviour, session.variables)
        tools = granted(self.toolbox, agent, behaviour, session.tools_off, session.tools_allowed)
        started = RunStarted(
            session_id=session.id,
            agent=AgentRef(id=agent.id, slug=agent.slug, name=agent.name, variant=number),
            model="",
            limits=behaviour.limits,
            variables=variables,
            tools=tools,
            history=history,
            files=attached.files,
            output_schema=schema_of(behaviour),
            trigger=trigger,
            purpose=purpose,
        )
        if isinstance(behaviour, WorkflowBehaviour):
            return self._of_workflow(started, behaviour.workflow, session), attached.message
        model = session.model or behaviour.model
        await self._check_model(agent, model)
        prompted: dict[str, object] = {
            "model": model,
            "parameters": behaviour.parameters,
            "system": system_of(behaviour.system_prompt, variables),
            "tools": offered(tools, (*history, attached.message), behaviour.attachments),
            "attachments": dict(behaviour.attachments),
            "unpriced_agreed": self.allowance.agreed(before.entries),
        }
        started = started.model_copy(update=prompted)
        return await self.loading.of(started, behaviour.tool_loading, (*history, attached.message)), attached.message

    def _of_workflow(self, started: RunStarted, workflow: Workflow, session: Session) -> RunStarted:
        nodes = Nodes(self.agents.all(), self.toolbox, session.tools_off, session.tools_allowed)
        return started.model_copy(
            update={"tools": nodes.granted(workflow, started.tools), "workflow": nodes.pinned(workflow)}
        )

    async def _check_model(self, agent: Agent, model: str) -> None:
        try:
            await self.runs.models.check(model)
        except NotFound as error:
            raise WorkbenchError(
                f"Agent {agent.name!r} cannot use the model {model!r}. {error} Choose another model for this session, "
                "or in the agent's editor."
            ) from error


def _as_asked(session: Session, purpose: Purpose, queued: QueuedMessage | None) -> Session:
    """The session, of which nothing that its next run begins with was taken back while that was made ready.

    Raises `Conflict` where it was.
    """
    if purpose != "compare":  # a column's runs are found in its comparison, too
        check_not_deleted(session)
    if queued is not None and queued not in session.queue:
        raise Conflict("This message was changed or taken away just now.")
    return session
