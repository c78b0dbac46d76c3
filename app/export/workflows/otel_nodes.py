"""The spans of a workflow's nodes, for which the semantic conventions have no name of their own."""

from app.domain.events import Entry, NodeEnded, NodeStarted
from app.domain.trace import NodeRun, inner_call, scope_call, text_of
from app.export.otel_spans import INTERNAL, OpenSpan
from app.export.otel_values import Attributes, span_id


def node_span(entry: Entry, begun: NodeStarted | NodeEnded, node: NodeRun) -> OpenSpan:
    """One try of a node; below it what it calls, and the run that it starts, whose span is below its call's id."""
    values: Attributes = {
        "agent_playground.node.id": begun.node,
        "agent_playground.node.title": node.title,
        "agent_playground.node.kind": node.kind,
        "agent_playground.node.call.id": begun.call_id,
        "agent_playground.node.rounds": [*map(str, begun.rounds)] or None,
        "agent_playground.node.inputs": text_of(dict(node.inputs)) if node.inputs else None,
        "agent_playground.attempt": begun.attempt,
        "agent_playground.entry.seq": entry.seq,
    }
    place, around = span_id(entry.run_id, inner_call(begun.call_id, begun.attempt)), scope_call(begun.call_id)
    above = span_id(entry.run_id, around) if around else ""
    return OpenSpan(place, f"node {node.label}", INTERNAL, entry.at, values, above=above)


def ended_node(span: OpenSpan, ended: NodeEnded, node: NodeRun) -> None:
    """Take what came of it."""
    value = None if ended.retry_at else node.value
    span.attributes |= {
        "agent_playground.node.status": ended.status,
        "agent_playground.node.port": ended.port,
        "agent_playground.node.output": None if value is None else text_of(value),
        "agent_playground.node.pinned": True if ended.pinned else None,
    }


def within_node(span: OpenSpan, run_id: str, call_id: str) -> OpenSpan:
    """The call of a node's tool: the node has the call's id already."""
    span.id, span.above = span_id(run_id, f"{call_id}/tool"), span_id(run_id, call_id)
    return span
