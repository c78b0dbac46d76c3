"""What a binding reads, and what it comes to.

Names are ids of nodes and those of `GIVEN_NAMES`. JSON behind the last `??` of a path or a formula, and words behind
the `??` in a template's braces, stand for what is not there: the value of a node that was skipped, or null.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from pydantic import JsonValue

from app.domain.prompts import Placeholder, ValuePath, path_of, placeholders, put
from app.domain.reading.expressions import BadExpression, Expressions
from app.domain.workflows.document import Binding, Calculated, FixedValue, FoundValue, Template


class NotThere(BadExpression):
    """What a binding reads is not there, and nothing stands for it."""


class Read(NamedTuple):
    """A name that a binding reads."""

    path: ValuePath
    """The steps are empty where an expression does more than to go along a path."""
    whole: bool
    """Whether the binding is just the value at that path."""
    has_default: bool


@dataclass(frozen=True, slots=True)
class Parted:
    """An expression and what stands for it where what it reads is not there."""

    expression: str
    default: JsonValue
    has_default: bool


def parted(written: str) -> Parted:
    """The expression without the JSON behind its last `??`."""
    expression, sign, words = written.rpartition("??")
    whole = Parted(written.strip(), None, has_default=False)
    try:
        return Parted(expression.strip(), json.loads(words), has_default=True) if sign else whole
    except (ValueError, RecursionError):  # the sign stands in a text of the expression
        return whole


def reads(binding: Binding, expressions: Expressions) -> tuple[Read, ...]:
    """The names that it reads. Raises `BadExpression` for what cannot be read."""
    match binding:
        case FixedValue():
            return ()
        case Template(text=text):
            return tuple(Read(one.path, whole=False, has_default=one.default is not None) for one in placeholders(text))
        case FoundValue(path=path):
            return path_reads(path, expressions)
        case Calculated(formula=formula):
            return formula_reads(formula, expressions)
        case _:
            assert_never(binding)


def path_reads(written: str, expressions: Expressions) -> tuple[Read, ...]:
    """What a JMESPath expression reads, with the JSON behind its `??`. Raises `BadExpression`."""
    part = parted(written)
    if plain := path_of(part.expression):
        return (Read(plain, whole=True, has_default=part.has_default),)
    names = expressions.names_in_path(part.expression)
    return tuple(Read(ValuePath(name=name), whole=False, has_default=part.has_default) for name in names)


def formula_reads(written: str, expressions: Expressions) -> tuple[Read, ...]:
    """What a formula reads, with the JSON behind its `??`. Raises `BadExpression`."""
    part = parted(written)
    names = expressions.names_in_formula(part.expression)
    return tuple(Read(_column(name), whole=False, has_default=part.has_default) for name in names)


def value_of(binding: Binding, names: Mapping[str, JsonValue], expressions: Expressions) -> JsonValue:
    """What the binding comes to; `names` holds what is there. Raises `BadExpression`, `NotThere` too."""
    match binding:
        case FixedValue(value=value):
            return value
        case Template(text=text):
            return put(text, lambda placeholder: _words(placeholder, names))
        case FoundValue(path=path):
            return found(path, names, expressions)
        case Calculated(formula=formula):
            return calculated(formula, names, expressions)
        case _:
            assert_never(binding)


def joined(
    values: Mapping[str, Binding], names: Mapping[str, JsonValue], expressions: Expressions
) -> dict[str, JsonValue]:
    """What a join gives: null for what did not come. Raises `BadExpression`."""
    given: dict[str, JsonValue] = {}
    for name, binding in values.items():
        try:
            given[name] = value_of(binding, names, expressions)
        except NotThere:
            given[name] = None
    return given


def found(written: str, names: Mapping[str, JsonValue], expressions: Expressions) -> JsonValue:
    """What a JMESPath expression finds. Raises `BadExpression`, also where it finds nothing and has no `??`."""
    part = parted(written)
    needed = {read.path.name for read in path_reads(written, expressions)}
    value = expressions.find({name: names[name] for name in needed & names.keys()}, part.expression)
    if value is None and not part.has_default:
        raise NotThere(_nothing(part.expression, f"{part.expression} ?? null"))
    return part.default if value is None else value


def calculated(written: str, names: Mapping[str, JsonValue], expressions: Expressions) -> JsonValue:
    """What a formula comes to. Raises `BadExpression`, also where what it reads is not there and it has no `??`."""
    part = parted(written)
    fields = {name: _column(name) for name in expressions.names_in_formula(part.expression)}
    values = {name: value_at(names.get(path.name), path.steps) for name, path in fields.items()}
    if part.has_default and None in values.values():
        return part.default
    if gone := next((name for name, path in fields.items() if path.name not in names), None):
        raise NotThere(_nothing(gone, f"{part.expression} ?? 0"))
    return expressions.calculate(part.expression, values)


def holds(formula: str, names: Mapping[str, JsonValue], expressions: Expressions) -> bool:
    """Whether the formula comes to true, a number that is not 0, or the text TRUE. Raises `BadExpression`."""
    match calculated(formula, names, expressions):
        case None | "":
            return False
        case bool() | int() | float() as value:
            return bool(value)
        case str(value) if value.strip().lower() in ("true", "false"):
            return value.strip().lower() == "true"
        case value:
            raise BadExpression(f"{formula} comes to {json.dumps(value)[:80]}, which is neither true nor false.")


def value_at(value: JsonValue, steps: tuple[str | int, ...]) -> JsonValue:
    """What stands there, `None` where nothing does."""
    for step in steps:
        match value, step:
            case dict(), str():
                value = value.get(step)
            case list(), int() if -len(value) <= step < len(value):
                value = value[step]
            case _:
                return None
    return value


def _words(placeholder: Placeholder, names: Mapping[str, JsonValue]) -> str:
    path = placeholder.path
    match value_at(names.get(path.name), path.steps):
        case None if placeholder.default is None:
            raise NotThere(_nothing(path.written, f"{{{{{path.written} ?? nothing}}}}"))
        case None:
            return placeholder.default or ""
        case str(value):
            return value
        case value:
            return json.dumps(value, ensure_ascii=False)


def _column(written: str) -> ValuePath:
    """A formula's column as a path; names that are none are of nothing there is."""
    return path_of(written) or ValuePath(name=written)


def _nothing(what: str, way_out: str) -> str:
    return f"{what} is not there. Where that may be, say what stands for it: {way_out}"
