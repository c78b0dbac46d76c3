"""Assertions of promptfoo, of which those are taken that need neither code nor another service.

https://www.promptfoo.dev/docs/configuration/expected-outputs/
"""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from app.domain.evals.scorers import Check, Contains, Cost, Exact, JsonMatch, Latency, Regex
from app.export.datasets.received import Draft, Fields, checks_of, words

JSON_AT_ALL = "`true`"
"""An expression that is true of whatever is JSON."""
AS_EXPECTED = "The answer does what the reference says is expected."
_CODE = ("javascript", "python", "ruby", "webhook")
_RUBRICS = ("llm-rubric", "model-graded-closedqa", "factuality")
_WRITTEN = re.compile(
    r"(?P<type>(?:not-)?[a-z]+(?:-[a-z]+)*)(?:\((?P<threshold>[\d.]+)\))?(?::\s*(?P<value>.*))?", re.DOTALL
)
_WHOLE = re.compile(r"\^\(\?:(?P<pattern>[^()]+)\)\$")
"""A pattern that the whole answer must match, as it is written; with groups in it nobody can tell so easily."""
_SHORT = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
_KNOWN_WITHOUT_VALUE = ("is-json", "latency", "cost")


@dataclass
class Wanted:
    """What the assertions of one test come to."""

    reference: JsonValue = None
    checks: list[Check] = field(default_factory=list)
    rubrics: list[str] = field(default_factory=list)

    def fields(self, draft: Draft) -> dict[str, object]:
        """For a case; a question about its answer is what is expected where nothing else is."""
        for rubric in self.rubrics:
            if self.reference is None and draft.ask_judge(AS_EXPECTED):
                self.reference = rubric
            elif self.reference != rubric:
                why = "next to another expected answer" if draft.judge else "as no model is chosen that could judge"
                draft.left.out(f"questions to a model about an answer, {why}")
        return {"reference": self.reference, "checks": checks_of(self.checks)}


def from_text(written: str) -> Fields:
    """An assertion as it stands in the cell of a table: `contains: Paris`, `latency(500)`, or the expected text."""
    found = _WRITTEN.fullmatch(written.strip())
    kind = _SHORT.get(found["type"], found["type"]) if found else ""
    plain = kind.removeprefix("not-")
    known = plain in _TAKEN or plain in _CODE or kind in _RUBRICS or "-" in kind or kind == "similar"
    if found is None or not known or (found["value"] is None and plain not in _KNOWN_WITHOUT_VALUE):
        return {"type": "equals", "value": written}
    threshold: Fields = {"threshold": float(found["threshold"])} if _is_number(found["threshold"]) else {}
    return {"type": kind, "value": found["value"] or None, **threshold}


def take(told: JsonValue, wanted: Wanted, draft: Draft, place: str) -> None:
    """Add what the assertion asks for, or tell that it is left out."""
    with draft.left.reading(told, place, what="an assertion") as assertion:
        kind, value = words(assertion.pop("type", "")), assertion.pop("value", None)
        plain = kind.removeprefix("not-")
        if refusal := _refusal(kind, value):
            draft.left.out(f"assertions of the type {kind or 'nothing'}{refusal}")
            assertion.clear()
        elif kind in _RUBRICS:
            wanted.rubrics.append(words(value))
        else:
            name = words(assertion.pop("metric", None))[:60] or kind
            found = _TAKEN[plain](value, assertion, wanted, draft, kind != plain)
            if found is None:
                draft.left.out(f"assertions of the type {kind} without a value, or next to another expected answer")
            else:
                wanted.checks.append(found.model_copy(update={"name": name}))


def _refusal(kind: str, value: JsonValue) -> str:
    """Why the assertion is left out; empty where it is not."""
    plain = kind.removeprefix("not-")
    if plain in _CODE:
        return ", as code in a file is never run"
    if any(text.startswith("file://") for text in _texts(value)):
        return " that are in another file, as none is opened"
    known = plain in _NEGATED if kind != plain else kind in _TAKEN or kind in _RUBRICS
    return "" if known else ", which this app does not know"


def _equals(value: JsonValue, _rest: Fields, wanted: Wanted, _draft: Draft, _negated: bool) -> Check | None:
    if value is None or wanted.reference not in (None, value):
        return None
    wanted.reference = value
    return JsonMatch(extra_keys=False) if isinstance(value, dict | list) else Exact(ignore_space=False)


def _contains(*, some: bool = False, every: bool = False, case: bool = True) -> "_Taking":
    def taken(value: JsonValue, _rest: Fields, _wanted: Wanted, _draft: Draft, negated: bool) -> Check | None:
        texts = tuple(_several(value) if some or every else [words(value)] if value is not None else [])
        if not texts:
            return None
        return Contains(texts=texts, mode="none" if negated else "any" if some else "all", ignore_case=not case)

    return taken


def _regex(value: JsonValue, _rest: Fields, _wanted: Wanted, _draft: Draft, _negated: bool) -> Check | None:
    if not value:
        return None
    whole = _WHOLE.fullmatch(words(value))
    return Regex(pattern=whole["pattern"], whole=True) if whole else Regex(pattern=words(value))


def _starts_with(value: JsonValue, _rest: Fields, _wanted: Wanted, _draft: Draft, _negated: bool) -> Check | None:
    return Regex(pattern=rf"\A{re.escape(words(value))}") if value else None


def _is_json(value: JsonValue, _rest: Fields, _wanted: Wanted, draft: Draft, _negated: bool) -> Check | None:
    if value:
        draft.left.out("JSON Schemas of is-json: answers are only to be JSON")
    return JsonMatch(expected={JSON_AT_ALL: True})


def _latency(_value: JsonValue, rest: Fields, _wanted: Wanted, _draft: Draft, _negated: bool) -> Check | None:
    most_seconds = (_number(rest.pop("threshold", None)) or 0) / 1000
    return Latency(most_seconds=most_seconds) if most_seconds else None


def _cost(_value: JsonValue, rest: Fields, _wanted: Wanted, _draft: Draft, _negated: bool) -> Check | None:
    most = _number(rest.pop("threshold", None))
    return None if most is None else Cost(most_usd=most)


_Taking = Callable[[JsonValue, Fields, Wanted, Draft, bool], Check | None]
_TAKEN: dict[str, _Taking] = {
    "equals": _equals,
    "contains": _contains(),
    "icontains": _contains(case=False),
    "contains-all": _contains(every=True),
    "contains-any": _contains(some=True),
    "icontains-all": _contains(every=True, case=False),
    "icontains-any": _contains(some=True, case=False),
    "regex": _regex,
    "starts-with": _starts_with,
    "is-json": _is_json,
    "latency": _latency,
    "cost": _cost,
}
_NEGATED = ("contains", "icontains", "contains-any", "icontains-any")
"""Of which the contrary can be asked."""


def _several(value: JsonValue) -> list[str]:
    """A list, or texts separated by commas."""
    if isinstance(value, str):
        return [text.strip() for text in value.split(",") if text.strip()]
    return [words(one) for one in value] if isinstance(value, list) else []


def _texts(value: JsonValue) -> Iterator[str]:
    yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))


def _number(told: JsonValue) -> float | None:
    """`None` where it is none, below 0, or more than a float holds."""
    if isinstance(told, int | float) and not isinstance(told, bool) and 0 <= told <= sys.float_info.max:
        return float(told)
    return None


def _is_number(text: str | None) -> bool:
    return text is not None and text.count(".") <= 1 and text != "."
