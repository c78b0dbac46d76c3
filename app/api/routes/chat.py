"""REST and a socket for just talking: a message in, an answer out."""

import asyncio
from functools import partial
from typing import Annotated

from fastapi import Request, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from app.api.door.access import agent_for, agents_for, as_of_now, may_vary
from app.api.door.caller import Caller
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, faults_in_words
from app.api.door.rate import starting_run
from app.api.door.strict_json import check_shape
from app.api.following.attaching import AttachmentRefs, said
from app.api.following.endings import EXAMPLE_END, FAILED_RUNS, Ending, in_envelope
from app.api.following.event_stream import pause_of, retry_of
from app.api.following.idempotency import SentAgain, idempotent
from app.api.following.live_text import Piece, WaitsBelow, pieces
from app.api.following.replies import answer_of, ending_of
from app.api.following.running import begin, session_named, session_of_request, wait_until_idle, waits_below
from app.api.following.sockets import Gone, SocketWriter
from app.domain.agents import Agent
from app.domain.errors import NotFound, WorkbenchError
from app.domain.events import Entry, ModelFailed, NodeEnded, PauseRequested
from app.domain.sessions import Session
from app.domain.trace import Step
from app.domain.trace.steps import StepsSoFar
from app.domain.values import Text
from app.engine.run.run import Run
from app.workbench import Workbench

DEFAULT_AGENT = "assistant"
_EXAMPLE: dict[str, JsonValue] = {
    "response": "5 + 10 = 15",
    "run_id": "r2k4m6p8r0t2v4x6",
    "session_id": "s2k4m6p8r0t2v4x6",
    "status": "completed",
    **EXAMPLE_END,
}


class ChatRequest(BaseModel):
    """What is said, to whom."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"message": "What is 5 + 10?", "agent": "assistant"}]}
    )

    message: Text
    agent: Annotated[Text, Field(max_length=200)] | None = Field(
        None, description="Slug or id; without it the session's, or the assistant."
    )
    model: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(
        None, description="`provider/model` or an alias, in place of the agent's own."
    )
    session: Annotated[Text, Field(max_length=64)] | None = Field(None, description="A session to go on in.")
    after: Annotated[Text, Field(max_length=64)] | None = Field(
        None,
        description="A run of the session to go on behind, in place of the last one: a branch beside what follows.",
    )
    attachments: AttachmentRefs = []


class ChatReply(Ending):
    """What the agent said."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    response: str
    run_id: str
    session_id: str


router = resource("", "Chat")


@router.post("/chat", response_model=Envelope[ChatReply], responses=FAILED_RUNS)
async def chat(
    *,
    body: ChatRequest,
    request: Request,
    workbench: Here,
    caller: Asking,
    idempotency_key: SentAgain = None,  # noqa: ARG001  read by `idempotent`
) -> Envelope[ChatReply] | JSONResponse:
    """Say something to an agent. The answer comes when its run has ended, or when it waits for a person.

    That of a run that failed has the status of its class.
    """
    live = await idempotent(workbench, request, await request.body(), partial(_said, workbench, caller, body))
    asked = await wait_until_idle(workbench, live)
    reply = ChatReply(
        response=answer_of(live.entries),
        run_id=live.run_id,
        session_id=live.started.session_id,
        **ending_of(live.entries, "paused" if asked else live.status).model_dump(),
    )
    return in_envelope(reply)


@router.websocket("/ws/chat")
async def chat_socket(socket: WebSocket, workbench: Here, caller: Asking) -> None:
    """Send `{"message", "agent"?, "model"?, "session"?}`; get each step of the answer as it happens.

    All messages of a socket are one session unless they name another. `retry` says when a model that failed is asked
    again; what goes wrong comes as `error` with its `code`, and the socket stays open.
    """
    await socket.accept()
    talk = _Talk(socket, workbench, caller)
    try:
        await talk.go_on()
    except Gone:
        await talk.writer.send_away()
    except WebSocketDisconnect:
        return
    except KeyError:  # Starlette's, where bytes came in place of text
        await talk.writer.close(1003, "Send text, as JSON.")
    finally:
        talk.next_words.cancel()


class _Talk:
    """One socket's conversation. The next words are listened for all the time: so it is noticed who hangs up."""

    def __init__(self, socket: WebSocket, workbench: Workbench, caller: Caller) -> None:
        self._socket = socket
        self._workbench = workbench
        self._caller = caller
        self._session_id: str | None = None
        self.writer = SocketWriter(socket)
        self.next_words = asyncio.create_task(socket.receive_text())

    async def go_on(self) -> None:
        """Answer message after message; raises `WebSocketDisconnect` or `Gone` when nobody listens any more."""
        while True:
            words = await self.next_words
            self.next_words = asyncio.create_task(self._socket.receive_text())
            try:
                live = await self._begin(_read(words))
            except WorkbenchError as error:
                await self.writer.send({"type": "error", "message": str(error), "code": error.code})
            else:
                await self._tell(live)

    async def _begin(self, body: ChatRequest) -> Run:
        """In the session that it names; else in that of the message before, unless another agent is named."""
        named = body.session or (self._session_id if body.agent is None else None)
        caller = as_of_now(self._workbench, self._caller)
        with starting_run(self._socket):
            live = await _said(self._workbench, caller, body.model_copy(update={"session": named}))
        self._session_id = live.started.session_id
        return live

    async def _tell(self, live: Run) -> None:
        """Send the steps of the run until its end."""
        so_far = StepsSoFar()
        async for piece in pieces(live, below=partial(waits_below, self._workbench, live.run_id), gone=self._hung_up):
            for message in _messages(piece, so_far):
                await self.writer.send(message)
        if self._hung_up():
            raise Gone
        end = ending_of(live.entries, live.status)
        if end.error:
            await self.writer.send({"type": "error", "message": end.error, "code": end.failure})

    def _hung_up(self) -> bool:
        return self.next_words.done() and self.next_words.exception() is not None


def _read(text: str) -> ChatRequest:
    check_shape(text.encode())
    try:
        return ChatRequest.model_validate_json(text)
    except ValidationError as error:
        faults = (dict(fault) for fault in error.errors(include_url=False, include_context=False, include_input=False))
        raise WorkbenchError(f'Send JSON such as {{"message": "hello"}}. {faults_in_words(faults)}.') from None


def _messages(piece: Piece, so_far: StepsSoFar) -> list[dict[str, JsonValue]]:
    if isinstance(piece, WaitsBelow):
        return [pause_of(piece.pause, piece.run_id)]
    if not isinstance(piece, Entry):
        return []
    steps = list(so_far.take(piece))
    if isinstance(piece.event, PauseRequested):
        return [pause_of(piece.event, piece.run_id)]
    if isinstance(piece.event, ModelFailed):
        return [told] if (told := retry_of(piece.event)) else []
    if isinstance(piece.event, NodeEnded):
        return [_node_ended(piece.event)]
    return [_message(step) for step in steps]


def _node_ended(ended: NodeEnded) -> dict[str, JsonValue]:
    error = ended.error.text if ended.error else None
    return {"type": "node-ended", "node": ended.node, "callId": ended.call_id, "state": ended.status, "error": error}


def _message(step: Step) -> dict[str, JsonValue]:
    if step.type == "tool-call" and step.call is not None:
        return {"type": step.type, "toolName": step.text, "params": step.call.arguments}
    if step.type == "tool-result" and step.result is not None:
        return {"type": step.type, "toolName": step.result.name, "result": step.text}
    if step.node is not None:
        told: dict[str, JsonValue] = {"node": step.node.node, "callId": step.node.call_id, "kind": step.node.kind}
        return {"type": step.type, "title": step.text, **told}
    return {"type": step.type, "content": step.text}


async def _said(workbench: Workbench, caller: Caller, body: ChatRequest, run_id: str | None = None) -> Run:
    named = session_named(workbench, caller, body.session, after=body.after)
    agent = _agent(workbench, caller, body.agent, named)
    may_vary(caller, agent, model=body.model)
    sent = await said(workbench, caller, body.message, body.attachments)
    async with session_of_request(workbench, caller, agent, named, model=body.model) as session:
        return await begin(workbench, caller, session, sent.text, sent.attachments, after=body.after, run_id=run_id)


def _agent(workbench: Workbench, caller: Caller, named: str | None, session: Session | None) -> Agent:
    """The agent that was named, or that of the session, or the assistant, or the first one there is."""
    if named is not None:
        return agent_for(workbench, caller, named)
    if session is not None:
        return agent_for(workbench, caller, session.agent_id)
    agents = agents_for(workbench, caller)
    if not agents:
        raise NotFound("There is no agent yet. POST /api/v1/agents makes one.")
    return next((agent for agent in agents if agent.slug == DEFAULT_AGENT), agents[0])
