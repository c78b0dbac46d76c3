"""What is wrong with a workflow, in lines that lead to its nodes."""

from app.domain.workflows.checking import errors
from app.domain.workflows.document import Workflow
from app.domain.workflows.references import Fault
from app.ui.build.sheet import fault_line
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, joined, tag

MANY_NODES = 300
MOST_FAULTS = 50


def node_count(workflow: Workflow, found: tuple[Fault, ...]) -> Html:
    """How many there are, and how many faults, which leads to the first."""
    number = len(workflow.nodes)
    many = ": large workflows are hard to follow. Move parts into workflows of their own" if number > MANY_NODES else ""
    wrong = errors(found)
    if not wrong:
        return joined(f"{plural(number, 'node')}{many} · no faults")
    first = tag("button", plural(len(wrong), "fault"), cls="link-button is-bad", data_node=wrong[0].node)
    return joined(f"{plural(number, 'node')}{many} · ", first)


def fault_lines(found: tuple[Fault, ...]) -> Html:
    """Each as a line that leads to its node."""
    rows = [
        tag(
            "li", tag("button", fault_line(fault), cls="fault-link", data_node=fault.node, data_testid="workflow-fault")
        )
        for fault in found[:MOST_FAULTS]
    ]
    if len(found) > MOST_FAULTS:
        rows.append(tag("li", f"And {len(found) - MOST_FAULTS} more.", cls="faint"))
    return tag("ul", *rows) if rows else Html("")
