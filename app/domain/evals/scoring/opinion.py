"""What a scorer says of a try: a value and why, or why it cannot say."""

from typing import NamedTuple

from pydantic import JsonValue

from app.domain.evals.cases import Case
from app.domain.evals.experiments import CellScore
from app.domain.evals.scorers import Scorer, ScorerBase

LONGEST_REASON = 2_000  # characters


class NotScored(Exception):
    """The scorer cannot say; the message says why, and the way out. `traceback` is a scorer's file's own."""

    def __init__(self, reason: str, *, traceback: str = "") -> None:
        super().__init__(reason)
        self.traceback = traceback


class Opinion(NamedTuple):
    value: float
    """From 0 to 1."""
    reason: str


def yes_or_no(holds: bool, reason: str) -> Opinion:
    return Opinion(float(holds), reason)


def score_of(scorer: Scorer, opinion: Opinion, *, as_it_was: str = "") -> CellScore:
    """`as_it_was`: the digest of the scorer where its own values do not tell all of it."""
    return CellScore(
        name=scorer.name,
        value=opinion.value,
        passed=passes(scorer, opinion.value),
        reason=short(opinion.reason),
        scorer=as_it_was or scorer.digest,
    )


def not_scored(scorer: Scorer, why: NotScored) -> CellScore:
    return CellScore(name=scorer.name, reason=short(str(why)), traceback=why.traceback, scorer=scorer.digest)


def passes(scorer: ScorerBase, value: float) -> bool:
    """A value that is off by no more than rounding passes: 2 of 3 criteria reach 0.6667."""
    return value >= scorer.threshold - 1e-9


def short(text: str, most: int = LONGEST_REASON) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def reference_of(case: Case) -> JsonValue:
    """What the case expects. Raises `NotScored` where it does not say."""
    if case.reference is None:
        raise NotScored("The case names no reference. Write one, or leave this scorer out.")
    return case.reference


def reference_text(case: Case) -> str:
    """The same as text. Raises `NotScored` where it is JSON of several parts."""
    match reference_of(case):
        case str(text):
            return text
        case bool(truth):
            return "true" if truth else "false"
        case int(number) | float(number):
            return f"{number}"
        case _:
            raise NotScored(
                "The case's reference is JSON, which has no text of its own. Use a scorer of the type json."
            )
