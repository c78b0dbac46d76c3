"""A run as one HTML file that opens anywhere: no app, no script, nothing loaded from anywhere.

Its policy forbids every request and every script, so that even a hole in the escaping would do nothing. The trace
itself is inside as well: a link saves it as JSON Lines, packed with gzip.
"""

import base64
import gzip
import hashlib
from collections.abc import Mapping, Sequence

from app.domain.agents import NODES_MODELS
from app.domain.events import Entry
from app.domain.failure_words import failure_words
from app.domain.trace import NONE_EDITED, Edits, RunRow, error_of, run_row, totals, trajectory
from app.export.html_events import Timeline
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
    edits: Edits = NONE_EDITED,
    origin: str = "",
) -> bytes:
    """The run as a page. `trace`: its JSON Lines. `artifacts`: contents by sha256; one that is not there is named.

    `origin`: where the app's pages are now, for links to it; empty where nobody knows.
    """
    row = run_row(entries, alive=alive)
    timeline = Timeline(artifacts, edits, origin=origin)
    body = element(
        "main",
        _header(entries, row, notes),
        error_card(entries),
        element("h2", "Timeline", id="timeline"),
        *timeline.sections(entries),
        _trajectory(entries),
        _usage(entries, row),
        _raw(entries, trace),
    )
    return document(f"Run of {one_line(row.agent.name, 80)}", body).encode()


def document(title: str, body: Markup) -> str:
    """The page with its looks and its policy."""
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
        "Agent": f"{one_line(row.agent.name)}, {row.agent.variant_words}",
        "Model": row.model or NODES_MODELS,
        "Started": moment_words(row.started_at),
        "Status": STATUS_WORDS[row.status],
        "Run": row.run_id,
        **origins(entries),
    }
    links = (("Timeline", "#timeline"), ("Trajectory", "#trajectory"), ("Usage", "#usage"), ("Raw data", "#raw"))
    return element(
        "header",
        element("h1", f"Run of {one_line(row.agent.name)}"),
        facts_table(facts),
        *(element("p", note, cls="card note") for note in notes),
        element("nav", *(element("a", name, href=place) for name, place in links)),
    )


def facts_table(facts: Mapping[str, str]) -> Markup:
    """Names and what they stand for."""
    return element(
        "table", *(element("tr", element("th", name), element("td", value)) for name, value in facts.items())
    )


def error_card(entries: Sequence[Entry]) -> Markup:
    """What the run failed of, and the way out; nothing where it did not."""
    if (error := error_of(entries)) is None:
        return Markup()
    words = failure_words(error.failure, error.text)
    said = (element("strong", words.title), element("p", error.text, cls="text"), element("p", words.next_step))
    return element("div", *said, cls="card bad")


def _trajectory(entries: Sequence[Entry]) -> Markup:
    numbers = (element("th", name, cls="n") for name in ("Tokens", "Cost", "Time"))
    head = element("tr", element("th", "Step"), element("th", "Decision"), *numbers)
    rows = (
        element(
            "tr",
            element("td", element("a", str(step.number), href=f"#step-{step.number}")),
            element("td", step.node.label if step.node else ", ".join(call.name for call in step.calls) or "answer"),
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
    left_out = (element("p", sentence, cls="faint") for sentence in counted(entries))
    return joined(element("h2", "Usage", id="usage"), facts_table(figures), *left_out)


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


STYLE = """
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1b1f24;--faint:#5b6573;--line:#d9dee5;--user:#1d5fd1;
--user-ink:#fff;--call:#2563c9;--good:#1a7f4b;--bad:#c0322b;--edit:#8a5200;--code:#f0f2f5}
@media (prefers-color-scheme:dark){:root{--bg:#111418;--card:#1a1e24;--ink:#e6e9ee;--faint:#9aa5b4;--line:#323a45;
--user:#2b63bd;--call:#6ea4ff;--good:#4cc38a;--bad:#ff8078;--edit:#f0b45a;--code:#232931}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .75rem}
h3{font-size:.95rem;margin:0;color:var(--faint)}
nav a{margin-right:1rem}
a{color:var(--call)}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
th{white-space:nowrap}
header th{width:8rem}
td.n,th.n{text-align:right;white-space:nowrap}
.wide{overflow-x:auto}
.step{content-visibility:auto;contain-intrinsic-size:auto 16rem;border-left:2px solid var(--line);
padding:.25rem 0 .25rem 1rem;margin:1rem 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.6rem .8rem;margin:.5rem 0;
overflow-wrap:anywhere}
.card.user{background:var(--user);color:var(--user-ink);margin-left:12%;border-color:var(--user)}
.card.user a,.card.user .edited{color:var(--edit);font-size:.85rem;font-weight:600;margin:.3rem 0}
.card.user .edited{color:inherit}
.faint{color:inherit}
.card p:first-child{margin-top:0}
.card p:last-child{margin-bottom:0}
.card.call{border-left:4px solid var(--call)}
.card.ok{border-left:4px solid var(--good)}
.card.bad{border-left:4px solid var(--bad)}
.card.note{color:var(--faint);font-size:.9rem}
.faint{color:var(--faint);font-size:.85rem}
.text{white-space:pre-wrap}
pre{background:var(--code);border-radius:.4rem;padding:.5rem .6rem;margin:.4rem 0;overflow:auto;max-height:30rem;
white-space:pre-wrap;font:13px/1.45 ui-monospace,monospace;color:var(--ink)}
summary{cursor:pointer}
img{max-width:100%;height:auto;display:block;border-radius:.4rem;margin:.4rem 0}
blockquote,.markdown-alert{margin:.4rem 0;padding-left:.8rem;border-left:3px solid var(--line)}
.markdown-alert{border-color:var(--call)}
.markdown-alert-title{font-weight:600}
.footnote{display:flex;gap:.4rem;font-size:.9rem}
.task-list-item{list-style:none;margin-left:-1.2rem}
math{font-size:1.1em;max-width:100%;overflow:auto hidden}
@media print{.step{content-visibility:visible}pre{max-height:none}}
"""
"""The looks of an exported run, light and dark by what the reader's system prefers."""
