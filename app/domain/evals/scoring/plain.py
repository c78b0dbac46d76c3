"""Which function judges for which scorer, of those that need neither a model nor a file."""

from typing import assert_never

from app.domain.evals.evidence import Evidence
from app.domain.evals.scorers import (
    Checks,
    Contains,
    Cost,
    Exact,
    JsonMatch,
    Latency,
    Numeric,
    Regex,
    Steps,
    Trajectory,
)
from app.domain.evals.scoring.json_values import judge_json, judge_number
from app.domain.evals.scoring.measures import judge_cost, judge_latency, judge_steps
from app.domain.evals.scoring.opinion import NotScored, Opinion, passes
from app.domain.evals.scoring.texts import judge_contains, judge_exact, judge_pattern
from app.domain.evals.scoring.trajectory import judge_trajectory
from app.domain.reading.expressions import Expressions

PlainScorer = Exact | Contains | Regex | JsonMatch | Numeric | Latency | Cost | Steps | Trajectory | Checks


def judge_plainly(  # noqa: PLR0911  one for each type
    scorer: PlainScorer, evidence: Evidence, expressions: Expressions
) -> Opinion:
    """What the scorer says; may take a while, so in a thread. Raises `NotScored`."""
    match scorer:
        case Exact():
            return judge_exact(scorer, evidence)
        case Contains():
            return judge_contains(scorer, evidence)
        case Regex():
            return judge_pattern(scorer, evidence)
        case JsonMatch():
            return judge_json(scorer, evidence, expressions)
        case Numeric():
            return judge_number(scorer, evidence, expressions)
        case Latency():
            return judge_latency(scorer, evidence)
        case Cost():
            return judge_cost(scorer, evidence)
        case Steps():
            return judge_steps(scorer, evidence)
        case Trajectory():
            return judge_trajectory(scorer, evidence)
        case Checks():
            return _judge_checks(evidence, expressions)
        case _:
            assert_never(scorer)


def _judge_checks(evidence: Evidence, expressions: Expressions) -> Opinion:
    """The share of what the case itself asks that holds."""
    checks = evidence.case.checks
    if not checks:
        raise NotScored("The case asks nothing of its answers. Add a check to it, or use another scorer.")
    said = [(check, judge_plainly(check, evidence, expressions)) for check in checks]
    wrong = [f"{check.name}: {opinion.reason}" for check, opinion in said if not passes(check, opinion.value)]
    held = len(checks) - len(wrong)
    return Opinion(held / len(checks), " ".join([f"{held} of {len(checks)} checks hold.", *wrong]))
