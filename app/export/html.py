"""A run as one HTML file that opens anywhere: no app, no script, nothing loaded from anywhere.

Its policy forbids every request and every script, so that even a hole in the escaping would do nothing. The trace
itself is inside as well: a link saves it as JSON Lines, packed with gzip.
"""

import base64
import gzip
import hashlib
from collections.abc import Mapping, Sequence

from app.domain.events import Entry
from app.domain.failure_words import failure_words
from app.domain.trace import RunRow, error_of, run_row, totals, trajectory
from app.export.html_events import Timeline
from app.export.html_style import STYLE
from app.export.origins import counted, origins
from app.export.rich_text import Markup, element, escaped, joined
from app.export.words import STATUS_WORDS, cost_words, duration_words, moment_words, one_line

RAW_SHOWN = 300_000
"""Characters of raw events that the page shows; the others are in the trace that it carries."""


def html_page(
    entries: Sequence[Entry],
    trace: bytes,
    *,
    artifacts: Mapping[str, bytes],
    alive: bool = False,
    notes: Sequence[str] = (),
) -> bytes:
    """The run as a page. `trace`: its JSON Lines. `artifacts`: contents by sha256; one that is not there is named."""
    row = run_row(entries, alive=alive)
    timeline = Timeline(artifacts)
    body = element(
        "main",
        _header(entries, row, notes),
        _error(entries),
        element("h2", "Timeline", id="timeline"),
        *timeline.sections(entries),
        _trajectory(entries),
        _usage(entries, row),
        _raw(entries, trace),
    )
    return _document(f"Run of {one_line(row.agent.name, 80)}", body).encode()


def _document(title: str, body: Markup) -> str:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width">'
        f'<link rel="icon" href="data:,"><title>{escaped(title)}</title><style>{STYLE}</style></head>\n'
        f"<body>{body}</body></html>\n"
    )


def _header(entries: Sequence[Entry], row: RunRow, notes: Sequence[str]) -> Markup:
    facts = {
        "Agent": f"{one_line(row.agent.name)}, variant {row.agent.variant}",
        "Model": row.model,
        "Started": moment_words(row.started_at),
        "Status": STATUS_WORDS[row.status],
        "Run": row.run_id,
        **origins(entries),
    }
    links = (("Timeline", "#timeline"), ("Trajectory", "#trajectory"), ("Usage", "#usage"), ("Raw data", "#raw"))
    return element(
        "header",
        element("h1", f"Run of {one_line(row.agent.name)}"),
        element("table", *(element("tr", element("th", name), element("td", value)) for name, value in facts.items())),
        *(element("p", note, cls="card note") for note in notes),
        element("nav", *(element("a", name, href=place) for name, place in links)),
    )


def _error(entries: Sequence[Entry]) -> Markup:
    if (error := error_of(entries)) is None:
        return Markup()
    words = failure_words(error.failure)
    said = (element("strong", words.title), element("p", error.text, cls="text"), element("p", words.next_step))
    return element("div", *said, cls="card bad")


def _trajectory(entries: Sequence[Entry]) -> Markup:
    numbers = (element("th", name, cls="n") for name in ("Tokens", "Cost", "Time"))
    head = element("tr", element("th", "Step"), element("th", "Decision"), *numbers)
    rows = (
        element(
            "tr",
            element("td", element("a", str(step.number), href=f"#step-{step.number}")),
            element("td", ", ".join(call.name for call in step.calls) or "answer"),
            element("td", f"{step.decision.usage.total_tokens:,}", cls="n"),
            element("td", cost_words(step.decision.cost), cls="n"),
            element("td", duration_words(step.decision.ms), cls="n"),
        )
        for step in trajectory(entries)
    )
    return joined(
        element("h2", "Trajectory", id="trajectory"), element("div", element("table", head, *rows), cls="wide")
    )


def _usage(entries: Sequence[Entry], row: RunRow) -> Markup:
    sums = totals(entries)
    figures = {
        "Model calls": f"{sums.model_calls:,}",
        "Tool calls": f"{sums.tool_calls:,}",
        "Input tokens": f"{sums.usage.input_tokens:,} ({sums.usage.cached_tokens:,} from the cache)",
        "Output tokens": f"{sums.usage.output_tokens:,} ({sums.usage.reasoning_tokens:,} reasoning)",
        "Cost": cost_words(sums.cost, unpriced=sums.unpriced),
        "Duration": duration_words(row.duration_ms),
    }
    rows = (element("tr", element("th", name), element("td", value)) for name, value in figures.items())
    left_out = (element("p", sentence, cls="faint") for sentence in counted(entries))
    return joined(element("h2", "Usage", id="usage"), element("table", *rows), *left_out)


def _raw(entries: Sequence[Entry], trace: bytes) -> Markup:
    packed = base64.b64encode(gzip.compress(trace, 6, mtime=0)).decode()
    name = f"{entries[0].run_id}.jsonl.gz"
    link = element("a", f"Save the trace ({name})", href=f"data:application/gzip;base64,{packed}", download=name)
    return joined(element("h2", "Raw data", id="raw"), element("p", link), *_raw_events(entries))


def _raw_events(entries: Sequence[Entry]) -> list[Markup]:
    shown: list[Markup] = []
    left = RAW_SHOWN
    for entry in entries:
        text = entry.model_dump_json()
        if (left := left - len(text)) < 0:
            words = f"{len(entries) - len(shown):,} more events are in the saved trace."
            return [*shown, element("p", words, cls="faint")]
        title = f"{entry.seq} · {entry.event.type} · {entry.at:%H:%M:%S.%f}"
        shown.append(element("details", element("summary", title), element("pre", text)))
    return shown
