"""The three kinds of span of a run, with the attributes that the semantic conventions give them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from app.domain.events import Entry, MessageAdded, ModelCalled, ModelReturned, RunStarted, ToolCalled
from app.domain.messages import Message, Role, Usage
from app.domain.provenance import caller_span
from app.domain.trace import Edited, RunRow, totals
from app.domain.trace.fork_view import fork_view
from app.export.otel_messages import Spoken, parts, text_of
from app.export.otel_values import Attributes, Span, attributes, nanoseconds, span_id, trace_id
from app.export.words import json_bytes

INTERNAL, CLIENT = 1, 3
OK, ERROR = 1, 2
LONGEST_OLD = 500
"""Characters of a value that was edited."""

PROVIDERS = {
    "gemini": "gcp.gemini",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Our names of providers that have another one in the conventions."""


@dataclass(slots=True)
class OpenSpan:
    """A span until its end is known."""

    id: str
    name: str
    kind: int
    began: datetime
    attributes: Attributes
    links: tuple[Span, ...] = ()
    above: str = ""
    """The span that it is right below; empty for that of the run."""

    def answered(self, returned: ModelReturned, output: str) -> None:
        """Take what the model's answer cost and why it ended."""
        reason, first = returned.finish_reason, returned.first_token_ms
        self.attributes |= {
            **usage_attributes(returned.usage),
            "gen_ai.response.finish_reasons": [reason] if reason else None,
            "gen_ai.response.time_to_first_chunk": first / 1000 if first is not None else None,
            "gen_ai.output.messages": output,
            "agent_playground.usage.cost_usd": returned.cost,
        }

    def closed(self, ended: datetime, *, failure: str = "", text: str = "", cut_off: bool = False) -> Span:
        """As OTLP writes it. `failure`: the class of an error, which `text` describes. What was `cut_off` is not OK."""
        otherwise: Span = {} if cut_off else {"code": OK}
        found: Span = {
            "spanId": self.id,
            "name": self.name,
            "kind": self.kind,
            "startTimeUnixNano": nanoseconds(self.began),
            "endTimeUnixNano": nanoseconds(max(ended, self.began)),
            "attributes": attributes({**self.attributes, "error.type": failure or None}),
            "status": {"code": ERROR, "message": text} if failure else otherwise,
        }
        above: Span = {"parentSpanId": self.above} if self.above else {}
        return {**found, **above, **({"links": list(self.links)} if self.links else {})}


def run_span(entries: Sequence[Entry], row: RunRow) -> OpenSpan:
    """`invoke_agent`: the whole run; that of a workflow is `invoke_workflow`."""
    first, sums = entries[0], totals(entries)
    started = first.event if isinstance(first.event, RunStarted) else None
    system = parts(started.system.parts) if started and started.system else None
    is_workflow = started is not None and started.workflow is not None
    operation = "invoke_workflow" if is_workflow else "invoke_agent"
    values: Attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider_of(row.model) or None,
        "gen_ai.request.model": model_of(row.model) or None,
        "gen_ai.workflow.name": row.agent.name if is_workflow else None,
        "gen_ai.agent.id": row.agent.id,
        "gen_ai.agent.name": row.agent.name,
        "gen_ai.agent.version": str(row.agent.variant),
        "gen_ai.conversation.id": row.session_id,
        **usage_attributes(sums.usage),
        "gen_ai.system_instructions": json_bytes(system).decode() if system else None,
        "gen_ai.tool.definitions": _definitions(started),
        "gen_ai.input.messages": text_of(_messages(entries, "user")),
        "gen_ai.output.messages": text_of(
            _messages(entries, "assistant")[-1:], finish_reason=_last_reason(entries, row)
        ),
        "agent_playground.run.id": row.run_id,
        "agent_playground.run.status": row.status,
        "agent_playground.run.purpose": row.purpose,
        "agent_playground.usage.cost_usd": None if sums.unpriced else sums.cost,
    }
    links: list[Span] = []
    if fork := fork_view(entries):
        origin = fork.forked.run_id
        links.append({"traceId": trace_id(origin), "spanId": span_id(origin, "run")})
        values |= {
            "agent_playground.fork.run.id": origin,
            "agent_playground.fork.entry.seq": fork.forked.seq,
            "agent_playground.fork.steps_reused": fork.reused,
            "agent_playground.fork.steps_new": fork.new,
        }
    place, name = span_id(row.run_id, "run"), f"{operation} {row.agent.name}"
    return OpenSpan(place, name, INTERNAL, row.started_at, values, tuple(links))


def place_of(row: RunRow) -> tuple[str, str]:
    """The trace that the run belongs to, and the span that its own is below: empty for the first."""
    caller, above = caller_span(row.trigger.traceparent), row.parent
    first = (above.root or above.run_id) if above else row.run_id
    trace, below = caller or (trace_id(first), "")
    return trace, span_id(above.run_id, above.call_id) if above else below


def chat_span(entry: Entry, called: ModelCalled, row: RunRow, spoken: Spoken) -> OpenSpan:
    """`chat`: one attempt to ask the model."""
    sent, left_out = spoken.sent()
    chosen = called.parameters
    values: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider_of(called.model),
        "gen_ai.request.model": model_of(called.model),
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": chosen.temperature,
        "gen_ai.request.top_p": chosen.top_p,
        "gen_ai.request.max_tokens": chosen.max_tokens,
        "gen_ai.request.seed": chosen.seed,
        "gen_ai.request.stop_sequences": list(chosen.stop) or None,
        "gen_ai.request.reasoning.level": chosen.reasoning_effort,
        "gen_ai.conversation.id": row.session_id,
        "gen_ai.input.messages": sent,
        "agent_playground.input.messages_left_out": left_out or None,
        "agent_playground.attempt": called.attempt,
        "agent_playground.entry.seq": entry.seq,
    }
    place = span_id(row.run_id, f"{called.call_id}/{called.attempt}")
    kind = INTERNAL if provider_of(called.model) == "demo" else CLIENT
    return OpenSpan(place, f"chat {model_of(called.model)}", kind, entry.at, values)


def tool_span(entry: Entry, called: ToolCalled, description: str, malformed: str | None) -> OpenSpan:
    """`execute_tool`: one call of a tool. `malformed`: what the model wrote where that are no arguments."""
    values: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": called.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": called.call_id,
        "gen_ai.tool.description": description or None,
        "gen_ai.tool.call.arguments": json_bytes(called.arguments).decode() if malformed is None else malformed,
        "agent_playground.entry.seq": entry.seq,
    }
    place = span_id(entry.run_id, called.call_id)
    return OpenSpan(place, f"execute_tool {called.name}", INTERNAL, entry.at, values)


def happening(entry: Entry) -> JsonValue:
    """What happened in the run and took no time, as an event of its span; the fields are the trace's own."""
    fields = entry.event.model_dump(mode="json", exclude={"type"})
    values: Attributes = {
        f"agent_playground.{name}": value if isinstance(value, str | int | float | bool) else json_bytes(value).decode()
        for name, value in fields.items()
        if value not in (None, "", {}, [])
    }
    name = f"agent_playground.{entry.event.type}"
    return {"timeUnixNano": nanoseconds(entry.at), "name": name, "attributes": attributes(values)}


def edited_event(one: Edited, at: datetime) -> JsonValue:
    """That a person edited something before the run went on from another one, with the beginning of what it was."""
    values: Attributes = {
        "agent_playground.edited.what": one.what,
        "agent_playground.entry.seq": one.seq,
        "gen_ai.tool.call.id": one.call_id or None,
        "agent_playground.edited.was": one.was if one.was is None else one.was[:LONGEST_OLD],
        "agent_playground.edited.was_stored": one.was is not None,
    }
    return {"timeUnixNano": nanoseconds(at), "name": "agent_playground.edited", "attributes": attributes(values)}


def usage_attributes(usage: Usage) -> Attributes:
    """Tokens; kinds of which there were none are left out."""
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
        "gen_ai.usage.cache_write.input_tokens": usage.cache_write_tokens or None,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens or None,
    }


def provider_of(model: str) -> str:
    """The provider of `provider/model` by its name in the conventions."""
    provider = model.partition("/")[0]
    return PROVIDERS.get(provider, provider)


def model_of(model: str) -> str:
    return model.partition("/")[2] or model


def _messages(entries: Sequence[Entry], role: Role) -> list[Message]:
    events = (entry.event for entry in entries)
    return [event.message for event in events if isinstance(event, MessageAdded) and event.message.role == role]


def _last_reason(entries: Sequence[Entry], row: RunRow) -> str:
    """Why the last answer ended, as the span of its call says it; a workflow may give one without a call."""
    answers = [entry.event for entry in entries if isinstance(entry.event, ModelReturned)]
    if not answers and row.status == "completed":
        return "stop"
    return (answers[-1].finish_reason if answers else None) or "error"


def _definitions(started: RunStarted | None) -> str | None:
    """The tools as the model got them."""
    specs = [tool.spec for tool in started.tools] if started else []
    found = [
        {"type": "function", "name": spec.name, "description": spec.description, "parameters": spec.parameters}
        for spec in specs
    ]
    return json_bytes(found).decode() if found else None
