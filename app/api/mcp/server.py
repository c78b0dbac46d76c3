"""The MCP server, and what it answers: the agents that are there for who asks, listed and run. Heavy: import late."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any, Protocol

from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from pydantic import Field, ValidationError
from starlette.requests import HTTPConnection

from app import __version__
from app.api.door.access import agents_for, run_for
from app.api.door.caller import LONGEST_PROGRAM, Caller
from app.api.door.envelopes import faults_in_words
from app.api.door.rate import starting_run
from app.api.following.followed import FollowedRun, StoredRun
from app.api.following.replies import run_reply
from app.api.following.running import beginning_of, session_named, session_of_request
from app.api.mcp.answers import answer, refused, stands
from app.api.mcp.changes import Changes, Context
from app.api.mcp.eval_tools import LONGEST_WAIT, TAKES, Arguments
from app.api.mcp.evals import Evaluating
from app.api.mcp.tools import ANSWERED, GET_RUN, STOP_RUN, agent_of, output_schema, tools_of
from app.api.mcp.waiting import APPROVAL, Patience, Waiting
from app.domain.agents import Agent
from app.domain.errors import WorkbenchError
from app.domain.events import LimitReached, RunStarted
from app.domain.tools import DEPTH
from app.domain.trace import finished, open_pauses
from app.domain.values import Text
from app.engine.run.limits import sentence
from app.engine.run.run import Run
from app.workbench import Workbench
from app.workbench.known_secrets import speaking

STOP_SECONDS = 2.0
CallerOf = Callable[[object], Caller]
"""Who sent the request that a message came with."""
Name = Annotated[Text, Field(max_length=64)]


class Asked(Arguments):
    """What an agent's tool takes."""

    input: Text
    variables: dict[Annotated[Text, Field(max_length=200)], Annotated[Text, Field(max_length=100_000)]] = {}
    session: Name | None = None


class NamedRun(Arguments):
    run_id: Name


class WaitedRun(NamedRun):
    wait: Annotated[float, Field(ge=0, le=LONGEST_WAIT)] = 0


class Answering(Protocol):
    """What a server gives its clients."""

    async def list(self, context: Context, asked: PaginatedRequestParams | None) -> ListToolsResult: ...

    async def call(self, context: Context, asked: CallToolRequestParams) -> CallToolResult | InputRequiredResult: ...


class AgentServer(Server[dict[str, Any]]):
    """Agent Playground as clients of MCP know it, wherever its answers come from."""

    def __init__(self, answering: Answering, changes: Changes) -> None:
        super().__init__(
            "agent-playground",
            version=__version__,
            title="Agent Playground",
            instructions="Each tool run_… asks one agent. One that takes long answers with status running and a "
            "run_id: call get_run with it. To make an agent better, where your key may: search_runs and read_run, "
            "make_case of what went wrong, propose_variant, start_experiment with both variants, get_experiment.",
            on_list_tools=answering.list,
            on_call_tool=answering.call,
            on_subscriptions_listen=changes.listen,
        )

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """As the library's, and clients are told that they will hear of other tools."""
        changing = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(changing, experimental_capabilities, extensions)


class AgentTools:
    """The agents of one workbench, for all who ask, each as far as they may."""

    def __init__(self, workbench: Workbench, caller_of: CallerOf, patience: Patience, changes: Changes) -> None:
        self._workbench = workbench
        self._caller_of = caller_of
        self._patience = patience
        self._changes = changes
        self._evaluating = Evaluating(workbench)

    async def list(
        self,
        context: Context,
        asked: PaginatedRequestParams | None,  # noqa: ARG002  all fit on one page
    ) -> ListToolsResult:
        self._changes.listed(context)
        caller = self._caller(context)
        return ListToolsResult(tools=tools_of(agents_for(self._workbench, caller), evaluates=caller.may("evals")))

    async def call(self, context: Context, asked: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        caller = self._caller(context)
        with speaking(caller.trigger):
            try:
                return await self._answered(context, caller, asked)
            except ValidationError as error:
                return refused(f"The arguments do not fit: {faults_in_words(error.errors())}.")
            except WorkbenchError as error:
                return refused(str(error))

    async def _answered(
        self, context: Context, caller: Caller, asked: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        arguments = asked.arguments or {}
        match asked.name:
            case name if name == GET_RUN:
                wanted = WaitedRun.model_validate(arguments)
                return await self._get(self._waiting(context, caller, wanted.wait), wanted.run_id, asked)
            case name if name == STOP_RUN:
                return await self._stop(caller, NamedRun.model_validate(arguments).run_id)
            case name if name in TAKES:
                with _counted(context) if name == "start_experiment" else nullcontext():
                    return await self._evaluating.answer(caller, name, arguments)
            case name:
                agent = agent_of(agents_for(self._workbench, caller), name)
                if agent is None:
                    raise MCPError(INVALID_PARAMS, f"There is no tool {name[:80]!r}. tools/list names all there are.")
                waiting = self._waiting(context, caller, None)
                return await self._run(waiting, agent, Asked.model_validate(arguments), asked)

    async def _run(
        self, waiting: Waiting, agent: Agent, wanted: Asked, asked: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """What came of the agent's run, or what the client has to be asked. A run that nobody waits for ends."""
        live = await self._decided(waiting, asked) or await self._begun(waiting, agent, wanted)
        try:
            if (question := await waiting.until(live)) is not None:
                return question
        except asyncio.CancelledError:
            if wanted.session is None and isinstance(live, Run):
                live.stop()
            raise
        structured = output_schema(agent) is not ANSWERED
        return answer(run_reply(live.entries, alive=live.alive), structured=structured)

    async def _begun(self, waiting: Waiting, agent: Agent, wanted: Asked) -> Run:
        caller, workbench, context = waiting.caller, self._workbench, waiting.context
        depth, waiting.heard = _depth(context), 0

        def below(started: RunStarted) -> RunStarted:
            if depth > (allowed := started.limits.spawn_depth):
                raise WorkbenchError(sentence(LimitReached(limit="depth", allowed=allowed, reached=depth)))
            return started.model_copy(update={"depth": depth})

        with _counted(context):
            named = session_named(workbench, caller, wanted.session, after=None)
            async with session_of_request(workbench, caller, agent, named, variables=wanted.variables) as session:
                return await workbench.chat.send(
                    session.id, wanted.input, trigger=caller.trigger, purpose="api", begun_as=below
                )

    async def _decided(self, waiting: Waiting, asked: CallToolRequestParams) -> FollowedRun | None:
        """The run whose question the client comes back with; `None` where it brings no answer."""
        if asked.request_state is None:
            return None
        run_id, _, pause_id = asked.request_state.partition(" ")
        live = await self._followed(waiting.caller, run_id)
        given = (asked.input_responses or {}).get(APPROVAL)
        pause = next((one for one in open_pauses(live.entries) if one.pause_id == pause_id), None)
        if pause is None or pause.reason != APPROVAL or not isinstance(given, ElicitResult):
            return live
        return await waiting.decide(run_id, pause, given) or live

    async def _get(
        self, waiting: Waiting, run_id: str, asked: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        live = await self._decided(waiting, asked) or await self._followed(waiting.caller, run_id)
        if waiting.seconds and (question := await waiting.until(live)) is not None:
            return question
        return stands(run_reply(live.entries, alive=live.alive))

    async def _stop(self, caller: Caller, run_id: str) -> CallToolResult:
        live = await self._followed(caller, run_id)
        if isinstance(live, Run):
            live.stop()
            await asyncio.wait([asyncio.ensure_future(live.ended())], timeout=STOP_SECONDS)
        elif finished(live.entries) is None:  # it was left when the app was closed
            await self._workbench.pauses.stop(run_id)
            live = await self._followed(caller, run_id)
        return stands(run_reply(live.entries, alive=live.alive))

    async def _followed(self, caller: Caller, run_id: str) -> FollowedRun:
        """The run, as far as it is there for them. Raises `NotFound`."""
        run_for(self._workbench, caller, run_id)
        await self._workbench.runs.starting.settled(run_id)
        if (live := self._workbench.runs.live(run_id)) is not None:
            return live
        trace = await self._workbench.runs.trace(run_id)
        return StoredRun(run_id, beginning_of(run_id, trace.entries), trace)

    def _waiting(self, context: Context, caller: Caller, seconds: float | None) -> Waiting:
        return Waiting(self._workbench, caller, context, self._patience, seconds)

    def _caller(self, context: Context) -> Caller:
        """Who asks, with what the client says of itself."""
        caller, client = self._caller_of(context.request), context.session.client_params
        if client is None:
            return caller
        said = f"{client.client_info.name} {client.client_info.version}"
        return caller.by("".join(one for one in said if one.isprintable())[:LONGEST_PROGRAM])


def _counted(context: Context) -> AbstractContextManager[None]:
    return starting_run(context.request) if isinstance(context.request, HTTPConnection) else nullcontext()


def _depth(context: Context) -> int:
    """Runs above the one that begins: a client may say too many, which helps nobody, but not fewer than none."""
    said = (context.meta or {}).get(DEPTH, 0)
    return said if isinstance(said, int) and said > 0 else 0
