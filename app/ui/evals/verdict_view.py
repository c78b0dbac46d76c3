"""The verdicts of an experiment: the counts first, the word, and what stands behind it."""

from app.domain.evals.results import ColumnVerdict, Results
from app.domain.evals.verdicts import VerdictWord
from app.ui.elements.markup import Html, icon, joined, tag

LOOKS: dict[VerdictWord, tuple[str, str]] = {
    "better": ("trending_up", "good"),
    "worse": ("trending_down", "bad"),
    "no worse": ("check", "good"),
    "cannot tell": ("help_outline", "plain"),
}
"""Symbol and tone."""
ALONE = "There is one column, so there is nothing to compare. Try a second variant or model to see which does better."


def verdict_view(results: Results) -> Html:
    """A line for each column beside the first one, and how much changes by itself."""
    if not results.verdicts:
        only = f"{results.columns[0].rate_words}. " if results.finished else ""
        return tag("div", tag("p", only, ALONE, cls="muted"), cls="verdict", data_testid="verdict")
    baseline = results.columns[0].column.words
    lines = joined(*(_line(results, told, baseline) for told in results.verdicts))
    return joined(lines, tag("p", results.noise, cls="faint", data_testid="noise") if results.noise else "")


def _line(results: Results, told: ColumnVerdict, baseline: str) -> Html:
    verdict = told.verdict
    symbol, tone = LOOKS[verdict.verdict] if results.finished else ("hourglass_empty", "plain")
    words = tag("p", tag("strong", f"{results.columns[told.column].column.words} against {baseline}: "), verdict.words)
    figures = tag("p", verdict.figures, cls="faint") if verdict.figures else ""
    about = tag(
        "details",
        tag("summary", "What this rests on", cls="faint"),
        figures,
        tag("p", "Cases are compared one by one, by an exact test and an interval that have to agree.", cls="faint"),
    )
    word = verdict.verdict.capitalize() if results.finished else "Not yet"
    badge = tag("span", icon(symbol), word, cls="verdict-word", title=verdict.figures)
    told_of = tag("div", words, about if figures else "", cls="grow")
    return tag("div", badge, told_of, cls=f"verdict is-{tone}", data_testid="verdict", data_verdict=verdict.verdict)
