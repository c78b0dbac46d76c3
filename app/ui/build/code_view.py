"""The workflow as JSON, to be read and written; what it cannot be is said with its line, and changes nothing."""

import json
from collections.abc import Callable

from nicegui import ui
from pydantic import ValidationError

from app.domain.workflows.document import LARGEST, Workflow
from app.export.workflows.workflow_file import said
from app.ui.elements.markup import icon, tag
from app.ui.elements.visible import visible
from app.ui.markdown.code_editor import CodeEditor
from app.ui.schema_form.json import BrokenJson, read_json


class CodeView(ui.element):
    """`on_workflow` gets each other document that is written and can be one."""

    def __init__(self, workflow: Workflow, on_workflow: Callable[[Workflow], None]) -> None:
        super().__init__("div")
        self.classes("workflow-code stack")
        self._on_workflow = on_workflow
        self._workflow = workflow
        with self:
            self._note = ui.html(sanitize=False).classes("sheet-note").props("role=status data-testid=code-note")
            self._editor = CodeEditor(
                workflow_text(workflow), label="The workflow as JSON", on_edit=self._edited, on_save=self._saved
            )

    def show(self, workflow: Workflow) -> None:
        """Show another document; what was written and is none stays until then."""
        if workflow != self._workflow:
            self._workflow = workflow
            self._editor.put(workflow_text(workflow))
            self._note.set_content("")

    def _edited(self) -> None:
        text = self._editor.text
        try:
            workflow = read_workflow(text)
        except BrokenJson as problem:
            self._note.set_content(tag("span", icon("error_outline"), visible(str(problem)), cls="is-bad"))
            return
        self._note.set_content("")
        if workflow != self._workflow:
            self._workflow = workflow
            self._on_workflow(workflow)

    async def _saved(self) -> None:
        """What is written counts already."""


def read_workflow(text: str) -> Workflow:
    """The workflow in that text. Raises `BrokenJson` with the line where it is none."""
    if len(text) > 2 * LARGEST:
        raise BrokenJson(f"The text is longer than {2 * LARGEST:,} characters.")
    read = read_json(text)
    try:
        return Workflow.model_validate(read)
    except ValidationError as problem:
        fault = problem.errors()[0]
        kind = _kind_at(read, fault["loc"])
        place = ".".join(str(step) for step in fault["loc"] if step != kind)
        raise BrokenJson(f"{_line_of(text, read, fault['loc'])}{place or 'The document'}: {fault['msg']}.") from problem


def _kind_at(read: object, loc: tuple[int | str, ...]) -> str:
    """The kind of the node that a fault is in: pydantic names it as a step of the way there, and it is none."""
    match read, loc:
        case {"nodes": list(nodes)}, ("nodes", int(place), str(kind), *_) if place < len(nodes):
            return kind
        case _:
            return ""


def _line_of(text: str, read: object, loc: tuple[int | str, ...]) -> str:
    """`Line 12: ` for what is wrong in a node, by the line of its id."""
    match read, loc:
        case {"nodes": list(nodes)}, ("nodes", int(place), *_) if place < len(nodes) and isinstance(nodes[place], dict):
            written = json.dumps(nodes[place].get("id"))
            at = text.find(f'"id": {written}')
            return f"Line {text.count(chr(10), 0, at) + 1}: " if at >= 0 else ""
        case _:
            return ""


def workflow_text(workflow: Workflow) -> str:
    """Its JSON, without what is as in any new node."""
    nodes = [{"kind": node.kind, **said(node)} for node in workflow.nodes]
    document = {"nodes": nodes, "edges": [edge.model_dump() for edge in workflow.edges]}
    return json.dumps(document, indent=2, ensure_ascii=False)
