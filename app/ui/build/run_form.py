"""What a run is given, asked for field by field, where its input takes more than a message."""

import json
from collections.abc import Mapping

from nicegui import ui
from pydantic import JsonValue

from app.domain.tools import JsonSchema
from app.domain.workflows.document import InputNode, Workflow
from app.engine.workflows.beginning import written_value
from app.ui.elements.buttons import button
from app.ui.elements.questions import answer_to, named_dialog
from app.ui.schema_form.form import SchemaForm

TEXT = "text"


def takes_more(workflow: Workflow) -> JsonSchema | None:
    """What the workflow takes, where a message alone does not say all of it."""
    takes = next((node.takes for node in workflow.nodes if isinstance(node, InputNode)), None)
    properties = takes.get("properties") if takes else None
    return takes if isinstance(properties, dict) and properties.keys() - {TEXT} else None


async def asked_for_input(takes: JsonSchema, last: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """The values that somebody gave, `last` filled in where there are some; `None` when they thought better of it."""
    with named_dialog("Run") as dialog, ui.card().classes("dialog-card").props("data-testid=run-form"):
        ui.html("What the run is given", sanitize=False, tag="h2").classes("section-title")
        form = SchemaForm(takes, last or None)

        def run() -> None:
            if not form.ask():
                dialog.submit(form.value)

        with ui.element("div").classes("row-line dialog-buttons"):
            button("Cancel", lambda: dialog.submit(None), look="quiet")
            button("Run", run, look="primary", icon="play_arrow", testid="run-form-run")
    return await answer_to(dialog, dict)


def as_message(given: Mapping[str, JsonValue]) -> tuple[str, dict[str, str]]:
    """The message that says it, and the values that go beside it; without a text the message is all of it as JSON."""
    text = given.get(TEXT)
    if not isinstance(text, str) or not text.strip():
        return json.dumps(dict(given), ensure_ascii=False), {}
    return text, {name: written_value(value) for name, value in given.items() if name != TEXT}
