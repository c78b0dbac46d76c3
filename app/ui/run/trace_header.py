"""The head of a run's page: what was asked of whom, how it went, what it used up, and where it comes from."""

from collections.abc import Sequence
from datetime import datetime

from app.domain.agents import NODES_MODELS
from app.domain.provenance import WITHOUT_AGENT, Purpose, Trigger
from app.domain.trace import RunRow
from app.ui.elements.addresses import RUNS, run_address, session_address
from app.ui.elements.format import dollars, duration, head, moment_text, plural, tokens
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.pager import address_with
from app.ui.elements.status_pill import status_pill
from app.ui.run.trace_growth import RunSoFar
from app.ui.runs.trace_rows import so_far_ms


def run_heading(row: RunRow | None, now: datetime, run: RunSoFar, below: Sequence[RunRow] = ()) -> Html:
    """`below`: the runs that it started, and that these started.

    `row` is `None` where neither the trace nor the list of runs knows whose run it is.
    """
    if row is None:
        words = "The record that says which agent this was cannot be read."
        return joined(_back(), tag("h1", "Run", cls="page-title"), tag("p", words, cls="muted"))
    return joined(
        _back(),
        tag("h1", head(row.request, 160) or "Run without text", cls="page-title"),
        tag("div", _who(row), origin(run, row), cls="run-facts"),
        tag("div", *_facts(row, now, below, nodes=len(run.nodes.by_call)), cls="run-facts"),
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
        tag("span", row.agent.variant_mark, cls="chip", title="Variant"),
        tag("span", row.model or NODES_MODELS, cls="chip", title="Model", data_testid="model-chip"),
        tag("span", status_pill(row.status), data_testid="status-pill"),
        "" if row.purpose in WITHOUT_AGENT else _session(row),
    )


def _session(row: RunRow) -> Html:
    """The way to the conversation, on the branch that the run is of."""
    address = address_with(session_address(row.session_id), {"run": row.run_id})
    return tag("a", icon("forum"), "Open its session", href=address, cls="session-link")


def _facts(row: RunRow, now: datetime, below: Sequence[RunRow], *, nodes: int) -> list[Html]:
    began = row.started_at
    return [
        _fact("schedule", tag("time", moment_text(began), datetime=began.isoformat()), "Started"),
        _fact("timer", duration(so_far_ms(row, now)), "Duration"),
        _fact("schema", plural(nodes, "node"), "Nodes")
        if nodes
        else _fact("alt_route", plural(row.model_calls, "model call"), "Model calls"),
        _fact("build", plural(row.tool_calls, "tool call"), "Tool calls"),
        _tokens(row, below),
        _cost(row, below),
    ]


def _tokens(row: RunRow, below: Sequence[RunRow]) -> Html:
    """What its models read and wrote, with all that it started."""
    read, written = (sum(getattr(one, name) for one in (row, *below)) for name in ("input_tokens", "output_tokens"))
    own = f"; itself {tokens(row.input_tokens + row.output_tokens)}" if below else ""
    return _fact("toll", tokens(read + written), f"Tokens: {read:,} in, {written:,} out{own}", "token-chip")


def _cost(row: RunRow, below: Sequence[RunRow]) -> Html:
    """What it cost with all that it started, and how much of that is its own."""
    spent, unpriced = sum(one.cost for one in below), any(one.unpriced for one in (row, *below))
    if not below:
        return _fact("payments", dollars(row.cost, unpriced=unpriced), "Cost", "cost-chip")
    words = f"{dollars(row.cost + spent, unpriced=unpriced)} with {plural(len(below), 'run')} below"
    return _fact(
        "payments", words, f"Cost: {dollars(row.cost)} itself, {dollars(spent)} the runs below it", "cost-chip"
    )


def _fact(symbol: str, words: str, title: str, testid: str = "") -> Html:
    name = tag("span", f"{title}: ", cls="visually-hidden")
    return tag("span", icon(symbol), name, words, cls="chip", title=title, data_testid=testid or None)


CHILDREN = 6
"""Child runs that are linked; more are counted."""
PURPOSES: dict[Purpose, str] = {
    "chat": "",
    "api": "",
    "compare": "Part of a comparison",
    "experiment": "Part of an experiment",
    "judge": "A judge's verdict",
    "suggestion": "A suggestion for a better prompt",
    "simulated_user": "A simulated user",
    "try": "Tried in the editor: in no figure of the agent",
    "replay": "A replay",
}


def origin(run: RunSoFar, row: RunRow) -> Html:
    """Who started it, what it is part of, and links to its parent, its origin and its children."""
    parent = _link("subdirectory_arrow_right", "Parent run", row.parent.run_id, "parent-run") if row.parent else ""
    purpose = _words("label", PURPOSES[row.purpose]) if PURPOSES[row.purpose] else ""
    background = _words("schedule_send", "In the background") if row.background else ""
    words = _words("play_circle", trigger_words(row.trigger))
    return joined(words, purpose, background, parent, _forked(run), _imported(run), _children(run))


def trigger_words(trigger: Trigger) -> str:
    """Who started a run, in words."""
    named = f" {trigger.name}" if trigger.name else ""
    program = f", by {head(trigger.program, 60)}" if trigger.program else ""
    match trigger.kind:
        case "page":
            return f"Started on the page{named}" if named else "Started on a page"
        case "terminal":
            return "Started in the terminal"
        case "api_key":
            return (f"Started with the API key{named}" if named else "Started over the API") + program
        case "agent":
            return f"Started by the agent{named}"
        case "job":
            return f"Started by the job{named}"
        case "app":
            return f"Calls of an app{named}"


def _forked(run: RunSoFar) -> Html:
    if run.forked is None:
        return Html("")
    step = run.number(run.forked.seq)
    words = f"Forked from step {step} of another run" if step else "Forked from the beginning of another run"
    return _link("fork_right", words, f"{run.forked.run_id}?step={run.forked.seq}", "forked-from")


def _imported(run: RunSoFar) -> Html:
    origin = run.started.imported if run.started else None
    if origin is None:
        return Html("")
    title = f"There it was the run {origin.run_id}."
    writer = origin.app if origin.app.startswith("ATIF") else f"Agent Playground {origin.app}"
    words = f"Imported from {writer}, {moment_text(origin.at)}"
    told = tag("span", icon("download"), words, cls="run-origin-words", title=title, data_testid="imported-from")
    notes = (tag("li", note) for note in origin.notes)
    left = tag("details", tag("summary", "What was left out"), tag("ul", *notes), data_testid="import-notes")
    return joined(told, left) if origin.notes else told


def _children(run: RunSoFar) -> Html:
    shown = list(run.children.items())[:CHILDREN]
    links = [
        _link("account_tree", f"Child run {number} ({status or 'going on'})", child, "child-run")
        for number, (child, status) in enumerate(shown, start=1)
    ]
    more = len(run.children) - len(shown)
    return joined(*links, _words("account_tree", f"and {plural(more, 'more child run')}") if more else "")


def _link(symbol: str, words: str, target: str, testid: str) -> Html:
    return tag("a", icon(symbol), words, href=run_address(target), cls="session-link", data_testid=testid)


def _words(symbol: str, words: str) -> Html:
    return tag("span", icon(symbol), words, cls="run-origin-words")
