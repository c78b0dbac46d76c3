"""Spans without what was said: no message, no argument, no result, and no text that may quote one."""

from pydantic import JsonValue

from app.export.otel_values import Span

_SPAN = (
    *("gen_ai.operation.", "gen_ai.provider.", "gen_ai.request.", "gen_ai.response.", "gen_ai.usage.", "gen_ai.agent."),
    *("gen_ai.conversation.id", "gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.tool.call.id", "error.type"),
    *("agent_playground.run.", "agent_playground.usage.", "agent_playground.fork.", "agent_playground.attempt"),
    *("agent_playground.entry.seq", "agent_playground.unfinished", "agent_playground.input.messages_left_out"),
    *("agent_playground.node.id", "agent_playground.node.kind", "agent_playground.node.call.id"),
    *("agent_playground.node.status", "agent_playground.node.port", "agent_playground.node.pinned"),
    "gen_ai.workflow.name",
)
"""How the names of those attributes begin that tell what ran, when, and what it cost."""
_EVENT = (
    *("agent_playground.entry.seq", "agent_playground.edited.what", "gen_ai.tool.call.id"),
    *("agent_playground.call_id", "agent_playground.child_run_id", "agent_playground.limit"),
    *("agent_playground.allowed", "agent_playground.reached", "agent_playground.tokens_"),
)


def without_content(span: Span) -> Span:
    """The span with the attributes that are known to say nothing of what was said; any other is left out."""
    status, events = span["status"], span.get("events")
    code = status.get("code") if isinstance(status, dict) else None
    bare: Span = {**span, "attributes": _only(span.get("attributes"), _SPAN), "status": {"code": code}}
    if isinstance(events, list):
        bare["events"] = [
            {**event, "attributes": _only(event.get("attributes"), _EVENT)}
            for event in events
            if isinstance(event, dict)
        ]
    return bare


def _only(attributes: JsonValue, wanted: tuple[str, ...]) -> list[JsonValue]:
    found = attributes if isinstance(attributes, list) else []
    return [one for one in found if isinstance(one, dict) and str(one.get("key")).startswith(wanted)]
