"""What a run is given, asked for field by field, where its input takes more than a message."""

import json
from collections.abc import KeysView, Mapping

from nicegui import ui
from pydantic import JsonValue

from app.domain.tools import JsonSchema
from app.domain.workflows.document import TEXT, InputNode, Workflow
from app.engine.workflows.beginning import fields_of, read_value, written_value
from app.ui.elements.buttons import button
from app.ui.elements.questions import answer_to, keep_typed, named_dialog
from app.ui.schema_form.form import SchemaForm


def takes_more(workflow: Workflow) -> JsonSchema | None:
    """What the workflow takes, where a message alone does not say all of it."""
    takes = next((node.takes for node in workflow.nodes if isinstance(node, InputNode)), None)
    return takes if takes and names_of(takes) - {TEXT} else None


def names_of(takes: JsonSchema) -> KeysView[str]:
    """What the fields of such an input are called."""
    return fields_of(takes).keys()


def given_before(takes: JsonSchema, variables: Mapping[str, str]) -> dict[str, JsonValue]:
    """What of a session's values fills its fields."""
    fields = fields_of(takes)
    return {name: read_value(fields[name], value) for name, value in variables.items() if name in fields}


async def asked_for_input(takes: JsonSchema, last: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """The values that somebody gave, `last` filled in where there are some; `None` when they thought better of it."""
    with named_dialog("Run") as dialog, ui.card().classes("dialog-card").props("data-testid=run-form") as card:
        ui.html("What the run is given", sanitize=False, tag="h2").classes("section-title")
        form = SchemaForm(takes, last or None)

        def run() -> None:
            if not form.ask():
                dialog.submit(form.value)

        with ui.element("div").classes("row-line dialog-buttons"):
            button("Cancel", lambda: dialog.submit(None), look="quiet")
            button("Run", run, look="primary", icon="play_arrow", testid="run-form-run")
    keep_typed(dialog, card)
    return await answer_to(dialog, dict)


def as_message(given: Mapping[str, JsonValue]) -> tuple[str, dict[str, str]]:
    """The message that says it, and the values that go beside it; without a text the message is all of it as JSON."""
    text = given.get(TEXT)
    if not isinstance(text, str) or not text.strip():
        return json.dumps(dict(given), ensure_ascii=False), {}
    return text, {name: written_value(value) for name, value in given.items() if name != TEXT}
