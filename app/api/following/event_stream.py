"""A run as server-sent events, in the words of the AI SDK's UI message stream."""

import json
from collections.abc import AsyncIterator

from pydantic import JsonValue

from app.api.following.followed import FollowedRun
from app.api.following.live_text import Below, Piece, Quiet, TextPiece, WaitsBelow, pieces
from app.api.following.replies import PauseReply, ending_of
from app.domain.events import Entry, ModelFailed, PauseRequested, RunFinished, ToolCalled, ToolReturned

KEEP_ALIVE = ": nothing new\n\n"
DONE = "data: [DONE]\n\n"
LEFT = "The app was closed before the run had ended. Start it again and POST /api/v1/runs/{run_id}/resume."

Event = dict[str, JsonValue]


async def event_stream(live: FollowedRun, below: Below) -> AsyncIterator[str]:
    """The events of a run until its end, then `[DONE]`; a comment when nothing happens for a while."""
    async for piece in pieces(live, below=below):
        if isinstance(piece, Quiet):
            yield KEEP_ALIVE
        elif (event := event_of(piece)) is not None:
            yield sse(event)
    for event in _end(live):
        yield sse(event)
    yield DONE


def event_of(piece: Piece) -> Event | None:
    """What of a run is told while it goes on."""
    match piece:
        case TextPiece(kind=kind, call_id=call_id, text=text):
            return {"type": f"{kind}-delta", "id": call_id, "delta": text}
        case Entry(event=ToolCalled(call_id=call_id, name=name, arguments=arguments)):
            return {"type": "tool-input-available", "toolCallId": call_id, "toolName": name, "input": arguments}
        case Entry(event=ToolReturned(call_id=call_id, result=result)):
            error = result.text if result.failed else None
            output = None if result.failed else result.text
            return {"type": "tool-output-available", "toolCallId": call_id, "output": output, "error": error}
        case WaitsBelow(run_id, pause) | Entry(run_id=run_id, event=PauseRequested() as pause):
            return pause_of(pause, run_id)
        case Entry(event=ModelFailed() as failed):
            return retry_of(failed)
        case _:
            return None


def pause_of(pause: PauseRequested, run_id: str) -> Event:
    """That the run, or one below it, waits for a person."""
    return {"type": "pause-requested", **PauseReply.of(pause, run_id).model_dump(mode="json")}


def retry_of(failed: ModelFailed) -> Event | None:
    """That the model is asked again, and when; `None` where it is not."""
    if failed.retry_at is None:
        return None
    return {"type": "retry", "at": failed.retry_at.isoformat(), "code": failed.failure, "attempt": failed.attempt}


def sse(event: Event) -> str:
    """The event under its name; its data say the name too, for readers that look at nothing else."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _end(live: FollowedRun) -> list[Event]:
    ids: Event = {"runId": live.run_id, "sessionId": live.started.session_id}
    finish: Event = {"type": "finish", **ids, "status": live.status}
    ended = bool(live.entries) and isinstance(live.entries[-1].event, RunFinished)
    if not ended:
        return [{"type": "error", "errorText": LEFT.format(run_id=live.run_id), "code": "interrupted"}, finish]
    end = ending_of(live.entries, live.status)
    return [{"type": "error", "errorText": end.error, "code": end.failure}, finish] if end.error else [finish]
