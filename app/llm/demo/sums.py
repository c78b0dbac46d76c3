"""Sums and chains of them: one thought and one call of the calculator for each operation."""

import ast
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from app.domain.messages import ToolResult
from app.domain.reading.python_source import tree_of
from app.llm.demo.plan import Answer, Ask, Plan, Wish, called, needs, told

LONGEST_SUM = 400
"""Characters."""
_MOST_WORDS = 8
"""Words around a sum; a text with more of them is about something else."""
_OPERATIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add", "+"), ast.Sub: ("subtract", "−"), ast.Mult: ("multiply", "×"), ast.Div: ("divide", "÷"),
    ast.Pow: ("power", "^"),
}  # fmt: skip
_WORDS = tuple(
    (re.compile(words), sign)
    for words, sign in (
        (r"(?<=\d),(?=\d{3}(?!\d))", ""),
        (r"(?:%|\bpercent\b) of\b", "/ 100 *"),
        (r"%|\bpercent\b", "/ 100"),
        (r"\b(?:times|multiplied by|multiply (?:(?:that|it) )?by)\b|×|(?<=\d) ?x ?(?=\d)", "*"),
        (r"\b(?:divided by|divide (?:(?:that|it) )?by)\b|÷", "/"),
        (r"\b(?:plus|add)\b", "+"),
        (r"\b(?:minus|subtract)\b|−", "-"),
        (r"\^", "**"),
    )
)
_PARALLEL = re.compile(r"\bin parallel\b|\bat the same time\b", re.IGNORECASE)
_APART = re.compile(r"\bthen\b|\band\b|[,;\n]|[.?!](?:\s|$)")
_DATE = re.compile(r"\b\d{4}-\d{1,2}-\d{1,2}\b")
_SYMBOL = re.compile(r"(?<![\w.])\d+(?:\.\d+)?|\*\*|[-+*/()]")

Sums = tuple[ast.expr, ...]
Values = dict[ast.expr, Decimal]
"""What the numbers and operations come to, as far as that is known."""


def work_out(ask: Ask) -> Plan | None:
    sums = sums_in(ask.text, before=last_number(ask))
    values: Values = {}
    try:
        operations = [one for each in sums for one in _operations(each, values)]
    except ValueError:
        return None
    return _work_out(ask, sums, operations, values) if operations else None


def sums_in(text: str, before: Decimal | None = None) -> Sums:
    """The text's sums; empty when it asks for none. `before` is what "times 2" goes on from."""
    if len(text) > LONGEST_SUM or _DATE.search(text):
        return ()
    plain = text.lower()
    for words, sign in _WORDS:
        plain = words.sub(sign, plain)
    if len(re.findall(r"[^\W\d]+", plain)) > _MOST_WORDS:
        return ()
    written = [] if before is None else [str(before)]
    for symbols in map(_SYMBOL.findall, _APART.split(plain)):
        if any(symbol[0].isdigit() for symbol in symbols):
            goes_on = symbols[0] in ("+", "*", "/", "**") or (symbols[0] == "-" and len(symbols) == 2)
            first = [f"({written.pop()})"] if goes_on and written else []
            written.append(" ".join([*first, *symbols]))
    try:
        return tuple(tree_of(one, mode="eval").body for one in written)
    except (SyntaxError, RecursionError, MemoryError):
        return ()


def _operations(node: ast.expr, values: Values) -> Iterator[ast.BinOp]:
    """The operations in the order in which they can be worked out; the numbers become values."""
    if isinstance(node, ast.BinOp):
        yield from _operations(node.left, values)
        yield from _operations(node.right, values)
        yield node
    else:
        values[node] = Decimal(str(ast.literal_eval(node)))


def last_number(ask: Ask) -> Decimal | None:
    """What the calculator last came to in this conversation, before the user spoke."""
    results = (part for message in reversed(ask.earlier) for part in message.parts if isinstance(part, ToolResult))
    return next((_number(result) for result in results if result.name == "calculator"), None)


def _work_out(ask: Ask, sums: Sums, operations: Sequence[ast.BinOp], values: Values) -> Plan:
    needs(ask, "calculator")
    together = ask.parallel and _PARALLEL.search(ask.text) is not None
    thought = "I could do this in my head, but a tool is surer. I start with {}."
    while left := [one for one in operations if one not in values]:
        ready = [one for one in left if one.left in values and one.right in values]
        chosen = ready if together else ready[:1]
        if len(chosen) > 1:
            thought = "These do not depend on each other, so I call the calculator for all of them at once: {}."
        shown = ", ".join(_shown(one, values) for one in chosen)
        results = yield from called(ask, *(_wish(one, values) for one in chosen), thought=thought.format(shown))
        for one, result in zip(chosen, results, strict=False):
            number = _number(result)
            if number is None:
                return _refused(result)
            values[one] = number
            thought = f"That makes {_written(number)}. Next comes {{}}."
    return Answer(text=_summary(sums, operations, values))


def _wish(operation: ast.BinOp, values: Values) -> Wish:
    name, _ = _OPERATIONS[type(operation.op)]
    x, y = values[operation.left], values[operation.right]
    return Wish("calculator", {"operation": name, "x": _json(x), "y": _json(y)})


def _shown(operation: ast.BinOp, values: Values) -> str:
    _, sign = _OPERATIONS[type(operation.op)]
    return f"{_written(values[operation.left])} {sign} {_written(values[operation.right])}"


def _summary(sums: Sums, operations: Sequence[ast.BinOp], values: Values) -> str:
    lines = {one: f"{_shown(one, values)} = **{_written(values[one])}**" for one in operations}
    ends = [lines[one] for one in operations if one in sums]
    if len(ends) > 1:
        return "Here is what the calculator found:\n\n" + "\n".join(f"- {line}" for line in ends)
    if len(lines) == 1:
        return f"{ends[0]}."
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines.values(), start=1))
    return f"Step by step:\n\n{numbered}\n\nThe answer is **{_written(values[operations[-1]])}**."


def _refused(result: ToolResult) -> Answer:
    if "zero" not in result.text.lower():
        return told(result)
    return Answer(
        text="That has no answer: **nothing can be divided by zero.** No number times 0 gives anything but 0, so "
        f"the calculator refused (`{result.text.strip()}`). Try another divisor."
    )


def _number(result: ToolResult) -> Decimal | None:
    """The number behind the last `=` of what the calculator returned; `None` when it returned none."""
    try:
        number = Decimal(result.text.rpartition("=")[2].strip().replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _json(number: Decimal) -> float | int:
    return int(number) if _is_whole(number) else float(number)


def _written(number: Decimal) -> str:
    return f"{int(number)}" if _is_whole(number) else f"{float(number):.12g}"


def _is_whole(number: Decimal) -> bool:
    return number.adjusted() < 50 and number == number.to_integral_value()
