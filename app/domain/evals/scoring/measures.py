"""What a try took: time, money, steps."""

from app.domain.evals.evidence import Evidence
from app.domain.evals.scorers import Cost, Latency, Steps
from app.domain.evals.scoring.opinion import NotScored, Opinion, yes_or_no


def judge_latency(scorer: Latency, evidence: Evidence) -> Opinion:
    seconds = evidence.ms / 1000
    return yes_or_no(seconds <= scorer.most_seconds, f"{seconds:.2f} s, at most {scorer.most_seconds:g} s.")


def judge_cost(scorer: Cost, evidence: Evidence) -> Opinion:
    """Raises `NotScored` where nobody said what the model costs."""
    spent = f"{evidence.cost:.4f} US$, at most {scorer.most_usd:g} US$."
    if evidence.unpriced and evidence.cost <= scorer.most_usd:
        raise NotScored(
            f"Nobody said what {evidence.model} costs. Choose a model with a known price, or leave this scorer out."
        )
    return yes_or_no(evidence.cost <= scorer.most_usd + 1e-12, spent)


def judge_steps(scorer: Steps, evidence: Evidence) -> Opinion:
    """Raises `NotScored` where the scorer names no bound."""
    counted = (("steps", evidence.steps, scorer.most_steps), ("calls of tools", len(evidence.calls), scorer.most_calls))
    bounds = [(noun, count, most) for noun, count, most in counted if most is not None]
    if not bounds:
        raise NotScored("The scorer names no bound. Say how many steps or calls of tools it may take.")
    words = "; ".join(f"{count} {noun}, at most {most}" for noun, count, most in bounds)
    return yes_or_no(all(count <= most for _, count, most in bounds), f"{words}.")
