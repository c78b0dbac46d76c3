"""A run as OpenTelemetry spans: OTLP JSON, named by the semantic conventions for generative AI.

One trace a run, with the runs that its agents started, below the span of whoever called the API with a `traceparent`:
`invoke_agent` holds a `chat` span for each attempt to ask the model and an `execute_tool` span for each call; of a
workflow `invoke_workflow` holds a span for each try of a node, with what it called below. Pauses, limits and what was
left out are events of the first. A fork has spans of what came after its copied prefix, and a link to the run that has
the others. What the conventions (in development; as of November 2026) have no name for is called `agent_playground.*`.
Ids are made from the run's: each export has the same.
Sources: open-telemetry/semantic-conventions-genai docs/gen-ai; opentelemetry.io/docs/specs/otlp for the JSON.
"""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from app.domain.events import (
    ChildStarted,
    ContextTrimmed,
    Entry,
    LimitReached,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    NodeEnded,
    NodeStarted,
    PauseRequested,
    PauseResolved,
    RunResumed,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.trace import NONE_EDITED, Edits, NodeRun, NodeRuns, error_of, run_row
from app.domain.trace.fork_view import fork_of
from app.export.otel_messages import Spoken
from app.export.otel_spans import OpenSpan, chat_span, edited_event, happening, place_of, run_span, tool_span
from app.export.otel_values import Span, attributes
from app.export.words import json_bytes
from app.export.workflows.otel_nodes import ended_node, node_span, within_node


def otlp_json(entries: Sequence[Entry], *, app: str, alive: bool = False, edits: Edits = NONE_EDITED) -> bytes:
    """The run as an OTLP `TracesData`; `entries` begin with `RunStarted`. `app` is the version that writes it."""
    return json_bytes(traces_data(spans_of(entries, alive=alive, edits=edits), app=app))


def traces_data(spans: Sequence[Span], *, app: str) -> dict[str, JsonValue]:
    """The spans as that version of the app gives them away."""
    resource: JsonValue = {"attributes": attributes({"service.name": "agent-playground", "service.version": app})}
    scope: JsonValue = {"scope": {"name": "agent-playground", "version": app}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def spans_of(entries: Sequence[Entry], *, alive: bool = False, edits: Edits = NONE_EDITED) -> list[Span]:
    """The run's own span, then the others in the order in which they ended."""
    return _Spans(entries, edits, alive=alive).all()


class _Spans:
    """Reads a trace from its beginning and closes a span with each event that ends something."""

    def __init__(self, entries: Sequence[Entry], edits: Edits, *, alive: bool) -> None:
        self._entries = entries
        self._edits = edits
        self._row = run_row(entries, alive=alive)
        self._spoken = Spoken()
        self._open: dict[str, OpenSpan] = {}
        self._closed: list[Span] = []
        self._happened: list[JsonValue] = []
        self._tools: dict[str, str] = {}
        self._nodes = NodeRuns()

    def all(self) -> list[Span]:
        copied, forked = fork_of(self._entries) or (0, None)
        anew = set(forked.edited) if forked else set()
        for entry in self._entries:
            if entry.seq == 0 or entry.seq > copied:  # the trace of the run it was copied from has the others
                self._take(entry)
            elif entry.seq in anew and isinstance(entry.event, NodeEnded):
                self._take(entry.model_copy(update={"at": max(entry.at, self._row.started_at)}))
            self._spoken.take(entry)
        for unfinished in self._open.values():
            unfinished.attributes["agent_playground.unfinished"] = True
            self._closed.append(unfinished.closed(self._entries[-1].at, cut_off=True))
        error = error_of(self._entries)
        failure, text = (error.failure, error.text) if error else ("", "")
        run, cut_off = run_span(self._entries, self._row), self._row.status != "completed"
        root = run.closed(self._entries[-1].at, failure=failure, text=text, cut_off=cut_off)
        root["events"] = [*self._edited(), *self._happened]
        trace, above = place_of(self._row)
        ids: Span = {"traceId": trace}
        parent: Span = {"parentSpanId": str(root["spanId"])}
        top: Span = {**ids, "parentSpanId": above} if above else ids
        return [{**top, **root}, *({**ids, **parent, **span} for span in self._closed)]

    def _edited(self) -> Iterator[JsonValue]:
        """What a person edited, at the time that it has in the run."""
        first, places = self._entries[0], {entry.seq: entry for entry in self._entries}
        for one in self._edits.all:
            yield edited_event(one, max(places.get(one.seq, first).at, self._row.started_at))

    def _take(self, entry: Entry) -> None:
        node = self._nodes.take(entry)
        match entry.event:
            case RunStarted(tools=tools):
                self._tools = {tool.spec.name: tool.spec.description for tool in tools}
            case NodeStarted() as begun if node is not None:
                self._open[f"node {begun.call_id}"] = node_span(entry, begun, node)
            case NodeEnded() as ended if node is not None:
                self._ended(entry, ended, node)
            case ModelCalled() as called:
                self._open[called.call_id] = chat_span(entry, called, self._row, self._spoken)
            case ModelReturned() as returned:
                self._answered(entry, returned)
            case ModelFailed() as failed:
                self._end(entry, failed.call_id, failure=failed.failure, text=failed.text)
            case ToolCalled() as call:
                span = tool_span(entry, call, self._tools.get(call.name, ""), self._spoken.malformed.get(call.call_id))
                self._open[call.call_id] = within_node(span, entry.run_id, call.call_id) if node else span
            case ToolReturned() as returned_tool:
                self._returned(entry, returned_tool)
            case PauseRequested() | PauseResolved() | ContextTrimmed() | LimitReached() | RunResumed() | ChildStarted():
                self._happened.append(happening(entry))
            case _:
                pass

    def _answered(self, entry: Entry, returned: ModelReturned) -> None:
        if (span := self._open.get(returned.call_id)) is not None:
            span.answered(returned, self._spoken.said(returned))
        self._end(entry, returned.call_id)

    def _ended(self, entry: Entry, ended: NodeEnded, node: NodeRun) -> None:
        """A node that was skipped has no span; one that is pinned has."""
        if ended.pinned:
            self._open[f"node {ended.call_id}"] = node_span(entry, ended, node)
        if (span := self._open.get(f"node {ended.call_id}")) is not None:
            ended_node(span, ended, node)
        failed, error = ended.status == "failed", ended.error
        failure = (error.failure if error else "internal") if failed else ""
        text, cut_off = error.text if error else "", ended.status == "cancelled"
        self._end(entry, f"node {ended.call_id}", failure=failure, text=text, cut_off=cut_off)

    def _returned(self, entry: Entry, returned: ToolReturned) -> None:
        if (span := self._open.get(returned.call_id)) is not None:
            span.attributes["gen_ai.tool.call.result"] = returned.result.text
        failed = returned.result.failed
        self._end(entry, returned.call_id, failure=returned.result.status if failed else "", text=returned.result.text)

    def _end(self, entry: Entry, call_id: str, *, failure: str = "", text: str = "", cut_off: bool = False) -> None:
        if (span := self._open.pop(call_id, None)) is not None:
            self._closed.append(span.closed(entry.at, failure=failure, text=text, cut_off=cut_off))
