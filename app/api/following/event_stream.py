"""A run as server-sent events, in the words of the AI SDK's UI message stream."""

import json
from collections.abc import AsyncIterator

from pydantic import JsonValue

from app.api.following.followed import FollowedRun
from app.api.following.live_text import Piece, Quiet, TextPiece, pieces
from app.api.following.replies import PauseReply, error_in_words
from app.domain.events import Entry, PauseRequested, RunFinished, ToolCalled, ToolReturned

KEEP_ALIVE = ": nothing new\n\n"
DONE = "data: [DONE]\n\n"
LEFT = "The app was closed before the run had ended. Start it again and POST /api/v1/runs/{run_id}/resume."

Event = dict[str, JsonValue]


async def event_stream(live: FollowedRun) -> AsyncIterator[str]:
    """The events of a run until its end, then `[DONE]`; a comment when nothing happens for a while."""
    async for piece in pieces(live):
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
        case Entry(event=PauseRequested() as pause):
            return {"type": "pause-requested", **PauseReply.of(pause).model_dump(mode="json")}
        case _:
            return None


def sse(event: Event) -> str:
    """The event under its name; its data say the name too, for readers that look at nothing else."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _end(live: FollowedRun) -> list[Event]:
    ids: Event = {"runId": live.run_id, "sessionId": live.started.session_id}
    finish: Event = {"type": "finish", **ids, "status": live.status}
    ended = bool(live.entries) and isinstance(live.entries[-1].event, RunFinished)
    words = error_in_words(live.entries) if ended else LEFT.format(run_id=live.run_id)
    return [{"type": "error", "errorText": words}, finish] if words else [finish]
