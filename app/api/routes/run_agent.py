"""REST for running an agent: its answer at the end, as it is written, or later."""

from functools import partial
from typing import Annotated, Any

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, JsonValue, Tag, TypeAdapter

from app.api.door.access import agent_for, may_vary
from app.api.door.caller import Caller
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, told_by
from app.api.door.strict_json import AsRead
from app.api.following.attaching import AttachmentRefs, said
from app.api.following.endings import FAILED_RUNS, in_envelope
from app.api.following.event_stream import event_stream
from app.api.following.idempotency import SentAgain, idempotent
from app.api.following.replies import RunReply, run_reply
from app.api.following.running import (
    begin,
    check_model,
    check_variables,
    runs_below,
    session_named,
    session_of_request,
    wait_until_idle,
    waits_below,
)
from app.api.routes.agent_config import Several
from app.domain.agents import Agent, Behaviour, declared_of
from app.domain.errors import WorkbenchError
from app.domain.values import Text
from app.engine.run.run import Run
from app.workbench import Workbench

Words = Annotated[Text, Field(max_length=100_000)]
Given = Annotated[
    Annotated[Words, Tag("text")] | Annotated[int | float, Tag("number")],
    told_by({str: "text", int: "number", float: "number", bool: "number"}, "Send a text or a number"),
]
"""Of a variable."""
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_EXAMPLES: list[JsonValue] = [
    {"input": "What is 5 + 10, then multiply by 3?"},
    {"input": "Sum up these orders.", "data": [{"order": 1, "total": 12.5}], "variables": {"customer": "Ada"}},
]
_STREAMED = {
    "description": "How it ended, or where it waits for a person; with `stream` server-sent events.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}
ANSWERS: dict[int | str, dict[str, Any]] = {200: _STREAMED, 201: {"model": Envelope[RunReply]}, **FAILED_RUNS}


class HowToRun(BaseModel):
    """Of whatever agent."""

    model_config = ConfigDict(extra="forbid")

    variant: Several | None = Field(None, description="A variant's number; without it the active one.")
    session: Annotated[Text, Field(max_length=64)] | None = Field(
        None, description="A session to go on in; without it the run has a new one."
    )
    after: Annotated[Text, Field(max_length=64)] | None = Field(
        None, description="A run to go on behind, in place of the last one of its session: as a branch."
    )
    attachments: AttachmentRefs = []
    stream: bool = Field(False, description="Answer with server-sent events while it goes on.")
    background: bool = Field(False, description="Answer at once, with status running; GET /runs/{id} shows its end.")


class RunRequest(HowToRun):
    """What an agent is asked."""

    model_config = ConfigDict(json_schema_extra={"examples": _EXAMPLES})

    input: Text
    data: AsRead = Field(
        None,
        description="Any JSON; it is appended to the input, or the field `data` of a workflow's. null is nothing.",
    )
    variables: dict[Annotated[Text, Field(max_length=200)], Given] = Field(
        {},
        max_length=1000,
        description="Values for the prompt's `{{variables}}`, or fields of a workflow's input.",
    )
    model: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(
        None, description="`provider/model` or an alias, in place of the agent's own."
    )

    @property
    def text(self) -> str:
        """The input with the data behind it."""
        if self.data is None:
            return self.input
        return f"{self.input}\n\nData:\n{_JSON.dump_json(self.data).decode()}"

    @property
    def values(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.variables.items()}


router = resource("/agents/{agent}/run", "Runs")


@router.post("", response_model=Envelope[RunReply], responses=ANSWERS)
async def run_agent(
    *,
    agent: str,
    body: RunRequest,
    request: Request,
    workbench: Here,
    caller: Asking,
    idempotency_key: SentAgain = None,  # noqa: ARG001  read by `idempotent`
) -> Envelope[RunReply] | Response:
    """Run an agent. The answer comes when the run has ended, or when it waits for a person.

    One that failed answers with the status of its class, `success` false and the whole reply in `data`; one that waits,
    or that a limit or somebody stopped, with 200. A run belongs to the app: it goes on when who asked for it hangs up,
    and GET /runs/{id} shows what became of it.
    With `stream` its text comes as server-sent events while it is written, with `background` nobody waits (201).
    """
    return await run(workbench, caller, agent_for(workbench, caller, agent), body, request)


async def run(
    workbench: Workbench, caller: Caller, agent: Agent, body: RunRequest, request: Request
) -> Envelope[RunReply] | Response:
    """The reply of the run that it begins, in the form that was asked for."""
    may_vary(caller, agent, variant=body.variant, model=body.model)
    body = with_fields(agent.variant(body.variant or agent.active).behaviour, body)
    start = partial(_as_job if body.background else _as_turn, workbench, caller, agent, body)
    live = await idempotent(workbench, request, await request.body(), start)
    if body.background:
        reply = Envelope(data=run_reply(live.entries, alive=live.alive))
        return Response(reply.model_dump_json(), status_code=201, media_type="application/json")
    if body.stream:
        ids = {"X-Run-Id": live.run_id, "X-Session-Id": live.started.session_id}
        return StreamingResponse(
            event_stream(live, partial(waits_below, workbench, live.run_id)),
            media_type="text/event-stream",
            headers=ids,
        )
    asked = await wait_until_idle(workbench, live)
    below = runs_below(workbench, live.run_id, live.entries)
    return in_envelope(run_reply(live.entries, alive=live.alive, below=below).waiting_for(asked))


def with_fields(behaviour: Behaviour, body: RunRequest) -> RunRequest:
    """The request with its data as a field, where the agent's input has one of that name."""
    if body.data is None or "data" not in (one.name for one in declared_of(behaviour)):
        return body
    told = {**body.variables, "data": _JSON.dump_json(body.data).decode()}
    return body.model_copy(update={"data": None, "variables": told})


async def _as_turn(workbench: Workbench, caller: Caller, agent: Agent, body: RunRequest, run_id: str) -> Run:
    """In the session that was named, or a new one."""
    named = session_named(workbench, caller, body.session, after=body.after)
    sent = await said(workbench, caller, body.text, body.attachments)
    async with session_of_request(
        workbench, caller, agent, named, variant=body.variant, model=body.model, variables=body.values
    ) as session:
        return await begin(workbench, caller, session, sent.text, sent.attachments, after=body.after, run_id=run_id)


async def _as_job(workbench: Workbench, caller: Caller, agent: Agent, body: RunRequest, run_id: str) -> Run:
    """In a session of its own, with nobody who waits."""
    if body.stream or body.session is not None or body.after is not None:
        raise WorkbenchError("A run in the background has a session of its own and no stream. Leave those out.")
    if body.model is not None:
        await check_model(workbench, body.model)
    check_variables(agent, body.variant or agent.active, body.values)
    sent = await said(workbench, caller, body.text, body.attachments)
    return await workbench.jobs.start(
        *(agent.id, sent.text),
        variant=body.variant,
        model=body.model,
        variables=body.values,
        attachments=sent.attachments,
        trigger=caller.trigger,
        run_id=run_id,
    )
