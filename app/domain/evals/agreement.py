"""How far a judge agrees with the people who rated the same rows, and what its verdicts are good for then."""

from collections.abc import Iterable
from typing import Literal

from app.domain.evals.statistics import Interval, corrected_rate, wilson
from app.domain.values import Value

Calibration = Literal["uncalibrated", "weak", "usable"]

FEWEST_LABELS = 30
FEWEST_FAILING = 10
LEAST_KAPPA = 0.4
LEAST_SIDE = 0.6
"""Of the low ends of sensitivity and specificity."""
FEWEST_ON_A_SIDE = 20
LEAST_TOGETHER = 1.3
"""Of sensitivity and specificity, more than this: with 1 the judge guesses, and a little more corrects nothing."""


class Share(Value):
    """So many of so many rows."""

    of: int
    right: int

    @property
    def rate(self) -> float | None:
        return self.right / self.of if self.of else None

    @property
    def interval(self) -> Interval:
        return wilson(self.right, of=self.of)


class Agreement(Value):
    """The rows that a person and the judge both said passed or failed, by who of them passed it."""

    both: int = 0
    only_judge: int = 0
    only_person: int = 0
    neither: int = 0

    @property
    def labels(self) -> int:
        return self.both + self.only_judge + self.only_person + self.neither

    @property
    def sensitivity(self) -> Share:
        """Of the rows that a person passed, those that the judge passed."""
        return Share(of=self.both + self.only_person, right=self.both)

    @property
    def specificity(self) -> Share:
        """Of the rows that a person failed, those that the judge failed."""
        return Share(of=self.neither + self.only_judge, right=self.neither)

    @property
    def agreed(self) -> Share:
        return Share(of=self.labels, right=self.both + self.neither)

    @property
    def kappa(self) -> float | None:
        """Cohen's: agreement above chance, 1 at most; `None` without rows, and where both said one word only.

        It collapses where nearly all rows pass, however much the two agree: read the four counts first.
        """
        chance, agreed = self._chance, self.agreed.rate
        return None if chance is None or agreed is None else (agreed - chance) / (1 - chance)

    @property
    def kappa_interval(self) -> Interval | None:
        """At 95 %, by what the share of agreed rows may be."""
        chance, agreed = self._chance, self.agreed.interval
        return None if chance is None else Interval(*((end - chance) / (1 - chance) for end in agreed))

    @property
    def ac1(self) -> float | None:
        """Gwet's, which does not collapse where nearly all rows pass; `None` without rows."""
        if self.agreed.rate is None:
            return None
        passed = (2 * self.both + self.only_judge + self.only_person) / (2 * self.labels)
        chance = 2 * passed * (1 - passed)
        return (self.agreed.rate - chance) / (1 - chance)

    @property
    def state(self) -> Calibration:
        """Only a usable judge may decide a gate."""
        if self.labels < FEWEST_LABELS:
            return "uncalibrated"
        lowest = min(self.sensitivity.interval.low, self.specificity.interval.low)
        return "usable" if lowest >= LEAST_SIDE and (self.kappa or 0.0) >= LEAST_KAPPA else "weak"

    @property
    def wanted(self) -> str:
        """Which rows a person should label next, as a sentence; empty where there are enough."""
        missing, failing = FEWEST_LABELS - self.labels, FEWEST_FAILING - self.specificity.of
        if failing > 0:
            more = max(missing, failing)
            return f"Label {more} more rows, {failing} of them failing: without those agreement says little."
        return f"Label {missing} more rows." if missing > 0 else ""

    def corrected(self, judged: float) -> float | None:
        """What a pass rate by this judge likely is; `None` where too few rows, or too poor a judge, tell."""
        sides = (self.sensitivity, self.specificity)
        if min(side.of for side in sides) < FEWEST_ON_A_SIDE:
            return None
        sensitivity, specificity = (side.right / side.of for side in sides)
        if sensitivity + specificity <= LEAST_TOGETHER:
            return None
        return corrected_rate(judged, sensitivity=sensitivity, specificity=specificity)

    @property
    def _chance(self) -> float | None:
        """How often two would agree who say passed as often as these; `None` where that is always, or without rows."""
        if not self.labels:
            return None
        judge, person = (self.both + self.only_judge) / self.labels, (self.both + self.only_person) / self.labels
        chance = judge * person + (1 - judge) * (1 - person)
        return chance if chance < 1 else None


def agreement(rows: Iterable[tuple[bool, bool]]) -> Agreement:
    """Of rows as (passed by the person, passed by the judge)."""
    said = list(rows)
    return Agreement(
        both=said.count((True, True)),
        only_judge=said.count((False, True)),
        only_person=said.count((True, False)),
        neither=said.count((False, False)),
    )
