"""What a client is answered: the same as structured content and as text."""

import json

from mcp_types import CallToolResult, ContentBlock, TextContent
from pydantic import JsonValue

from app.api.following.replies import PauseReply, RunReply

IN_THE_APP = "It waits for a person, in Agent Playground. Then get_run tells what came of it."
LATER = "It goes on. Call get_run with this run_id to hear what came of it."


def answer(reply: RunReply, *, structured: bool) -> CallToolResult:
    """How a run ended or stands; `structured` gives what its agent's output schema asks for as it is."""
    if reply.status == "completed" and structured:
        about = {"agent-playground/run_id": reply.run_id, "agent-playground/session_id": reply.session_id}
        return CallToolResult(content=_text(reply.output), structured_content=reply.output, meta=about)
    return told_of(_stand(reply), failed=reply.status not in ("completed", "running", "paused"))


def stands(reply: RunReply) -> CallToolResult:
    """How a run stands, for who asks for that: it is no failure of theirs."""
    return told_of(_stand(reply) | {"steps": len(reply.steps)}, failed=False)


def refused(sentence: str) -> CallToolResult:
    """That nothing was done, and why: for the model that asked to read."""
    return CallToolResult(content=[TextContent(text=sentence)], is_error=True)


def _stand(reply: RunReply) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {"status": reply.status, "run_id": reply.run_id, "session_id": reply.session_id}
    if reply.output_text and reply.status != "running":
        told["output"] = reply.output_text
    if reply.error:
        told["error"] = reply.error
    if reply.failure:
        told["failure"] = reply.failure
    if reply.status == "running":
        told["next"] = LATER
    if reply.pauses:
        told |= {"waits_for": [_awaited(pause) for pause in reply.pauses], "next": IN_THE_APP}
    return told


def _awaited(pause: PauseReply) -> JsonValue:
    return {"reason": pause.reason, "what": pause.awaited}


def told_of(told: dict[str, JsonValue], *, failed: bool = False) -> CallToolResult:
    """That, as it is and as text."""
    return CallToolResult(content=_text(told), structured_content=told, is_error=failed)


def _text(told: dict[str, JsonValue]) -> list[ContentBlock]:
    return [TextContent(text=json.dumps(told, ensure_ascii=False))]
