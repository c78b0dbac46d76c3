"""Answers that are JSON: what stands at each path against what is expected there, and numbers in any answer."""

import json
import math
import re
from collections.abc import Iterator

from pydantic import JsonValue

from app.domain.evals.evidence import Evidence
from app.domain.evals.scorers import JsonMatch, Numeric
from app.domain.evals.scoring.opinion import NotScored, Opinion, reference_of, short, yes_or_no
from app.domain.reading.answers import unfenced
from app.domain.reading.expressions import BadExpression, Expressions
from app.domain.reading.numbers import number_in, written_number
from app.domain.values import json_in

_SURELY = r"[\u00a0\u2009\u202f'’]"
_APART = rf"(?: |{_SURELY})"
_GROUP = rf"{_APART}\d{{3}}(?!\d)"
_BEHIND = "".join(rf"(?<!\b\d{{{digits}}}{_APART})" for digits in (1, 2, 3))
# No end of a list is one number, nor a row of more groups, nor what a space parts from a number with commas of its own.
_GROUPS = rf"(?:{_GROUP}){{2,6}}|{_SURELY}\d{{3}}(?!\d)| \d{{3}}(?!\d|,\d{{3}}(?!\d)|\.\d{{3}}\.)"
_GROUPED = rf"{_BEHIND}[1-9]\d{{0,2}}(?:{_GROUPS})(?!{_GROUP})[\d.,]*"
_NUMBER = re.compile(
    rf"(?<![\w.,])([-+−]?)(?:[$€£¥]\s?)?({_GROUPED}|\d[\d.,]*|\.\d+)(e[-+]?\d{{1,3}}(?!\w))?", re.IGNORECASE
)
_WHOLE = ""
TAIL = 10_000
"""Characters at the end of a text that are looked through first."""
LONGEST_SHOWN = 80  # characters of a value in a reason


def judge_json(scorer: JsonMatch, evidence: Evidence, expressions: Expressions) -> Opinion:
    """The share of paths at which the answer says what is expected; without paths all or nothing."""
    answer = answer_json(evidence.answer)
    expected = _expected(scorer, evidence, expressions)
    if isinstance(answer, NoJson):
        return Opinion(0.0, "The answer is no JSON.")
    wrong = [
        f"{path}: {problem}" if path else problem for path, problem in _problems(scorer, answer, expected, expressions)
    ]
    met = len(expected) - len(wrong)
    reason = f"{wrong[0]} {_others(len(wrong) - 1)}".strip() if wrong else "All is as expected."
    return Opinion(met / len(expected), f"{met} of {len(expected)} paths. {reason}" if len(expected) > 1 else reason)


def judge_number(scorer: Numeric, evidence: Evidence, expressions: Expressions) -> Opinion:
    """Whether a number of the answer is near enough."""
    wanted = _number(reference_of(evidence.case))
    if wanted is None:
        raise NotScored("The case's reference is no number. Write one, or leave this scorer out.")
    found = _found_number(scorer, evidence.answer, expressions)
    if found is None:
        return Opinion(0.0, f"There is no number {f'at {scorer.path}' if scorer.path else 'in the answer'}.")
    allowed = max(scorer.tolerance, scorer.relative * abs(wanted))
    near = abs(found - wanted) <= allowed + 1e-12 * max(abs(found), abs(wanted))
    within = f", give or take {allowed:g}" if allowed else ""
    return yes_or_no(near, f"The answer says {found:.12g}, expected {wanted:.12g}{within}.")


def same(found: JsonValue, expected: JsonValue, *, tolerance: float = 0.0, extra_keys: bool = False) -> bool:
    """Equal as JSON: 1 and 1.0 are the same, true and 1 are not. `extra_keys`: objects may say more."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return (extra_keys or len(found) == len(expected)) and all(
            name in found and same(found[name], wanted, tolerance=tolerance, extra_keys=extra_keys)
            for name, wanted in expected.items()
        )
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(
            same(one, other, tolerance=tolerance, extra_keys=extra_keys)
            for one, other in zip(found, expected, strict=True)
        )
    return _equal(found, expected, tolerance)


def difference(
    found: JsonValue, expected: JsonValue, *, tolerance: float = 0.0, extra_keys: bool = False, place: str = ""
) -> str | None:
    """Where and how the two differ first, in words; `None` where they are the same."""
    match found, expected:
        case dict(), dict():
            return _of_objects(found, expected, tolerance, extra_keys, place)
        case list(), list() if len(found) == len(expected):
            parts = enumerate(zip(found, expected, strict=True))
            differences = (
                difference(one, other, tolerance=tolerance, extra_keys=extra_keys, place=f"{place}[{number}]")
                for number, (one, other) in parts
            )
            return next((one for one in differences if one), None)
        case list(), list():
            return f"{_at(place)}{len(found)} items, expected {len(expected)}."
        case _:
            equal = _equal(found, expected, tolerance)
            return None if equal else f"{_at(place)}{shown(found)}, expected {shown(expected)}."


def shown(value: JsonValue) -> str:
    """A value as a reason names it."""
    return short(json.dumps(value, ensure_ascii=False), LONGEST_SHOWN)


class NoJson:
    """In place of a value; `None` is `null`, which is JSON."""


def answer_json(text: str) -> JsonValue | NoJson:
    """The JSON that the answer is, in a Markdown fence or without one."""
    try:
        return json_in(unfenced(text))
    except (ValueError, RecursionError):
        return NoJson()


def _expected(scorer: JsonMatch, evidence: Evidence, expressions: Expressions) -> dict[str, JsonValue]:
    """By path: what is to be there; the path of the whole is empty."""
    if scorer.expected and not scorer.paths:
        return scorer.expected
    reference = reference_of(evidence.case)
    if isinstance(reference, str):
        read = answer_json(reference)
        if isinstance(read, NoJson):
            raise NotScored("The case's reference is no JSON. Write it as JSON, or use a scorer of the type exact.")
        reference = read
    if not scorer.paths:
        return {_WHOLE: reference}
    return {path: _at_path(reference, path, expressions) for path in scorer.paths} | scorer.expected


def _problems(
    scorer: JsonMatch, answer: JsonValue, expected: dict[str, JsonValue], expressions: Expressions
) -> Iterator[tuple[str, str]]:
    for path, wanted in expected.items():
        found = _at_path(answer, path, expressions) if path else answer
        problem = difference(found, wanted, tolerance=scorer.tolerance, extra_keys=scorer.extra_keys)
        if problem:
            yield path, problem


def _at_path(document: JsonValue, path: str, expressions: Expressions) -> JsonValue:
    try:
        return expressions.find(document, path)
    except BadExpression as error:
        raise NotScored(str(error)) from error


def _of_objects(
    found: dict[str, JsonValue], expected: dict[str, JsonValue], tolerance: float, extra_keys: bool, place: str
) -> str | None:
    for name, wanted in expected.items():
        inner = f"{place}.{name}" if place else name
        if name not in found:
            return f"{_at(inner)}nothing, expected {shown(wanted)}."
        if problem := difference(found[name], wanted, tolerance=tolerance, extra_keys=extra_keys, place=inner):
            return problem
    more = next((name for name in found if name not in expected), None)
    return None if extra_keys or more is None else f"{_at(f'{place}.{more}' if place else more)}not expected."


def _equal(found: JsonValue, expected: JsonValue, tolerance: float) -> bool:
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, int | float) and isinstance(expected, int | float):
        return found == expected or (tolerance > 0 and _distance(found, expected) <= tolerance * (1 + 1e-12))
    return found == expected


def _distance(one: float, other: float) -> float:
    try:
        return abs(one - other)
    except OverflowError:  # one is a whole number beyond all that a float holds, the other a float
        return math.inf


def _at(place: str) -> str:
    return f"{place} is " if place else "It is "


def _others(count: int) -> str:
    return f"And {count} more." if count > 0 else ""


def _found_number(scorer: Numeric, answer: str, expressions: Expressions) -> float | None:
    if not scorer.path:
        return last_number(answer)
    document = answer_json(answer)
    return None if isinstance(document, NoJson) else _number(_at_path(document, scorer.path, expressions))


def _number(value: JsonValue) -> float | None:
    if isinstance(value, str):
        return last_number(value)
    number = number_in(value)
    return float(number) if number is not None and math.isfinite(number) else None


def last_number(text: str) -> float | None:
    """The last number in a text, as people write it: 1,234.5, 1.234,5, 1 234.5 or 3e8; a version as 1.2.3 is none."""
    matches = _NUMBER.findall(text, max(0, len(text) - TAIL)) or _NUMBER.findall(text)
    for sign, digits, power in reversed(matches):
        number = written_number(digits.rstrip(".,") + power)
        if number is not None and math.isfinite(number):
            return -float(number) if sign in ("-", "−") else float(number)
    return None
