"""Answers that are text: the reference itself, texts that are in it, a pattern that is found in it."""

import re
import unicodedata
from functools import lru_cache
from itertools import takewhile

from pydantic_core import SchemaError, SchemaValidator, core_schema

from app.domain.evals.evidence import Evidence
from app.domain.evals.scorers import Contains, Exact, Regex
from app.domain.evals.scoring.json_values import NoJson, answer_json, difference, shown
from app.domain.evals.scoring.opinion import NotScored, Opinion, reference_of, reference_text, yes_or_no

LONGEST_PATTERN = 1_000  # characters
MOST_STATES = 2_000
"""About how large a pattern may be with its repetitions written out: to read it takes no longer than 50 ms."""
MOST_WORK = 10_000_000
"""States times characters of the answer: about 20 ms, for which the engine lets nothing else go on."""
_PART = re.compile(r"(\\[pP]\{[^}]{0,40}\}|\\.|[^\\])(?:\{(\d{1,6})(?:,(\d{0,6}))?\})?", re.DOTALL)
_LARGE = {"\\w": 20, "\\W": 20, "\\d": 8, "\\D": 8, "\\s": 8, "\\S": 8, "\\p": 20, "\\P": 20}
"""Kinds of character of which there are many in Unicode."""


def judge_exact(scorer: Exact, evidence: Evidence) -> Opinion:
    """Whether the answer is the reference; of a list of texts, one of them; of other JSON, the same JSON."""
    reference = reference_of(evidence.case)
    if isinstance(reference, str | int | float):
        return _exact_text(scorer, evidence.answer, reference_text(evidence.case))
    texts = [one for one in reference if isinstance(one, str)] if isinstance(reference, list) else []
    if texts and any(_exact_text(scorer, evidence.answer, text).value for text in texts):
        return Opinion(1.0, "The answer is one of the references.")
    answer = answer_json(evidence.answer)
    problem = "The answer is no JSON." if isinstance(answer, NoJson) else difference(answer, reference)
    problem = "The answer is none of the references." if problem and texts else problem
    return yes_or_no(problem is None, problem or "The answer is the reference.")


def judge_contains(scorer: Contains, evidence: Evidence) -> Opinion:
    """Whether all, any or none of the texts are in the answer; without texts, the reference's."""
    texts = scorer.texts or _reference_texts(evidence)
    answer = _plain(evidence.answer, ignore_case=scorer.ignore_case)
    found = [text for text in texts if _plain(text, ignore_case=scorer.ignore_case) in answer]
    missing = [text for text in texts if text not in found]
    match scorer.mode:
        case "all":
            return yes_or_no(not missing, f"{shown(missing[0])} is missing." if missing else "All of it is there.")
        case "any":
            return yes_or_no(bool(found), f"{shown(found[0])} is there." if found else "None of it is there.")
        case "none":
            return yes_or_no(not found, f"{shown(found[0])} is there." if found else "None of it is there.")


def judge_pattern(scorer: Regex, evidence: Evidence) -> Opinion:
    """Whether the pattern, or the one in the reference, is found in the answer. Raises `NotScored` for a bad one."""
    pattern = scorer.pattern or reference_text(evidence.case)
    expression = _expression(rf"\A(?:{pattern})\z" if scorer.whole else pattern)
    if (states := states_of(pattern)) * len(evidence.answer) > MOST_WORK:
        most = MOST_WORK // states
        raise NotScored(f"The answer has {len(evidence.answer):,} characters; this pattern reads {most:,} at most.")
    holds = expression.isinstance_python(evidence.answer)
    if scorer.whole:
        return yes_or_no(
            holds, "The whole answer matches." if holds else "The whole answer does not match the pattern."
        )
    return yes_or_no(holds, "The pattern is found." if holds else "The pattern is not found in the answer.")


def _exact_text(scorer: Exact, answer: str, reference: str) -> Opinion:
    said, wanted = (_comparable(text, scorer) for text in (answer, reference))
    if said == wanted:
        return Opinion(1.0, "The answer is the reference.")
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(said, wanted, strict=False)))
    where = f" from character {alike + 1} on" if alike else ""
    return Opinion(0.0, f"The answer differs{where}: {_from(said, alike)}, expected {_from(wanted, alike)}.")


def _from(text: str, place: int) -> str:
    return shown(text[place : place + 60]) if text[place:] else "nothing"


def _comparable(text: str, scorer: Exact) -> str:
    plain = _plain(text, ignore_case=scorer.ignore_case)
    return " ".join(plain.split()) if scorer.ignore_space else plain


def _plain(text: str, *, ignore_case: bool) -> str:
    """Letters with accents are the same however they are put together."""
    composed = unicodedata.normalize("NFC", text)
    return composed.casefold() if ignore_case else composed


def _reference_texts(evidence: Evidence) -> tuple[str, ...]:
    reference = reference_of(evidence.case)
    if isinstance(reference, list) and all(isinstance(one, str) for one in reference):
        return tuple(one for one in reference if isinstance(one, str))
    return (reference_text(evidence.case),)


@lru_cache(maxsize=100)
def _expression(pattern: str) -> SchemaValidator:
    """The pattern for Rust's engine, whose time is linear in the text. Raises `NotScored`."""
    if len(pattern) > LONGEST_PATTERN or states_of(pattern) > MOST_STATES:
        raise NotScored("The pattern is too large. Write it shorter, and count repetitions with smaller numbers.")
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except SchemaError as error:
        text = "The pattern cannot be read, or needs look-around or back-references, which no pattern here may have."
        raise NotScored(text) from error


def states_of(pattern: str) -> int:
    """About how large the pattern is with counted repetitions written out; those of groups as if inside each other."""
    states, times = 0, 1
    for part, fewest, most in _PART.findall(pattern):
        count = max(1, int(most or fewest or 1))
        if part == ")":
            times *= count
        else:
            states += count * (20 if part == "]" and count > 1 else _LARGE.get(part[:2], 1))  # any of them in brackets
    return states * times
