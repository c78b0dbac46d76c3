"""Sums and chains of them: one thought and one call of the calculator for each operation."""

import re
from collections.abc import Sequence
from decimal import Decimal

from app.domain.messages import ToolResult
from app.llm.demo.answer import Answer, Wish
from app.llm.demo.arithmetic import SIGNS, NotASum, Operand, Operation, OperationName, Outcome, Parser, symbols_of
from app.llm.demo.ask import Ask
from app.llm.demo.missing import told, without
from app.llm.demo.wording import infix, steps, written

Chain = tuple[Operation, ...]
Values = dict[int, Decimal]

_PARALLEL = re.compile(
    r"\b(?:in parallel|at the same time|simultaneously|at once|concurrently)\b(?:\s+with\b)?", re.IGNORECASE
)
_APART = re.compile(r",\s*and\s|[,;&]|\band\b|\bas well as\b")
_DATE = re.compile(r"\b\d{4}-\d{1,2}-\d{1,2}\b")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_FILLER = re.compile(
    r"what|what's|whats|is|are|the|of|please|can|could|you|would|me|for|a|an|calculate|compute|calculator"
    r"|work|out|solve|evaluate|how|much|many|tell|let|do|does|make|give|find|get|equal|equals|think|about"
    r"|result|answer|my|i|want|to|know|need|hi|hello|hey|thanks|both|these|this|sum|sums|using|use|with"
    r"|your|tool|in|and|then|by|now|so|s|it|that|number|step|steps|carefully|hard|just|quickly"
)
_MOST_UNKNOWN_WORDS = 3
LONGEST_SUM = 400
"""Characters."""


def work_out(ask: Ask) -> Answer | None:
    chains = chains_of(ask.text, before=last_number(ask))
    if not chains:
        return None
    lacking = without(ask, "calculator")
    if lacking is not None:
        return lacking
    failed = next((result for result in ask.results if _number(result) is None), None)
    if failed is not None:
        return _failed(failed)
    together = ask.parallel and _PARALLEL.search(ask.text) is not None
    return _next(ask, chains, together=together)


def chains_of(text: str, before: Decimal | None = None) -> tuple[Chain, ...]:
    """The text's sums, each as its operations; empty when it asks for none. `before` is what "that" means."""
    if len(text) > LONGEST_SUM or _DATE.search(text):
        return ()
    plain = written(_PARALLEL.sub(", ", text))
    if _unknown_words(infix(plain)) > _MOST_UNKNOWN_WORDS:
        return ()
    whole = _chain(plain, before)
    if whole:
        return (whole,)
    chains = [_chain(part, before) for part in _APART.split(plain) if symbols_of(part)]
    return tuple(chain for chain in chains if chain) if all(chains) else ()


def last_number(ask: Ask) -> Decimal | None:
    """What the calculator last came to in this conversation, before the user spoke."""
    results = (part for message in reversed(ask.earlier) for part in message.parts if isinstance(part, ToolResult))
    numbers = (_number(result) for result in results if result.name == "calculator")
    return next(numbers, None)


def _unknown_words(plain: str) -> int:
    words = re.findall(r"[a-z][a-z']*", plain)
    return sum(_FILLER.fullmatch(word) is None for word in words)


def _chain(plain: str, before: Decimal | None) -> Chain:
    operations: list[Operation] = []
    outcome: Operand | None = before
    try:
        for step in steps(plain):
            symbols = _symbols(step, follows=outcome is not None)
            if any(symbol[0].isdigit() or symbol[0] in ".$" for symbol in symbols):
                outcome = Parser(symbols, operations, outcome).parse()
    except (NotASum, RecursionError):
        return ()
    return tuple(operations)


def _symbols(step: str, *, follows: bool) -> list[str]:
    symbols = symbols_of(infix(step))
    if not follows:
        return [symbol for symbol in symbols if symbol != "$"]
    starts_with_operator = bool(symbols) and symbols[0] in "+*/^"
    subtracts = len(symbols) == 2 and symbols[0] == "-"
    return ["$", *symbols] if starts_with_operator or subtracts else symbols


def _next(ask: Ask, chains: tuple[Chain, ...], *, together: bool) -> Answer:
    values = _values(ask, chains, together=together)
    open_chains = [number for number, chain in enumerate(chains) if len(values[number]) < len(chain)]
    if not open_chains:
        return Answer(text=_summary(chains, values))
    chosen = open_chains if together else open_chains[:1]
    following = [_numbered(chains[number][len(values[number])], values[number]) for number in chosen]
    wishes = tuple(Wish("calculator", {"operation": name, "x": _json(x), "y": _json(y)}) for name, x, y in following)
    shown = [f"{_shown(x)} {SIGNS[name]} {_shown(y)}" for name, x, y in following]
    return Answer(thought=_thought(ask, shown, values[chosen[0]]), wishes=wishes)


def _values(ask: Ask, chains: tuple[Chain, ...], *, together: bool) -> list[Values]:
    """What is known of each chain by now: the results, dealt out in the order in which they were asked for."""
    values: list[Values] = [{} for _ in chains]
    for done in ask.rounds:
        open_chains = [number for number, chain in enumerate(chains) if len(values[number]) < len(chain)]
        for number, result in zip(open_chains if together else open_chains[:1], done.results, strict=False):
            found = _number(result)
            if found is not None:
                values[number][len(values[number])] = found
    return values


def _numbered(operation: Operation, values: Values) -> tuple[OperationName, Decimal, Decimal]:
    return operation.name, _value(operation.left, values), _value(operation.right, values)


def _value(operand: Operand, values: Values) -> Decimal:
    return values[operand.index] if isinstance(operand, Outcome) else operand


def _thought(ask: Ask, shown: Sequence[str], values: Values) -> str:
    if len(shown) > 1:
        listed = ", ".join(f"**{sum_}**" for sum_ in shown)
        return f"These do not depend on each other, so I call the calculator for all of them at once: {listed}."
    if values:
        return f"That makes {_shown(values[max(values)])}. Next comes {shown[0]}."
    if ask.rounds:
        return f"Now the next one: {shown[0]}."
    return f"I could do this in my head, but a tool is surer. I start with {shown[0]}."


def _summary(chains: tuple[Chain, ...], values: list[Values]) -> str:
    if len(chains) > 1:
        lines = [f"- {_lines(chain, known)[-1]}" for chain, known in zip(chains, values, strict=True)]
        return "Here is what the calculator found:\n\n" + "\n".join(lines)
    lines = _lines(chains[0], values[0])
    if len(lines) == 1:
        return f"{lines[0]}."
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
    return f"Step by step:\n\n{numbered}\n\nThe answer is **{_shown(values[0][len(lines) - 1])}**."


def _lines(chain: Chain, values: Values) -> list[str]:
    shown = []
    for index, operation in enumerate(chain):
        _, x, y = _numbered(operation, values)
        shown.append(f"{_shown(x)} {SIGNS[operation.name]} {_shown(y)} = **{_shown(values[index])}**")
    return shown


def _failed(result: ToolResult) -> Answer:
    if "zero" in result.text.lower():
        return Answer(
            text="That has no answer: **nothing can be divided by zero.** No number times 0 gives anything but 0, so "
            f"the calculator refused (`{result.text.strip()}`). Try another divisor."
        )
    return told(result)


def _number(result: ToolResult) -> Decimal | None:
    """The number behind the last `=` of what the calculator returned; `None` when it returned none."""
    if result.failed or result.text.strip().lower().startswith("error"):
        return None
    found = _NUMBER.fullmatch(result.text.rpartition("=")[2].strip())
    return Decimal(found.group().replace(",", "")) if found else None


def _json(number: Decimal) -> float | int:
    return int(number) if _is_whole(number) else float(number)


def _shown(number: Decimal) -> str:
    return f"{int(number)}" if _is_whole(number) else f"{float(number):.12g}"


def _is_whole(number: Decimal) -> bool:
    return number.adjusted() < 50 and number == number.to_integral_value()
