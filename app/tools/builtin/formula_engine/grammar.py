"""The language of formulas, and how a mistake in one is told.

Chains such as `1 + 2 + 3` are one flat node, so that only brackets make a tree deep.
"""

from functools import cache

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from app.domain.errors import ToolError

LONGEST_FORMULA = 2_000
"""Characters."""
DEEPEST = 40
"""Brackets in each other."""
_GRAMMAR = r"""
start: "="? comparison
?comparison: joined (COMPARE joined)*
?joined: total (AMPERSAND total)*
?total: product (ADD product)*
?product: power (MULTIPLY power)*
?power: signed (POWER signed)*
?signed: percent | ADD+ percent -> signed
?percent: atom | atom PERCENT+ -> percent
?atom: NUMBER -> number
     | TEXT -> text
     | FUNCTION _OPEN [comparison (_BETWEEN comparison)*] _CLOSE -> call
     | FUNCTION _OPEN MULTIPLY _CLOSE -> call_of_all
     | NAME -> name
     | BRACKETED -> bracketed
     | _OPEN comparison _CLOSE

COMPARE: "<=" | ">=" | "<>" | "!=" | "==" | "=" | "<" | ">"
AMPERSAND: "&"
ADD: "+" | "-" | "−"
MULTIPLY: "*" | "/" | "×" | "÷"
POWER: "^" | "**"
PERCENT: "%"
NUMBER: /(\d+(\.\d*)?|\.\d+)(e[-+]?\d{1,3})?/i
TEXT: /"([^"]|"")*"|'([^']|'')*'|“[^”]*”/
FUNCTION.2: /[^\W\d]\w*(?=\s*\()/
NAME: /[^\W\d]\w*/
BRACKETED: /\[[^\[\]]+\]|`[^`]+`/
_OPEN: "("
_CLOSE: ")"
_BETWEEN: "," | ";"
%ignore /\s+/
"""
_EXPECTED = {
    "_CLOSE": "')'", "_BETWEEN": "','", "COMPARE": "an operator", "AMPERSAND": "an operator", "ADD": "an operator",
    "MULTIPLY": "an operator", "POWER": "an operator", "PERCENT": "an operator", "_OPEN": "'('",
    "$END": "the end of the formula",
}  # fmt: skip


def parse(formula: str) -> Tree[Token]:
    """The formula as a tree. Raises `ToolError` that names the place of a mistake and what may stand there."""
    if len(formula) > LONGEST_FORMULA:
        raise ToolError(f"The formula has {len(formula):,} characters; {LONGEST_FORMULA:,} is the most.")
    _check_depth(formula)
    if not formula.strip().removeprefix("=").strip():
        raise ToolError("The formula is empty. Write one like =SUM(amount) or amount * 1.2.")
    try:
        return _parser().parse(formula)
    except UnexpectedCharacters as error:
        raise ToolError(_complaint(formula, error.column - 1, repr(error.char), error.allowed or set())) from error
    except UnexpectedToken as error:
        at_end = error.token.type == "$END"
        place = len(formula) if at_end else error.token.start_pos or 0
        found = "the end of the formula" if at_end else repr(str(error.token))
        raise ToolError(_complaint(formula, place, found, error.accepts or error.expected)) from error
    except UnexpectedInput as error:
        raise ToolError(f"The formula cannot be read: {error}.") from error


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", maybe_placeholders=False, propagate_positions=True)


def _complaint(formula: str, place: int, found: str, expected: set[str]) -> str:
    # Where a value may stand, a sign before it may too, which is not worth saying.
    told = {"NUMBER": "a value", "_CLOSE": "')'"} if "NUMBER" in expected else _EXPECTED
    words = list(dict.fromkeys(told[name] for name in sorted(expected) if name in told))
    if found[:1] == "'" and found[1:2] in "\"“'" and len(found) < 5:
        return f"Position {place + 1}: the text that begins at {formula[place : place + 20]!r} has no closing quote."
    return (
        f"Position {place + 1}: {found} stands where {' or '.join(words) or 'something else'} is expected: "
        f"{_marked(formula, place)}"
    )


def _marked(formula: str, place: int) -> str:
    """What stands around the mistake, with a sign before it."""
    start = max(0, place - 30)
    return f"{'…' if start else ''}{formula[start:place]}⟨here⟩{formula[place : place + 30]}"


def _check_depth(formula: str) -> None:
    depth = 0
    for character in formula:
        depth += (character == "(") - (character == ")")
        if depth > DEEPEST:
            raise ToolError(f"The formula has more than {DEEPEST} brackets in each other. Split it.")
