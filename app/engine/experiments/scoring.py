"""Scores: each scorer asked in its own way, and none of them trusted to come to an end."""

import asyncio
import hashlib
import logging
import math
from dataclasses import dataclass

from pydantic import JsonValue

from app.domain.errors import ToolCrashed, ToolError
from app.domain.evals.evidence import Evidence
from app.domain.evals.experiments import CellScore
from app.domain.evals.scorers import (
    Contains,
    Cost,
    Exact,
    Judge,
    Latency,
    Pairwise,
    PythonFile,
    Scorer,
    Steps,
    Trajectory,
)
from app.domain.evals.scoring.opinion import NotScored, Opinion, not_scored, score_of
from app.domain.evals.scoring.plain import judge_plainly
from app.domain.reading.expressions import Expressions
from app.engine.experiments.judging import Judging
from app.engine.ports import ScorerFiles

log = logging.getLogger(__name__)

LONGEST_QUICK = 10_000  # characters
MOST_PAIRS = 100
"""Of an expected call and one that was made."""
CASE_FIELDS = {"id", "input", "turns", "data", "variables", "reference", "expected_calls", "tags"}
"""What a scorer's file is told of the case."""
RETURNS = "Return True or False, a number from 0 to 1, or one of them with a reason: (value, reason)."


@dataclass
class Scoring:
    expressions: Expressions
    files: ScorerFiles
    judging: Judging

    async def score(
        self, scorer: Scorer, evidence: Evidence, *, baseline: Evidence | None = None, experiment_id: str = ""
    ) -> CellScore:
        """What the scorer says of the try; `baseline` is the other one where two are compared.

        Whatever goes wrong in that is no score, with the reason; nothing but a cancellation is raised.
        """
        try:
            return await self._asked(scorer, evidence, baseline, experiment_id)
        except NotScored as why:
            return not_scored(scorer, why)
        except Exception as error:
            log.exception("The scorer %r broke down over case %s", scorer.name, evidence.case.id)
            return not_scored(scorer, NotScored(f"The scorer broke down: {type(error).__name__}: {error}"))

    async def _asked(
        self, scorer: Scorer, evidence: Evidence, baseline: Evidence | None, experiment_id: str
    ) -> CellScore:
        match scorer:
            case Judge():
                return await self.judging.judge(scorer, evidence, experiment_id=experiment_id)
            case Pairwise():
                return await self.judging.compare(scorer, evidence, baseline, experiment_id=experiment_id)
            case PythonFile():
                return await self._by_file(scorer, evidence)
            case _:
                if _is_quick(scorer, evidence):  # handing it to a thread would take longer
                    return score_of(scorer, judge_plainly(scorer, evidence, self.expressions))
                return score_of(scorer, await asyncio.to_thread(judge_plainly, scorer, evidence, self.expressions))

    async def _by_file(self, scorer: PythonFile, evidence: Evidence) -> CellScore:
        given = await asyncio.to_thread(_given, scorer, evidence)
        try:
            text, returned = await self.files.judged(scorer.file, given)
        except ToolCrashed as error:
            raise NotScored(f"{scorer.file} crashed: {error}", traceback=error.traceback) from error
        except ToolError as error:
            raise NotScored(str(error)) from error
        as_it_was = hashlib.sha256(f"{scorer.digest} {text}".encode()).hexdigest()
        return score_of(scorer, _opinion(returned, scorer.file), as_it_was=as_it_was)


def _is_quick(scorer: Scorer, evidence: Evidence) -> bool:
    """Whether it says so within a fraction of a millisecond."""
    if len(evidence.answer) > LONGEST_QUICK:
        return False
    match scorer:
        case Trajectory():
            return len(evidence.calls) * len(evidence.case.expected_calls or ()) <= MOST_PAIRS
        case _:
            return isinstance(scorer, Exact | Contains | Latency | Cost | Steps)


def _given(scorer: PythonFile, evidence: Evidence) -> dict[str, JsonValue]:
    """What `score` may take, by the names of its arguments."""
    return {
        "answer": evidence.answer,
        "reference": evidence.case.reference,
        "case": evidence.case.model_dump(mode="json", include=CASE_FIELDS),
        "calls": [
            {"name": call.name, "arguments": call.arguments, "status": call.status, "step": call.step}
            for call in evidence.calls
        ],
        "settings": scorer.settings,
    }


def _opinion(returned: JsonValue, file: str) -> Opinion:
    """What a file's `score` returned. Raises `NotScored` for what says nothing."""
    match returned:
        case [bool() | int() | float() | None as value, str(reason)]:
            pass
        case {"value": bool() | int() | float() | None as value, "reason": told}:
            reason = told if isinstance(told, str) else ""
        case bool() | int() | float() | None as value:
            reason = ""
        case _:
            raise NotScored(f"score in {file} returned what is no score: {str(returned)[:100]!r}. {RETURNS}")
    if value is None:
        raise NotScored(reason or f"score in {file} returned None, which says nothing. {RETURNS}")
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise NotScored(f"score in {file} returned {value}, which is not from 0 to 1. {RETURNS}")
    return Opinion(float(value), reason)
