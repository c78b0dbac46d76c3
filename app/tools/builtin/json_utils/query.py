"""JMESPath, with a bound on the work that an expression may make."""

from typing import TYPE_CHECKING

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.visitor import TreeInterpreter
from pydantic import JsonValue

from app.domain.errors import ToolError

if TYPE_CHECKING:
    from jmespath.visitor import _TreeNode

LONGEST_EXPRESSION = 2_000
"""Characters."""
MOST_WORK = 1_000_000
"""Values looked at or made."""


class TooMuchWork(Exception):
    """The expression makes more of the document than anybody wants."""


def query(document: JsonValue, expression: str) -> JsonValue:
    """What the expression finds. Raises `ToolError` for one that cannot be read or does not fit the document."""
    tree = parsed(expression)
    try:
        return _evaluated(tree, document)
    except JMESPathError as error:
        raise ToolError(f"{expression!r} does not fit the document: {error}") from error
    except (TooMuchWork, RecursionError, MemoryError) as error:
        raise ToolError(f"{expression!r} makes too much of the document. Take a smaller part of it first.") from error
    except (TypeError, AttributeError, ValueError) as error:
        raise ToolError(f"{expression!r} cannot be asked of this document: {error}") from error


def parsed(expression: str) -> "_TreeNode":
    """The expression as a tree. Raises `ToolError` for one that cannot be read."""
    if len(expression) > LONGEST_EXPRESSION:
        raise ToolError(f"The expression has {len(expression):,} characters; {LONGEST_EXPRESSION:,} is the most.")
    try:
        return jmespath.compile(expression).parsed
    except (JMESPathError, RecursionError) as error:
        raise ToolError(_complaint(expression, error)) from error


class Bounded(TreeInterpreter):
    """Counts what it makes: `[@, @][]` doubles a list each time it is written."""

    work = 0

    def visit(self, node: "_TreeNode", *args: object, **options: object) -> JsonValue:
        made: JsonValue = super().visit(node, *args, **options)
        self.work += 1 + (len(made) if isinstance(made, list | str | dict) else 0)
        if self.work > MOST_WORK:
            raise TooMuchWork
        return made


def _evaluated(parsed: "_TreeNode", document: JsonValue) -> JsonValue:
    found: JsonValue = Bounded().visit(parsed, document)
    check_size(found)
    return found


def check_size(value: JsonValue) -> None:
    """Raises `TooMuchWork` for a value whose parts, each counted as often as it would be written, are too many."""
    seen = 0
    level: list[JsonValue] = [value]
    while level:
        seen += len(level)
        if seen > MOST_WORK:
            raise TooMuchWork
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]


def _complaint(expression: str, error: JMESPathError | RecursionError) -> str:
    """Where the expression cannot be read."""
    if isinstance(error, RecursionError):
        return "The expression has too many brackets in each other."
    # Of the library's lines the first says what is wrong; the others draw it.
    said = str(error).splitlines()
    reason = said[0].removesuffix(", for expression:").removeprefix("Bad jmespath expression: ").rstrip(":")
    return f"The JMESPath expression {expression!r} cannot be read: {reason}. {HINT}"


HINT = "Examples: people[?age > `30`].name, orders[*].{id: id, total: total}, length(items), sort_by(people, &age)[0]."
