"""What stands where a prompt would be written, for an agent that is a workflow."""

from nicegui import ui

from app.domain.workflows.document import Workflow
from app.ui.elements.format import plural
from app.ui.elements.markup import icon, joined, tag


def nodes_note(workflow: Workflow, address: str) -> None:
    """Says that nodes answer, and leads to where they are built."""
    words = f"A workflow of {plural(len(workflow.nodes), 'node')} answers: it has no prompt and no model of its own."
    link = tag("a", icon("account_tree"), " Open in Build", cls="text-button", href=address, data_testid="open-build")
    ui.html(joined(tag("p", words, cls="faint"), link), sanitize=False, tag="section").classes("panel editor-section")
