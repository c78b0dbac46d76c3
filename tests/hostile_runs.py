"""Runs, sessions and what is listed of them, in which every text tries to become more than text."""

from collections.abc import Iterator, Sequence

from app.domain.agents import Parameters
from app.domain.errors import ErrorInfo
from app.domain.events import (
    Event,
    FileChanged,
    MessageAdded,
    ModelCalled,
    ModelFailed,
    PauseRequested,
    PauseResolved,
    RunFinished,
    RunResumed,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import (
    AppPart,
    FilePart,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    user_message,
)
from app.domain.provenance import AgentRef, Imported, Trigger
from app.domain.sessions import QueuedMessage, Session
from app.domain.tools import GrantedTool, ToolSpec
from app.domain.values import now, well_formed


def hostile_run(number: int, payloads: Sequence[str], session_id: str) -> Iterator[Event]:
    """A run that says each payload in every event; its name, model and outcome are the first."""
    first = payloads[0]
    yield _started(number, payloads, session_id)
    for place, payload in enumerate(payloads):
        yield from _said(place, payload)
        yield from _called(place, payload)
        yield from _decided(place, payload)
    match number % 4:
        case 0:
            yield RunFinished(status="failed", error=ErrorInfo(failure="internal", text=first, traceback=first))
        case 1:
            yield PauseRequested(pause_id="open", reason="question", question=first, asked_by=first, form=_form(first))
        case 2:
            yield PauseRequested(pause_id="open", reason="approval", name=first[:60], arguments={first: first})
        case _:
            yield MessageAdded(message=Message(role="assistant", parts=(TextPart(text=first),)), origin="model")


def _started(number: int, payloads: Sequence[str], session_id: str) -> RunStarted:
    first = payloads[0]
    return RunStarted(
        session_id=session_id,
        agent=AgentRef(id="a1", slug="hostile", name=first, variant=1),
        model=first,
        parameters=Parameters(stop=(first,)),
        system=Message(role="system", parts=(TextPart(text="\n".join(payloads)),)),
        variables={payload: payload for payload in payloads},
        tools=tuple(GrantedTool(spec=hostile_tool(payload, payload)) for payload in payloads),
        files={well_formed(payload): "0" * 64 for payload in payloads},
        output_schema=_form(first),
        trigger=Trigger(kind="api_key", name=first),
        imported=Imported(run_id=first, app=first, at=now()),
        background=number % 5 == 0,
    )


def _said(place: int, payload: str) -> Iterator[Event]:
    yield MessageAdded(message=user_message(payload, *hostile_attachments(payload)), origin="user")
    yield ModelCalled(call_id=f"m{place}", model=payload, parameters=Parameters(stop=(payload,)), message_count=1)
    yield ModelFailed(call_id=f"m{place}", failure="provider_error", text=payload, attempt=1)
    call = ToolCall(call_id=f"c{place}", name=payload[:60], arguments={payload: payload}, malformed=payload)
    thought = (ReasoningPart(text=payload), TextPart(text=payload), call)
    yield MessageAdded(message=Message(role="assistant", parts=thought, model=payload), origin="model")


def _called(place: int, payload: str) -> Iterator[Event]:
    name = well_formed(payload)
    yield ToolCalled(call_id=f"c{place}", name=payload[:60], arguments={payload: payload})
    yield FileChanged(call_id=f"c{place}", path=f"/{name}", before=None, after="0" * 64)
    view = AppPart(uri=name, server=name, artifact="0" * 64)
    result = ToolResult(
        call_id=f"c{place}",
        name=payload[:60],
        status="ok" if place % 2 else "error",
        parts=(TextPart(text=payload), *hostile_attachments(payload), view),
    )
    yield ToolReturned(call_id=f"c{place}", result=result, printed=payload, ms=1, traceback=payload)


def _decided(place: int, payload: str) -> Iterator[Event]:
    form = _form(payload)
    yield PauseRequested(
        pause_id=f"p{place}", reason="question", name=payload[:60], question=payload, asked_by=payload, form=form
    )
    yield PauseResolved(pause_id=f"p{place}", decision="edit", arguments={payload: payload}, note=payload, by=payload)
    yield RunResumed(by=payload, notes=(payload,))


def hostile_tool(name: str, payload: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=payload,
        parameters=_form(payload),
        title=payload,
        icon=payload,
        kit=payload,
        handles=(payload,),
    )


def _form(payload: str) -> dict[str, object]:
    described = {"type": "string", "title": payload, "description": payload, "enum": [payload], "default": payload}
    return {
        "type": "object",
        "title": payload,
        "description": payload,
        "properties": {payload: described},
        "required": [payload],
    }


def hostile_session(name: str, agent_id: str, slug: str, payload: str, runs: tuple[str, ...]) -> Session:
    return Session(
        id=name,
        agent_id=agent_id,
        agent_slug=slug,
        variant=1,
        title=payload,
        runs=runs,
        composer=payload,
        composer_attachments=hostile_attachments(payload),
        queue=(_queued(payload),),
        created_at=now(),
        updated_at=now(),
    )


def _queued(payload: str) -> QueuedMessage:
    attachments = hostile_attachments(payload)
    return QueuedMessage(id=payload, text=payload, attachments=attachments, created_at=now(), refusal=payload)


def hostile_attachments(payload: str) -> tuple[ImagePart, FilePart]:
    name = well_formed(payload)
    picture = ImagePart(artifact="0" * 64, media_type="image/png", alt=name)
    return picture, FilePart(artifact=name, media_type=name, filename=name, size=1)
