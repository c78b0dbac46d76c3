"""The head of a run's page: what was asked of whom, how it went, and what it used up."""

from datetime import datetime

from app.domain.trace import RunRow
from app.ui.elements.addresses import RUNS, session_address
from app.ui.elements.format import dollars, duration, head, moment_text, plural, tokens
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.status_pill import status_pill
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trace_origin import origin
from app.ui.runs.trace_rows import so_far_ms


def run_heading(row: RunRow | None, now: datetime, run: RunSoFar) -> Html:
    """`row` is `None` where neither the trace nor the list of runs knows whose run it is."""
    if row is None:
        words = "The record that says which agent this was cannot be read."
        return joined(_back(), tag("h1", "Run", cls="page-title"), tag("p", words, cls="muted"))
    return joined(
        _back(),
        tag("h1", head(row.request, 160) or "Run without text", cls="page-title"),
        tag("div", _who(row), origin(run, row), cls="run-facts"),
        tag("div", *_facts(row, now), cls="run-facts"),
    )


def loading_heading() -> Html:
    """The same place while the trace is still read."""
    bars = (tag("div", cls=f"skeleton skeleton-{size}") for size in ("wide", "half"))
    return joined(_back(), tag("p", "Reading this run…", cls="muted", role="status"), *bars)


def _back() -> Html:
    return tag("a", icon("arrow_back"), "Runs", href=RUNS, cls="back-link", data_testid="back-to-runs")


def _who(row: RunRow) -> Html:
    return joined(
        tag("strong", row.agent.name),
        tag("span", f"v{row.agent.variant}", cls="chip", title="Variant"),
        tag("span", row.model, cls="chip", title="Model", data_testid="model-chip"),
        tag("span", status_pill(row.status), data_testid="status-pill"),
        tag("a", icon("forum"), "Open its session", href=session_address(row.session_id), cls="session-link"),
    )


def _facts(row: RunRow, now: datetime) -> list[Html]:
    began = row.started_at
    detail = f"{row.input_tokens:,} in, {row.output_tokens:,} out"
    return [
        _fact("schedule", tag("time", moment_text(began), datetime=began.isoformat()), "Started"),
        _fact("timer", duration(so_far_ms(row, now)), "Duration"),
        _fact("alt_route", plural(row.model_calls, "model call"), "Model calls"),
        _fact("build", plural(row.tool_calls, "tool call"), "Tool calls"),
        _fact("toll", tokens(row.input_tokens + row.output_tokens), f"Tokens: {detail}", "token-chip"),
        _fact("payments", dollars(row.cost, unpriced=row.unpriced), "Cost", "cost-chip"),
    ]


def _fact(symbol: str, words: str, title: str, testid: str = "") -> Html:
    name = tag("span", f"{title}: ", cls="visually-hidden")
    return tag("span", icon(symbol), name, words, cls="chip", title=title, data_testid=testid or None)
