"""Where a run comes from, and which other runs came of it."""

from app.domain.provenance import Purpose, Trigger
from app.domain.trace import RunRow
from app.ui.elements.addresses import run_address
from app.ui.elements.format import moment_text, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.run.trace_growth import RunSoFar

CHILDREN = 6
"""Child runs that are linked; more are counted."""
PURPOSES: dict[Purpose, str] = {
    "chat": "",
    "api": "",
    "compare": "Part of a comparison",
    "experiment": "Part of an experiment",
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
    match trigger.kind:
        case "page":
            return f"Started on the page{named}" if named else "Started on a page"
        case "terminal":
            return "Started in the terminal"
        case "api_key":
            return f"Started with the API key{named}" if named else "Started over the API"
        case "agent":
            return f"Started by the agent{named}"
        case "job":
            return f"Started by the job{named}"


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
    words = f"Imported from Agent Playground {origin.app}, {moment_text(origin.at)}"
    return tag("span", icon("download"), words, cls="run-origin-words", title=title, data_testid="imported-from")


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
