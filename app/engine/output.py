"""Whether an answer is the JSON that its agent's output schema asks for.

A schema may come out of an imported file, so nothing in it is trusted: no reference is fetched from anywhere, regular
expressions run in an engine without backtracking, and a schema that refers to itself without end is given up.
"""

import importlib
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from types import ModuleType

import orjson
from pydantic import JsonValue
from pydantic_core import SchemaError, SchemaValidator, core_schema

from app.domain.tools import JsonSchema

Keyword = Callable[..., Iterator[object]]
"""How `jsonschema` checks one word of a schema: given validator, value, instance and schema, it yields errors."""

_FENCED = re.compile(r"\A```[a-zA-Z]*\n(.*)\n```\Z", re.DOTALL)
_MOST_PROBLEMS = 20
_LONGEST_PROBLEM = 300
_MOST_REFERENCES = 2_000


class EndlessSchema(Exception):
    """The schema's references lead to more work than an answer is worth."""


def check_output(schema: JsonSchema, text: str) -> tuple[str, ...]:
    """What is wrong with the answer, a sentence for each problem (20 at most); empty when it fits the schema.

    A Markdown fence around the JSON is read over, as many models write one.
    """
    try:
        answer = _parsed(text)
    except ValueError as error:
        return (f"The answer is not JSON: {error}.",)
    if problem := schema_problem(schema):
        return (f"The output schema cannot be used: {problem} Change it in the agent's editor.",)
    try:
        return tuple(islice(_problems(schema, answer), _MOST_PROBLEMS))
    except (EndlessSchema, RecursionError):
        return ("The output schema refers to itself without end. Change it in the agent's editor.",)


def _parsed(text: str) -> JsonValue:
    """The JSON in an answer, without a Markdown fence; raises `ValueError` where there is none."""
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    value: JsonValue = orjson.loads(fenced.group(1) if fenced else stripped)
    return value


def schema_problem(schema: JsonSchema) -> str:
    """What is wrong with the schema itself, empty when nothing is."""
    jsonschema = _jsonschema()
    try:
        jsonschema.Draft202012Validator.check_schema(_plain(schema))
    except jsonschema.SchemaError as error:
        return _sentence(error.absolute_path, error.message)
    except RecursionError:
        return "It is nested too deep."
    return ""


def _problems(schema: JsonSchema, answer: JsonValue) -> Iterator[str]:
    jsonschema, referencing = _jsonschema(), importlib.import_module("referencing")
    keywords = {"$ref": _counted(jsonschema, "$ref"), "$dynamicRef": _counted(jsonschema, "$dynamicRef")}
    validator = jsonschema.validators.extend(
        jsonschema.Draft202012Validator, {**keywords, "pattern": _pattern, "patternProperties": _pattern_properties}
    )
    nothing_is_fetched = referencing.Registry()
    checked = validator(_plain(schema), registry=nothing_is_fetched)
    try:
        for error in checked.iter_errors(answer):
            yield _sentence(error.absolute_path, error.message)
    except referencing.exceptions.Unresolvable as error:
        yield f"The output schema refers to {str(error.ref)[:100]!r}, which it does not hold."
    except jsonschema.exceptions.UnknownType as error:
        yield f"The output schema knows a type {str(error.type)[:100]!r}, which there is not."


def _counted(jsonschema: ModuleType, word: str) -> Keyword:
    check: Keyword = jsonschema.Draft202012Validator.VALIDATORS[word]
    left = iter(range(_MOST_REFERENCES))

    def follow(validator: object, value: object, instance: object, schema: object) -> Iterator[object]:
        if next(left, None) is None:
            raise EndlessSchema
        yield from check(validator, value, instance, schema) or ()

    return follow


def _pattern(_validator: object, pattern: str, instance: object, _schema: object) -> Iterator[object]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield _jsonschema().ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: object, patterns: JsonSchema, instance: object, _schema: object) -> Iterator[object]:
    if not isinstance(instance, dict):
        return
    for pattern, inner in patterns.items():
        for name, value in instance.items():
            if _matches(pattern, name):
                yield from validator.descend(value, inner, path=name, schema_path=pattern)  # type: ignore[attr-defined]


def _matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; one that needs backtracking is not checked and counts as found."""
    expression = _expression(pattern)
    return expression is None or expression.isinstance_python(text)


@lru_cache(maxsize=100)
def _expression(pattern: str) -> SchemaValidator | None:
    """The pattern for Rust's engine, whose time is linear in the text; `None` where it cannot run it."""
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError:
        return None


def _plain(schema: JsonValue) -> JsonValue:
    """The schema without `$schema`: an inner one would bring back the checks that are replaced here."""
    if isinstance(schema, dict):
        return {name: _plain(value) for name, value in schema.items() if name != "$schema"}
    return [_plain(value) for value in schema] if isinstance(schema, list) else schema


def _sentence(path: "Iterator[str | int]", message: str) -> str:
    place = "".join(f"/{part}" for part in path)
    sentence = f"{place}: {message}" if place else message
    return sentence if len(sentence) <= _LONGEST_PROBLEM else sentence[: _LONGEST_PROBLEM - 1] + "…"


def _jsonschema() -> ModuleType:
    """Imported when it is first needed: it takes 70 ms, and few agents have an output schema."""
    return importlib.import_module("jsonschema")
