"""What an experiment would cost and could show, in words, before it starts."""

from app.domain.evals.drafts import Estimate, ExperimentDraft
from app.ui.elements.format import dollars, plural
from app.ui.elements.markup import Html, icon, joined, tag

PILOT = "Nobody knows yet what a run costs: three cases run first, then it pauses and says what the rest would cost."
FREE = "It costs nothing."


def estimate_view(estimate: Estimate, draft: ExperimentDraft) -> Html:
    """Cells and money, reach, what has to be known before, and the tools that are called for real."""
    cells = plural(estimate.cells, "cell" if draft.as_recorded else "run")
    warnings = []
    if estimate.side_effects:
        listed = ", ".join(estimate.side_effects)
        words = f"Called for real, without asking, and they change something outside: {listed}."
        warnings.append(tag("p", icon("warning"), words, cls="mark mark-warn", data_testid="try-side-effects"))
    return joined(
        tag("p", tag("strong", f"{cells}. "), cost_words(estimate)),
        tag("p", f"{estimate.reach[:1].upper()}{estimate.reach[1:]}."),
        *(tag("p", note, cls="muted") for note in estimate.notes),
        *warnings,
    )


def cost_words(estimate: Estimate) -> str:
    """`About $0.02 to $0.05, and $0.01 to $0.02 for its judges.`"""
    runs, judges = _range(estimate.low_usd, estimate.high_usd), _range(estimate.judge_low_usd, estimate.judge_high_usd)
    if not runs:
        told = PILOT if estimate.pilot else "Nobody knows yet what a run costs."
    elif estimate.high_usd == 0 and estimate.judge_high_usd == 0:
        return FREE
    else:
        told = f"About {runs}."
    if not judges:
        return f"{told} What its judges cost is not known."
    return f"{told} Its judges: {judges}." if estimate.judge_high_usd else told


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return dollars(high) if dollars(low) == dollars(high) else f"{dollars(low)} to {dollars(high)}"
