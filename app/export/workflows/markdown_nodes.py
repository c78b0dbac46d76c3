"""A node of a workflow in a Markdown review: what it was given, what it began, what came of it."""

from collections.abc import Iterator

from pydantic import JsonValue

from app.domain.trace import NodeRun
from app.export.markdown_text import fenced, linked, plain, pretty, quoted
from app.export.words import node_words

LONGEST_SHOWN = 8_000
"""Characters of a value; the trace has all of it."""


def node_head(number: int, run: NodeRun, runs: str) -> Iterator[str]:
    """Its title, how it went, what it was given and the runs that it began; `runs`: where these lie, or only named."""
    words = node_words(run)
    yield from (f"### Step {number}: {plain(run.label)}", "", f"{words[:1].upper()}{words[1:]}.", "")
    if run.inputs:
        yield from ("**Given**", "", *_value(run.inputs))
    for child in run.children:
        yield from (f"Began {linked(f'run {child}', runs)}, a record of its own.", "")


def node_end(run: NodeRun) -> Iterator[str]:
    """Why it failed, and what it gave, where that is not what its tool returned."""
    if run.error:
        yield from ("**Failed**", "", *quoted(run.error.text), "")
    if not run.as_returned and run.value is not None:
        yield from ("**Gave**", "", *_value(run.value))


def _value(value: JsonValue) -> Iterator[str]:
    is_text = isinstance(value, str)
    written = str(value) if is_text else pretty(value)
    yield from (*fenced(written[:LONGEST_SHOWN], "" if is_text else "json"), "")
    if (left := len(written) - LONGEST_SHOWN) > 0:
        yield from (f"*{left:,} more characters are left out here.*", "")
