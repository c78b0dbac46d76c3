"""Judges beside people: which answers both rated, and how far they agree."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from app.domain.evals.agreement import Agreement, agreement
from app.domain.evals.experiments import Cell, Plan
from app.domain.evals.scorers import Judge


class Judged(NamedTuple):
    """An answer that both rated."""

    run_id: str
    person: bool
    judge: bool


@dataclass(frozen=True)
class JudgeBeside:
    """A judge as it is written down: another model, prompt or criterion makes another judge."""

    digest: str
    scorer: Judge
    rows: tuple[Judged, ...]

    @property
    def agreement(self) -> Agreement:
        return agreement((row.person, row.judge) for row in self.rows)

    def where(self, *, person: bool, judge: bool) -> list[Judged]:
        """The rows that both rated so."""
        return [row for row in self.rows if (row.person, row.judge) == (person, judge)]


def judges_beside(tried: Iterable[tuple[Plan, Iterable[Cell]]], rated: Mapping[str, bool]) -> list[JudgeBeside]:
    """Every judge of these experiments, the one with most rows first; `rated`: what a person said, by run.

    A person rates the last answer of a cell, which is what the judge saw last; each run counts once for a judge.
    """
    judges: dict[str, Judge] = {}
    rows: defaultdict[str, dict[str, Judged]] = defaultdict(dict)
    for plan, cells in tried:
        own = {scorer.name: scorer for scorer in plan.scorers if isinstance(scorer, Judge)}
        judges |= {scorer.digest: scorer for scorer in own.values()}
        for cell in cells:
            for name, passed in judged_so(cell, own):
                digest = (score.scorer if (score := cell.score(name)) else "") or own[name].digest
                judges.setdefault(digest, own[name])
                if cell.runs and cell.runs[-1] in rated:
                    rows[digest][cell.runs[-1]] = Judged(cell.runs[-1], rated[cell.runs[-1]], passed)
    found = (JudgeBeside(digest, scorer, tuple(rows[digest].values())) for digest, scorer in judges.items())
    return sorted(found, key=lambda one: (-len(one.rows), one.scorer.name))


def judged_so(cell: Cell, judges: Mapping[str, Judge]) -> list[tuple[str, bool]]:
    """What the judges of these names said of a cell, those left out that could not say."""
    return [(one.name, one.passed) for one in cell.scores if one.name in judges and one.passed is not None]
