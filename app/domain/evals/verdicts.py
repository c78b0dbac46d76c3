"""Whether a column of cells is better than the baseline, in four words and only as far as the cases show it.

The two are paired case by case. Better and worse take an exact test and an interval that agree.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.domain.evals.statistics import (
    ALPHA,
    Interval,
    SignFlips,
    expected_flips,
    holm,
    paired_interval,
    reach,
    t_interval,
)
from app.domain.values import Value

VerdictWord = Literal["better", "worse", "no worse", "cannot tell"]

MOST_ERRORS = 0.05
"""Of the cells of both columns; with more, and with errors that differ by `UNEVEN`, nothing can be told."""
UNEVEN = 2
STEPS = 20
"""Between the worst and the best score, as the test counts scores that are not just passed or failed."""
MOST_UNITS = 60
"""Of the least common multiple of the repeats, where cases have different numbers of them."""
FEWEST_FOR_T = 30
FEWEST_CASES_WITH_REACH = 9
"""With fewer not even a change of all cases is found reliably."""


class CaseScores(Value):
    """What came of the repeats of one case in one column."""

    scores: tuple[float, ...] = ()
    """Of each repeat that was scored, from 0 to 1; 1 for passed and 0 for failed."""
    errors: int = 0
    """Repeats that ended in an error, which is no score."""

    @property
    def mean(self) -> float:
        """NaN where nothing was scored, and where a score is NaN."""
        return math.fsum(self.scores) / len(self.scores) if self.scores else math.nan

    @property
    def graded(self) -> bool:
        return any(0 < score < 1 for score in self.scores)


ColumnScores = Mapping[str, CaseScores]
"""By the id of the case; a case that is missing, or without scores, is left out of every pair."""
NOT_RUN = CaseScores()


class Verdict(Value):
    """How a column compares to the baseline. A difference is of shares: 0.05 is five points for the column."""

    verdict: VerdictWord
    better: int
    """Cases, as are those that follow."""
    worse: int
    same: int
    dropped: int
    """Without a score on one side or both."""
    n: int
    """Compared: better, worse and same."""
    p: float | None = None
    """Of the exact two-sided test, adjusted where several columns are compared; `None` before all cells are done."""
    low: float | None = None
    """Of the 95 % interval of the difference; `None` with `p`."""
    high: float | None = None
    margin: float | None = None
    """What `no worse` allows; `None` where that is not asked."""
    needed: int | None = None
    """How many more cases would have to change fully, the way most do, until it were clear; only with `cannot tell`."""
    words: str

    @property
    def figures(self) -> str:
        """The p and the interval in words, such as "p 0.11, 95 %: -1 to 56 points"; empty where there are none."""
        if self.p is None or self.low is None or self.high is None:
            return ""
        p = f"p {self.p:.2g}" if self.p >= 0.001 else "p below 0.001"
        return f"{p}, 95 %: {in_points(self.low)} to {in_points(self.high)} points"


def verdict(
    baseline: ColumnScores, other: ColumnScores, *, finished: bool, margin: float | None = None, span: float = 1.0
) -> Verdict:
    """Of one column; what the arguments are stands at `verdicts`."""
    return verdicts(baseline, {"": other}, finished=finished, margin=margin, span=span)[""]


def verdicts(
    baseline: ColumnScores,
    others: Mapping[str, ColumnScores],
    *,
    finished: bool,
    margin: float | None = None,
    span: float = 1.0,
) -> dict[str, Verdict]:
    """Of several columns, by their names.

    Before all that was planned is `finished` there are counts only: who looks again and again finds something. With a
    `margin`, from 0 to 1, a column may be found no worse. `span` is the most that a case can change by, as `span_of`
    a scorer says. 1,000 cases may take 100 ms, so many go to a thread.
    """
    pairs = {name: _paired(baseline, other, span) for name, other in others.items()}
    if not finished:
        told = "no verdict before all cells are done"
        return {name: _said(each, "cannot tell", told, margin) for name, each in pairs.items()}
    tests = [SignFlips(each.steps, full=each.full) for each in pairs.values()]
    adjusted = holm([test.p() for test in tests])
    return {
        name: _judged(each, test, p, margin, columns=len(pairs))
        for (name, each), test, p in zip(pairs.items(), tests, adjusted, strict=True)
    }


@dataclass(frozen=True)
class _Pairs:
    """The cases that have a score on both sides."""

    differences: tuple[float, ...]
    """Of the shares, other - baseline, in spans: from -1 to 1."""
    span: float
    full: int
    """Steps that a case makes that changed as much as one can."""
    graded: bool
    dropped: int
    cells: int
    errors: tuple[int, int]
    """Of the baseline, of the other."""

    @property
    def steps(self) -> list[int]:
        return [round(difference * self.full) for difference in self.differences]

    def interval(self, *, further: int = 0) -> Interval:
        """Of the shares at 95 %, as if so many cases more had changed fully the way the sum goes."""
        way = -1.0 if sum(self.steps) < 0 else 1.0
        differences = (*self.differences, *[way] * further)
        if self.graded and len(differences) >= FEWEST_FOR_T and len(set(differences)) > 1:
            return self._of_shares(t_interval(differences))
        return self._of_shares(paired_interval(differences))

    def is_no_worse(self, margin: float) -> bool:
        # Student's t would overlook a rare but large loss that no case happened to have.
        return self._of_shares(paired_interval(self.differences, level=0.9)).low > -margin

    def _of_shares(self, interval: Interval) -> Interval:
        return Interval(interval.low * self.span, interval.high * self.span)

    def spoilt(self) -> str:
        """Why there can be no verdict; empty where there can."""
        if not self.differences:
            return "no case has a score on both sides"
        ours, others = self.errors
        if ours + others > MOST_ERRORS * self.cells:
            return f"{_counted(ours + others, 'error')} in {self.cells} cells are too many; retry them"
        if abs(ours - others) >= UNEVEN:
            return f"the baseline has {_counted(ours, 'error')}, the other {others}; retry them"
        return ""


def _paired(baseline: ColumnScores, other: ColumnScores, span: float) -> _Pairs:
    cases = baseline.keys() | other.keys()
    pairs = [(baseline.get(case, NOT_RUN), other.get(case, NOT_RUN)) for case in sorted(cases)]
    kept = [(ours, theirs) for ours, theirs in pairs if not math.isnan(ours.mean + theirs.mean)]
    graded = any(0 < score < 1 and score != span for pair in kept for cell in pair for score in cell.scores)
    units = math.lcm(*(len(cell.scores) for pair in kept for cell in pair))
    return _Pairs(
        differences=tuple((theirs.mean - ours.mean) / span for ours, theirs in kept),
        span=span,
        full=STEPS if graded or units > MOST_UNITS else units,
        graded=graded,
        dropped=len(pairs) - len(kept),
        cells=sum(len(cell.scores) + cell.errors for pair in pairs for cell in pair),
        errors=(sum(ours.errors for ours, _ in pairs), sum(theirs.errors for _, theirs in pairs)),
    )


def _judged(pairs: _Pairs, test: SignFlips, p: float, margin: float | None, *, columns: int) -> Verdict:
    interval, needed = pairs.interval(), None
    why = pairs.spoilt()
    word: VerdictWord = "cannot tell" if why else _word(pairs, p, interval, margin)
    told = f"no worse than {in_points(margin)} points" if word == "no worse" and margin else word
    if word == "cannot tell" and not why:
        needed = _needed(pairs, test, alpha=ALPHA / columns)
        why = _needed_words(pairs, needed)
    return _said(pairs, word, f"{told}; {why}" if why else told, margin, p=p, interval=interval, needed=needed)


def _word(pairs: _Pairs, p: float, interval: Interval, margin: float | None) -> VerdictWord:
    if p <= ALPHA and interval.low > 0:
        return "better"
    if p <= ALPHA and interval.high < 0:
        return "worse"
    if margin is not None and pairs.is_no_worse(margin):
        return "no worse"
    return "cannot tell"


def _needed(pairs: _Pairs, test: SignFlips, *, alpha: float) -> int:
    further = 1
    while test.p(further) > alpha:
        further += 1
    while (interval := pairs.interval(further=further)).low <= 0 <= interval.high:
        further += 1
    return further


def _needed_words(pairs: _Pairs, needed: int) -> str:
    total = sum(pairs.steps)
    fully = "" if pairs.full == 1 else " in full"
    if not total:
        return f"{needed} more that all change one way{fully} and it would be clear"
    return f"{'one' if needed == 1 else needed} more {'better' if total > 0 else 'worse'}{fully} and it would be clear"


def _said(
    pairs: _Pairs,
    word: VerdictWord,
    told: str,
    margin: float | None,
    *,
    p: float | None = None,
    interval: Interval | None = None,
    needed: int | None = None,
) -> Verdict:
    steps = pairs.steps
    better, worse = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
    left_out = f"; {_counted(pairs.dropped, 'case')} without a score on both sides left out" if pairs.dropped else ""
    return Verdict(
        verdict=word,
        better=better,
        worse=worse,
        same=len(steps) - better - worse,
        dropped=pairs.dropped,
        n=len(steps),
        p=p,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        margin=margin,
        needed=needed,
        words=f"{better} better, {worse} worse of {len(steps)}: {told}{left_out}",
    )


def noise_words(columns: Sequence[ColumnScores]) -> str:
    """How many cases flip from one try to the next with nothing changed, as a sentence; empty for graded scores."""
    cells = [cell for column in columns for cell in column.values() if not math.isnan(cell.mean)]
    if not cells or any(cell.graded for cell in cells):
        return ""
    cases = len({case for column in columns for case, cell in column.items() if cell.scores})
    repeated = [(round(sum(cell.scores)), len(cell.scores)) for cell in cells if len(cell.scores) > 1]
    if not repeated:
        passed = (sum(cell.mean for cell in cells) + 1) / (len(cells) + 2)  # not all of those to come, if all so far
        most = math.ceil(2 * passed * (1 - passed) * cases)
        return f"Up to {most} of {cases} may flip by themselves; repeats would tell."
    flips = round(expected_flips(repeated) / len(repeated) * cases)
    return f"{f'About {flips}' if flips else 'Fewer than one'} of {cases} flip by themselves."


def reach_words(cases: int) -> str:
    """What an experiment of so many cases can show, said before it is run; where 5 % of them get worse anyway."""
    gain = reach(cases)
    if gain is None:
        return f"{_counted(cases, 'case')} can show no gain reliably; it takes {FEWEST_CASES_WITH_REACH} at least"
    return f"with {cases} cases this can show a gain of about {in_points(gain)} points or more"


def in_points(share: float) -> str:
    """A share in points, as whole ones from 1 on; what is not 0 never reads as 0."""
    points = 100 * share
    return f"{points:.0f}" if abs(points) >= 1 else f"{points:.1g}"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
