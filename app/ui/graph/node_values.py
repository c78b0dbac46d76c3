"""What a node was given and what it gave in a run, as boxes."""

import json

from pydantic import JsonValue

from app.domain.trace import NodeRun
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.visible import visible

SHOWN = 20_000
"""Characters of a value that are shown."""
ON_A_LINE = 100
"""Characters of JSON up to which it stands on one line."""


def value_box(title: str, value: JsonValue, *, testid: str) -> Html:
    """A text as it is, anything else as JSON; of a long one the beginning."""
    written = value if isinstance(value, str) else _json(value)
    more = len(written) - SHOWN
    note = tag("p", f"{more:,} more characters.", cls="faint") if more > 0 else ""
    box = tag("pre", visible(written[:SHOWN]), tabindex="0")
    return tag("section", tag("p", title, cls="part-title"), box, note, cls="tool-body node-value", data_testid=testid)


def values_of(run: NodeRun) -> Html:
    """Both, and why it failed."""
    error = tag("div", visible(run.error.text[:SHOWN]), cls="tool-error", data_testid="node-error") if run.error else ""
    given = value_box("Given", run.inputs, testid="node-inputs") if run.inputs else ""
    is_told = run.ended and (run.value is not None or run.whole_output is not None)
    return joined(given, error, value_box("Gave", run.value, testid="node-output") if is_told else "")


def _json(value: JsonValue) -> str:
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= ON_A_LINE else json.dumps(value, ensure_ascii=False, indent=2)
