"""A case as it is typed: texts for what it holds, and back."""

import json
import re
from collections.abc import Callable, Sequence

from pydantic import JsonValue, ValidationError

from app.domain.errors import WorkbenchError
from app.domain.evals.cases import CaseContent, ExpectedCall, tags_of
from app.ui.elements.format import plural
from app.ui.evals.fields import FieldWords, fault_of, json_of

NO_CALLS = "none"
BETWEEN = re.compile(r"^[ \t]*---[ \t]*$", re.MULTILINE)
FIELDS = (
    FieldWords("input", "Message", "text"),
    FieldWords("reference", "Expected answer", "text", "Text. What begins with { or [ is read as JSON."),
    FieldWords("expected_calls", "Expected calls of tools", "text",
               f'One a line: calculator {{"operation": "add"}}. The arguments may be left out; “{NO_CALLS}”: no call.'),
    FieldWords("tags", "Tags", hint="Separated by commas"),
    FieldWords("must_pass", "Must pass before a variant is promoted", "switch"),
    FieldWords("note", "Note", "text"),
)  # fmt: skip
MORE = (
    FieldWords("turns", "Further messages of the user", "text", "A line with --- stands between two of them."),
    FieldWords("goal", "Or a simulated user: its goal", "text", "A model that says the next messages to reach it."),
    FieldWords("persona", "Its persona", "text"),
    FieldWords("model", "Its model", "model"),
    FieldWords("most_turns", "Messages at most", "number"),
    FieldWords("variables", "Variables", "text", "One a line: name = value"),
    FieldWords("data", "Data", "json", "JSON that is appended to the message, as the API does with it"),
)
_BOXES = tuple(words.name for words in (*FIELDS, *MORE))
_USER = ("goal", "persona", "model", "most_turns")


def texts_of(case: CaseContent) -> dict[str, JsonValue]:
    """By field: what stands in its box."""
    user: dict[str, JsonValue] = case.user.model_dump(mode="json") if case.user else {}
    return {
        "input": case.input,
        "reference": written_answer(case.reference),
        "expected_calls": written_calls(case.expected_calls),
        "tags": ", ".join(case.tags),
        "must_pass": case.must_pass,
        "note": case.note,
        "turns": "\n---\n".join(case.turns),
        **user,
        "variables": _written_variables(case.variables),
        "data": None if case.data in ([], {}) else case.data,  # for which a box shows nothing
    }


def content_of(typed: dict[str, JsonValue], before: CaseContent) -> dict[str, object]:
    """What the case says by what was typed; raises `WorkbenchError`.

    What no box shows, and what its box says as it did, stays as it was `before`.
    """
    written = texts_of(before)
    changed = [name for name in _BOXES if _in_box(typed.get(name)) != _in_box(written.get(name))]
    said = {field: _read(field, typed) for field in ("user" if name in _USER else name for name in changed)}
    if not str(said.get("input", before.input)).strip() and not before.attachments:
        raise WorkbenchError("Write the message that the agent gets.")
    kept = {name: getattr(before, name) for name in CaseContent.model_fields if name not in said}
    try:
        read = CaseContent.model_validate({**kept, **said})
    except ValidationError as error:
        raise fault_of(error) from error
    return {name: getattr(read, name) for name in CaseContent.model_fields}


def also_holds(case: CaseContent, *, recorded: bool) -> str:
    """What it holds that no box shows; empty for nothing."""
    counts = (
        (len(case.files), "file of its session"),
        (len(case.history), "message before the first"),
    )
    found = [plural(number, noun) if number == 1 else _several(number, noun) for number, noun in counts if number]
    if recorded:
        found.append("the recorded results of its tools")
    return f"It also holds {', '.join(found)}." if found else ""


def written_answer(reference: JsonValue) -> str:
    if reference is None:
        return ""
    return reference if isinstance(reference, str) else json.dumps(reference, indent=2, ensure_ascii=False)


def written_calls(calls: Sequence[ExpectedCall] | None) -> str:
    if calls is None:
        return ""
    return "\n".join(map(call_words, calls)) or NO_CALLS


def call_words(call: ExpectedCall) -> str:
    """`calculator {"operation": "add"}`"""
    return call.name if call.arguments is None else f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}"


def _several(number: int, noun: str) -> str:
    first, _, rest = noun.partition(" ")
    return f"{number:,} {first}s {rest}".strip()


def _in_box(value: JsonValue) -> str:
    """What tells it from another value in its box, where blanks look like nothing."""
    is_blank = value is None or (isinstance(value, str) and not value.strip())
    return "" if is_blank else json.dumps(value)


def _read(field: str, typed: dict[str, JsonValue]) -> object:
    value = typed.get(field)
    match field:
        case "must_pass":
            return value is True
        case "user":
            return _user(typed)
        case "data":
            return value
        case _:
            return _READERS[field](value if isinstance(value, str) else "")


def _answer(typed: str) -> JsonValue:
    text = typed.strip()
    return (json_of(text, "Expected answer") if text[:1] in ("{", "[") else typed) if text else None


def _calls(typed: str) -> tuple[ExpectedCall, ...] | None:
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if not lines:
        return None
    return () if lines == [NO_CALLS] else tuple(map(_call, lines))


def _call(line: str) -> ExpectedCall:
    name, _, written = line.partition(" ")
    if not written.strip():
        return ExpectedCall(name=name)
    arguments = json_of(written, f"Expected call of {name}")
    if not isinstance(arguments, dict):
        raise WorkbenchError(f'Expected call of {name}: arguments are JSON with names, such as {{"x": 5}}.')
    return ExpectedCall(name=name, arguments=arguments)


def _written_variables(variables: dict[str, str]) -> str:
    """A line for each; JSON where a line would be read as something else."""
    if all(_fits_a_line(name, value) for name, value in variables.items()):
        return "\n".join(f"{name} = {value}" for name, value in variables.items())
    return json.dumps(variables, indent=2, ensure_ascii=False)


def _fits_a_line(name: str, value: str) -> bool:
    line = f"{name} = {value}"
    before, _, after = line.partition("=")
    is_read_back = (before.strip(), after.strip()) == (name, value) and line.splitlines() == [line]
    return is_read_back and name[:1] not in ("", "{")


def _turns(typed: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, BETWEEN.split(typed))))


def _variables(typed: str) -> dict[str, str]:
    if typed.lstrip().startswith("{"):
        found = json_of(typed, "Variables")
        return {name: str(value) for name, value in found.items()} if isinstance(found, dict) else {}
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if wrong := next((line for line in lines if line.find("=") < 1), ""):
        raise WorkbenchError(f"Variables: write {wrong!r} as name = value.")
    return {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}


def _user(typed: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    said = {name: typed[name] for name in _USER if name in typed}
    return said if said.get("goal") else None


_READERS: dict[str, Callable[[str], object]] = {
    "input": str,
    "reference": _answer,
    "expected_calls": _calls,
    "tags": tags_of,
    "note": str.strip,
    "turns": _turns,
    "variables": _variables,
}
"""By field: what is typed as a text, read."""
