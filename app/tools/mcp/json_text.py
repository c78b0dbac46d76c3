"""JSON that a person pasted: what is wrong with it is said with line and column."""

import json

from pydantic import JsonValue

from app.domain.errors import WorkbenchError

COMMENTS = ("//", "/*", "#")


def read_json(text: str) -> JsonValue:
    """Raises `WorkbenchError` with the place of the mistake, also for a key that is there twice."""
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise WorkbenchError(_mistake(text, error)) from None
    except RecursionError:
        raise WorkbenchError("This JSON is nested too deeply.") from None
    return value


def _once(pairs: list[tuple[str, JsonValue]]) -> JsonValue:
    found: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in found:
            raise WorkbenchError(f"{key!r} is there twice in the same object. Rename or remove one of them.")
        found[key] = value
    return found


def _mistake(text: str, error: json.JSONDecodeError) -> str:
    before, after = text[: error.pos].rstrip(), text[error.pos :].lstrip()
    if not text.strip():
        return "There is nothing to read. Paste the JSON that the server's instructions show."
    if before.endswith(",") and after[:1] in ("}", "]"):
        return f"{_place(text, len(before) - 1)}: a comma before {after[0]!r}. Remove it."
    if after.startswith(COMMENTS):
        return f"{_place(text, len(text) - len(after))}: a comment, which JSON does not have. Remove it."
    if after.startswith(("'", "“", "”")):
        return f'{_place(text, len(text) - len(after))}: {after[0]} in the place of a quotation mark. Write ".'
    return f"{_place(text, error.pos)}: {error.msg}."


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"Line {line}, column {position - text.rfind(chr(10), 0, position)}"
