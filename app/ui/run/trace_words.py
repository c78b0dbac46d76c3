"""The words for the steps of a run."""

from datetime import datetime

from app.domain.events import Origin
from app.domain.trace import CallView, NodeRun, Step, StepType, TrajectoryStep, text_of
from app.ui.conversation.tool_body import STATUS_WORDS
from app.ui.elements.format import duration, head, plural, tokens
from app.ui.graph.node_words import kind_icon, kind_words, standing
from app.ui.run.trace_list import Line

LABELS: dict[StepType, str] = {
    "user-request": "User",
    "agent-thought": "Thought",
    "tool-call": "Tool call",
    "tool-result": "Tool result",
    "agent-response": "Answer",
    "node": "Node",
}
REQUESTS: dict[Origin, str] = {"steer": "User, breaking in", "queued": "User, from the queue", "app": "An app"}
ICONS: dict[StepType, str] = {
    "user-request": "person",
    "agent-thought": "psychology",
    "tool-call": "build",
    "tool-result": "check_circle",
    "agent-response": "smart_toy",
    "node": "schema",
}


def step_line(step: Step, number: int, began: datetime, *, alive: bool = True) -> Line:
    """The step on one line; `number` counts from 1, `alive`: the run goes on."""
    failed = (step.result is not None and step.result.failed) or (step.node is not None and step.node.state == "failed")
    return {
        "type": step.type,
        "tone": "failed" if failed else "",
        "number": f"{number:,}",
        "label": step_label(step),
        "text": _line_text(step),
        "note": _line_note(step, began, alive=alive),
    }


def step_label(step: Step) -> str:
    """What kind of step it is; of a message of the user also how it came in."""
    if step.node is not None:
        return kind_words(step.node)
    return REQUESTS.get(step.origin, LABELS[step.type]) if step.type == "user-request" else LABELS[step.type]


def step_icon(step: Step) -> str:
    if step.node is not None:
        return kind_icon(step.node)
    return "alt_route" if step.type == "user-request" and step.origin == "steer" else ICONS[step.type]


def trajectory_line(step: TrajectoryStep, *, alive: bool = True) -> Line:
    if step.node is not None:
        return _node_line(step, step.node, alive=alive)
    failed = any(call.state == "failed" for call in step.calls)
    text = step.decision.text if step.decision.kind == "respond" else acts(step)
    return {
        "type": step.decision.kind,
        "tone": "failed" if failed else "",
        "number": f"{step.number:,}",
        "label": "Answer" if step.decision.kind == "respond" else "Act",
        "text": head(text or step.decision.reasoning),
        "note": f"{tokens(step.decision.usage.total_tokens)}, {duration(step.decision.ms)}",
    }


def _node_line(step: TrajectoryStep, node: NodeRun, *, alive: bool) -> Line:
    return {
        "type": "node",
        "tone": "failed" if node.state == "failed" else "",
        "number": f"{step.number:,}",
        "label": "Node",
        "text": head(node_text(node)),
        "note": standing(node, alive=alive) if node.ms is None else duration(node.ms),
    }


def node_text(node: NodeRun) -> str:
    """`Total: 6`: its title, and what it gave or why it failed."""
    said = (node.error.text if node.error else "") or text_of(node.value)
    return f"{node.label}: {said}" if said else node.label


def acts(step: TrajectoryStep) -> str:
    """The calls of the step: `calculator (operation: add, x: 5)`, one behind the other."""
    return "; ".join(f"{call.name} ({arguments_head(call)})" for call in step.calls[:8])


def arguments_head(call: CallView) -> str:
    """The call's arguments on one line."""
    if call.malformed is not None:
        return head(call.malformed)
    return head(", ".join(f"{name}: {head(str(value), 40)}" for name, value in list(call.arguments.items())[:6]))


def decided(step: TrajectoryStep) -> str:
    """What the model decided, in words."""
    if step.decision.kind == "respond":
        return "Answer"
    together = " side by side" if len(step.calls) > 1 else ""
    return f"Make {plural(len(step.calls), 'tool call')}{together}"


def since(began: datetime, moment: datetime) -> str:
    """How long after the run's beginning: `+1.2 s`."""
    ms = (moment - began).total_seconds() * 1000
    return "at once" if ms < 1 else f"+{duration(ms)}"


def _line_text(step: Step) -> str:
    if step.type == "tool-call" and step.call is not None:
        return f"{step.call.name} ({arguments_head(step.call)})"
    if step.type == "tool-result" and step.result is not None:
        return f"{step.result.name}: {head(step.text) or STATUS_WORDS[step.result.status]}"
    return head(node_text(step.node) if step.node is not None else step.text)


def _line_note(step: Step, began: datetime, *, alive: bool) -> str:
    if step.type == "tool-result" and step.call is not None and step.call.edited_result is not None:
        return ""
    if step.type == "tool-result" and step.call is not None and step.call.ms is not None:
        return duration(step.call.ms)
    if step.node is not None:
        return standing(step.node, alive=alive) if step.node.ms is None else duration(step.node.ms)
    return since(began, step.at)
