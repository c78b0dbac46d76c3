"""A run as spans of time: model calls, tool calls, the nodes of a workflow, and the waits between them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.domain.events import (
    Entry,
    Forked,
    MessageAdded,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    NodeEnded,
    NodeStarted,
    PauseRequested,
    PauseResolved,
    RunFinished,
    RunResumed,
    ToolCalled,
    ToolReturned,
)
from app.domain.trace.clock import RunClock
from app.domain.trace.nodes import NodeRun, NodeRuns, scope_call

SpanKind = Literal["model", "tool", "person", "retry", "node"]


@dataclass(slots=True)
class Span:
    """Something that took time; the spans of parallel calls overlap."""

    kind: SpanKind
    """`person`: a person had to decide; `retry`: the wait before a failed model call was made again."""
    name: str
    """The model, the tool, the node, or why it waited."""
    seq: int
    """The entry that tells most of it: a model call's message, a tool's call, the request of a pause."""
    start_ms: float
    """Milliseconds since the run began; of a fork, its copied prefix ends when its own part begins."""
    end_ms: float | None = None
    """`None` while it goes on, and where the run was left."""
    first_token_ms: float | None = None
    """Milliseconds from its start to the model's first word."""
    failed: bool = False
    attempt: int = 1
    """Of a model call or a node, counted from 1; of a tool how often it was tried."""
    depth: int = 0
    """How many nodes it is within."""


def waterfall(entries: Sequence[Entry]) -> list[Span]:
    """The spans in the order of their beginnings; those within a node behind it."""
    follower = _Follower()
    for entry in entries:
        follower.take(entry)
    return follower.in_order()


def span_end(spans: Iterable[Span]) -> float:
    """Milliseconds from the run's beginning to the end of its last span, an open one counted by its start."""
    return max((span.end_ms if span.end_ms is not None else span.start_ms for span in spans), default=0.0)


class _Follower:
    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._clock = RunClock()
        self._last: Entry | None = None
        self._open: dict[str, Span] = {}
        """What goes on, by its call or pause."""
        self._model: Span | None = None
        """The model call whose message comes next."""
        self._retry: Span | None = None
        self._nodes = NodeRuns()
        self._node_spans: dict[str, Span] = {}
        """By the node's call: that of its last try."""
        self._inner: dict[int, list[Span]] = {}
        """By the identity of a node's span: those right below it."""

    def in_order(self) -> list[Span]:
        """All spans, those within a node behind it."""
        return [inner for span in self.spans for inner in self._with_inner(span)]

    def _with_inner(self, span: Span) -> Iterator[Span]:
        yield span
        for inner in self._inner.get(id(span), ()):
            yield from self._with_inner(inner)

    def take(self, entry: Entry) -> None:
        at = self._time_of(entry)
        node = self._nodes.take(entry)
        match entry.event:
            case NodeStarted(call_id=call_id, attempt=attempt) if node is not None:
                around = self._node_spans.get(scope_call(call_id))
                begun = Span("node", node.label, entry.seq, at, attempt=attempt)
                self._node_spans[call_id] = self._begin(f"node {call_id}", begun, around)
            case NodeEnded(call_id=call_id, status=status):
                if (ended := self._end(f"node {call_id}", at)) is not None:
                    ended.failed = status == "failed"
            case ToolCalled(call_id=call_id, name=name):
                self._begin(call_id, Span("tool", name, entry.seq, at), self._span_of(node))
            case PauseRequested(pause_id=pause_id, reason=reason, name=name):
                self._begin(pause_id, Span("person", name or reason, entry.seq, at), self._span_of(node))
            case _:
                self._take_other(entry, at)

    def _span_of(self, node: NodeRun | None) -> Span | None:
        return None if node is None else self._node_spans.get(node.call_id)

    def _take_other(self, entry: Entry, at: float) -> None:
        match entry.event:
            case ModelCalled(call_id=call_id, model=model, attempt=attempt):
                self._end_retry(at)
                self._model = self._begin(call_id, Span("model", model, entry.seq, at, attempt=attempt))
            case MessageAdded(origin="model") if self._model is not None:
                self._model.seq = entry.seq
            case ModelReturned() as returned:
                self._end_model(returned, at)
            case ModelFailed(call_id=call_id, retry_at=retry_at) as failed:
                self._fail(call_id, at)
                if retry_at is not None:
                    self._retry = Span("retry", failed.failure, entry.seq, at)
                    self.spans.append(self._retry)
            case ToolReturned() as answer:
                self._end_tool(answer, at)
            case PauseResolved(pause_id=pause_id):
                self._end(pause_id, at)
            case RunResumed():
                # What the app's end left open has no end of its own, but for nodes that wait or whose run goes on.
                self._open = {key: span for key, span in self._open.items() if span.kind == "node"}
            case RunFinished():
                self._end_retry(at)
            case _:
                pass

    def _time_of(self, entry: Entry) -> float:
        """Milliseconds since the run began."""
        if self._last is None:
            self._clock.begin(entry)
        elif isinstance(entry.event, Forked):
            self._clock.fork(entry, self._last.at)
        self._last = entry
        return (entry.at - (self._clock.began(entry.seq) or entry.at)).total_seconds() * 1000

    def _begin(self, key: str, span: Span, around: Span | None = None) -> Span:
        if around is None:
            self.spans.append(span)
        else:
            span.depth = around.depth + 1
            self._inner.setdefault(id(around), []).append(span)
        self._open[key] = span
        return span

    def _end(self, key: str, at: float) -> Span | None:
        span = self._open.pop(key, None)
        if span is not None:
            span.end_ms = at
        return span

    def _end_model(self, returned: ModelReturned, at: float) -> None:
        span = self._end(returned.call_id, at)
        if span is not None:
            span.first_token_ms = returned.first_token_ms
        self._model = None

    def _end_tool(self, answer: ToolReturned, at: float) -> None:
        span = self._end(answer.call_id, at)
        if span is not None:
            span.failed, span.attempt = answer.result.failed, answer.attempts

    def _fail(self, call_id: str, at: float) -> None:
        span = self._end(call_id, at)
        if span is not None:
            span.failed = True
        self._model = None

    def _end_retry(self, at: float) -> None:
        if self._retry is not None:
            self._retry.end_ms, self._retry = at, None
