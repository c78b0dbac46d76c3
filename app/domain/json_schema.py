"""JSON Schema of the draft that a schema names, of 2020-12 where it names none, with nothing in it trusted.

No reference is fetched from anywhere, regular expressions run in an engine without backtracking, and a schema that
refers to itself without end is given up.
"""

import importlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Protocol

from pydantic import JsonValue
from pydantic_core import SchemaError, SchemaValidator, core_schema

from app.domain.tools import JsonSchema

Keyword = Callable[..., Iterator[object]]
"""How `jsonschema` checks one word of a schema: given validator, value, instance and schema, it yields errors."""
LONGEST_MESSAGE = 300
_OLD_DRAFT = re.compile(r"^https(?=://json-schema\.org/draft-0\d)")
"""Those have addresses with http, which many write with https."""


class UnusableSchema(Exception):
    """Nothing can be checked with the schema; its text goes on where a sentence begins with "The schema"."""


@dataclass(frozen=True, slots=True)
class Mistake:
    path: tuple[str | int, ...]
    """Where."""
    message: str
    """What, in 300 characters at most."""
    word: str
    """The word of the schema that says so."""


def schema_mistake(schema: JsonSchema) -> Mistake | None:
    """What is wrong with the schema itself."""
    jsonschema = _jsonschema()
    patterns = jsonschema.FormatChecker(formats=())
    patterns.checks("regex")(_is_pattern)
    try:
        _draft(schema).check_schema(_plain(schema), format_checker=patterns)
    except jsonschema.SchemaError as error:
        return _mistake(error)
    except RecursionError:
        return Mistake((), "It is nested too deep.", "")
    return None


def mistakes(
    schema: JsonSchema, document: JsonValue, *, most_references: int, unknown_patterns_fit: bool = False
) -> Iterator[Mistake]:
    """What is wrong with the document, one by one; the schema has to be free of mistakes.

    Raises `UnusableSchema` after `most_references` were followed, for a pattern that needs backtracking, and for
    `unevaluatedProperties` in a schema with patterns for names; but with `unknown_patterns_fit` those fit everything.
    """
    jsonschema, referencing = _jsonschema(), importlib.import_module("referencing")
    nothing_is_fetched = referencing.Registry()
    try:
        draft = _draft(schema)
        words = _words(draft, schema, most_references, unknown_patterns_fit=unknown_patterns_fit)
        validator = jsonschema.validators.extend(draft, words)
        for error in validator(_plain(schema), registry=nothing_is_fetched).iter_errors(document):
            yield _mistake(error)
    except RecursionError as error:
        raise UnusableSchema("refers to itself without end") from error
    except referencing.exceptions.Unresolvable as error:
        raise UnusableSchema(f"refers to {str(error.ref)[:100]!r}, which it does not hold") from error
    except jsonschema.exceptions.UnknownType as error:
        raise UnusableSchema(f"knows a type {str(error.type)[:100]!r}, which there is not") from error


def draft_named(schema: JsonSchema) -> str:
    """The address of the draft by which the schema is read: the one it names, where that is known."""
    named: str = _draft(schema).META_SCHEMA.get("$schema", "")
    return named


def _draft(schema: JsonSchema) -> type["_Draft"]:
    jsonschema = _jsonschema()
    address = schema.get("$schema")
    named = {"$schema": _OLD_DRAFT.sub("http", address)} if isinstance(address, str) else {}
    draft: type[_Draft] = jsonschema.validators.validator_for(named, default=jsonschema.Draft202012Validator)
    return draft


def _is_pattern(text: object) -> bool:
    """Whether it is a pattern to the engine that runs it, or to one with backtracking."""
    if not isinstance(text, str) or _expression(text) is not None:
        return True
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _words(
    draft: type["_Draft"], schema: JsonSchema, most_references: int, *, unknown_patterns_fit: bool
) -> dict[str, Keyword]:
    """Those that the library would check without a bound on the time they take."""
    words: dict[str, Keyword] = {
        **_counted(draft, ("$ref", "$dynamicRef", "$recursiveRef"), most_references),
        "uniqueItems": _unique_items,
        **_pattern_words(draft, unknown_patterns_fit),
    }
    if _holds(schema, "patternProperties") and "unevaluatedProperties" in draft.VALIDATORS:
        words["unevaluatedProperties"] = _passed_over if unknown_patterns_fit else _refused
    return words


class _Draft(Protocol):
    """One of `jsonschema`'s validators."""

    META_SCHEMA: dict[str, str]
    VALIDATORS: dict[str, Keyword]

    @classmethod
    def check_schema(cls, schema: JsonValue, format_checker: object) -> None: ...


class _Error(Protocol):
    """What `jsonschema` says of a mistake."""

    @property
    def absolute_path(self) -> Iterator[str | int]: ...
    @property
    def message(self) -> str: ...
    @property
    def validator(self) -> str: ...


def _mistake(error: _Error) -> Mistake:
    message = error.message
    short = message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"
    return Mistake(tuple(error.absolute_path), short, error.validator)


def _counted(draft: type[_Draft], words: Iterable[str], most: int) -> dict[str, Keyword]:
    """Those of the words that the draft has; together they follow as many references."""
    left = iter(range(most))

    def counted(check: Keyword) -> Keyword:
        def follow(validator: object, value: object, instance: object, schema: object) -> Iterator[object]:
            if next(left, None) is None:
                raise UnusableSchema("refers to itself without end")
            yield from check(validator, value, instance, schema) or ()

        return follow

    return {word: counted(draft.VALIDATORS[word]) for word in words if word in draft.VALIDATORS}


def _pattern_words(draft: type[_Draft], unknown_patterns_fit: bool) -> dict[str, Keyword]:
    """How `pattern` and `patternProperties` are checked, and `additionalProperties`, which are those of no pattern."""
    check_others = draft.VALIDATORS["additionalProperties"]

    def matches(pattern: str, text: str) -> bool:
        expression = _expression(pattern)
        if expression is None and not unknown_patterns_fit:
            raise UnusableSchema(f"has a pattern {pattern[:100]!r} with look-around or back-references")
        return expression is None or expression.isinstance_python(text)

    def of_text(_validator: object, pattern: str, instance: object, _schema: object) -> Iterator[object]:
        if isinstance(instance, str) and not matches(pattern, instance):
            yield _jsonschema().ValidationError(f"{instance[:100]!r} does not match {pattern!r}")

    def of_names(validator: object, patterns: JsonSchema, instance: object, _schema: object) -> Iterator[object]:
        for pattern, inner in patterns.items() if isinstance(instance, dict) else ():
            for name, value in instance.items():  # type: ignore[attr-defined]  # an object, see above
                if matches(pattern, name):
                    yield from validator.descend(value, inner, path=name, schema_path=pattern)  # type: ignore[attr-defined]

    def of_others(validator: object, inner: object, instance: object, schema: JsonSchema) -> Iterator[object]:
        known, patterns = (schema.get(word, {}) for word in ("properties", "patternProperties"))
        if isinstance(instance, dict) and isinstance(known, dict) and isinstance(patterns, dict):
            names = {name for name in instance.keys() - known.keys() if not any(matches(one, name) for one in patterns)}
            others = {name: value for name, value in instance.items() if name in names}
            yield from check_others(validator, inner, others, {}) or ()

    return {"pattern": of_text, "patternProperties": of_names, "additionalProperties": of_others}


def _refused(*_: object) -> Iterator[object]:
    raise UnusableSchema("has unevaluatedProperties beside patternProperties")


def _passed_over(*_: object) -> Iterator[object]:
    return iter(())


def _holds(schema: JsonValue, word: str) -> bool:
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return (isinstance(schema, dict) and word in schema) or any(_holds(one, word) for one in inner)


@lru_cache(maxsize=100)
def _expression(pattern: str) -> SchemaValidator | None:
    """The pattern for Rust's engine, whose time is linear in the text; `None` where it cannot run it."""
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError:
        return None


def _unique_items(_validator: object, wanted: bool, instance: object, _schema: object) -> Iterator[object]:
    """In linear time; the library compares each item with each."""
    if wanted and isinstance(instance, list):
        texts = [same_text(item) for item in instance]
        if len(set(texts)) < len(texts):
            yield _jsonschema().ValidationError("the array has items that are the same")


def same_text(value: JsonValue) -> str:
    """The same for values that are the same as JSON."""
    return json.dumps(_comparable(value), sort_keys=True)


def _comparable(value: JsonValue) -> JsonValue:
    """1 and 1.0 are the same number."""
    if isinstance(value, dict):
        return {name: _comparable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_comparable(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plain(schema: JsonValue) -> JsonValue:
    """The schema without `$schema`: an inner one would bring back the checks that are replaced here."""
    if isinstance(schema, dict):
        return {name: _plain(value) for name, value in schema.items() if name != "$schema" or isinstance(value, dict)}
    return [_plain(value) for value in schema] if isinstance(schema, list) else schema


def _jsonschema() -> ModuleType:
    """Imported when it is first needed: it takes 70 ms, and few agents have an output schema."""
    return importlib.import_module("jsonschema")
