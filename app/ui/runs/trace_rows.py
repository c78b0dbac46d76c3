"""The rows and columns of a list of runs."""

import re
from collections.abc import Sequence
from datetime import datetime

from app.domain.agents import NODES_MODELS
from app.domain.evals.scores import UNMARKED, RunMarks
from app.domain.trace import Excerpt, RunRow, SortKey
from app.ui.elements.addresses import run_address
from app.ui.elements.format import count, dollars, duration, head, plural, short_moment
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.status_pill import status_pill
from app.ui.runs.live_table import Cells
from app.ui.runs.trace_query import RunsQuery

COLUMNS: tuple[tuple[str, str, SortKey | None], ...] = (
    ("status", "Status", None),
    ("request", "Request", None),
    ("answer", "Answer", None),
    ("agent", "Agent", None),
    ("started", "Started", "started_at"),
    ("duration", "Duration", "duration_ms"),
    ("calls", "Calls", "model_calls"),
    ("tokens", "Tokens", "total_tokens"),
    ("cost", "Cost", "cost"),
)

_MARKUP = re.compile(r"\*\*|^#+ |`+", re.MULTILINE)
"""What a plain line shows of Markdown as mere signs."""
HINTS = {"calls": "Sort by calls of the model", "cost": "Sort by the cost of the run itself"}

HEADER = """
<tr>
  <th class="runs-check">
    <input type="checkbox" :checked="all" :indeterminate="some && !all" aria-label="Select all runs on this page"
      @click="(event) => $parent.$emit('pick_all', event.target.checked)">
  </th>
  <th v-for="column in cols" :key="column.name" :class="'runs-' + column.name" :aria-sort="column.order || null"
      scope="col">
    <button v-if="column.sort" type="button" class="runs-sort" :title="column.hint"
        @click="() => $parent.$emit('sort', column.sort)">
      {{ column.label }}<i class="q-icon notranslate material-icons" aria-hidden="true">{{ column.arrow }}</i>
    </button>
    <template v-else>{{ column.label }}</template>
  </th>
</tr>
"""

BODY = """
<tr :class="{ 'is-selected': selected }" data-testid="run-row" :data-run="row.id">
  <td class="runs-check">
    <input type="checkbox" :checked="selected" :aria-label="row.select"
      @click="(event) => $parent.$emit('pick', [row.id, event.shiftKey])">
  </td>
  <td class="runs-status" v-html="row.pill"></td>
  <td class="runs-request">
    <a :href="row.address" :title="row.request">{{ row.request }}</a>
    <small v-if="row.found" class="runs-found" data-testid="run-found" v-html="row.found"></small>
  </td>
  <td class="runs-answer" data-testid="run-answer">
    <span :title="row.answer">{{ row.answer }}</span>
    <small v-if="row.marks" class="run-marks" data-testid="run-marks" v-html="row.marks"></small>
  </td>
  <td class="runs-agent" :title="row.agent + ', ' + row.variant + ', ' + row.model">
    <span>{{ row.agent }}</span> <small>{{ row.variant }} · {{ row.model }}</small>
  </td>
  <td class="runs-started"><time :datetime="row.iso">{{ row.started }}</time></td>
  <td class="runs-duration">{{ row.duration }}</td>
  <td class="runs-calls" :title="row.calls">{{ row.model_calls }}<small>{{ row.tool_calls }}</small></td>
  <td class="runs-tokens">{{ row.tokens }}</td>
  <td class="runs-cost" :title="row.below">{{ row.cost }}<small v-if="row.below">{{ row.below_cost }}</small></td>
</tr>
"""


def columns(query: RunsQuery) -> list[Cells]:
    """The columns; the one that the list is sorted by says so."""
    return [_column(name, label, key, query) for name, label, key in COLUMNS]


def cells(
    row: RunRow, now: datetime, excerpt: Excerpt | None = None, *, marks: RunMarks = UNMARKED, below: float = 0.0
) -> Cells:
    """The row in words; all values but `pill`, `found` and `marks`, which are markup of ours, are shown as text.

    `excerpt` is where a search found it: there its link leads. `below`: US dollars of the runs that it started.
    """
    request = head(row.request, 160) or "(no text)"
    return {
        "id": row.run_id,
        "address": run_address(row.run_id) + (f"?step={excerpt.seq}" if excerpt and excerpt.seq else ""),
        "pill": status_pill(row.status),
        "request": request,
        "found": _found(excerpt) if excerpt else "",
        "answer": head(_MARKUP.sub("", row.answer or ""), 200),
        "marks": marks_line(marks),
        "select": f"Select the run “{head(row.request, 60)}”",
        "agent": row.agent.name,
        "variant": row.agent.variant_mark,
        "model": row.model or NODES_MODELS,
        "started": short_moment(row.started_at, now),
        "iso": row.started_at.isoformat(),
        "duration": duration(so_far_ms(row, now)),
        "model_calls": f"{count(row.model_calls)} model",
        "tool_calls": f"{count(row.tool_calls)} tool",
        "calls": f"{plural(row.model_calls, 'model call')}, {plural(row.tool_calls, 'tool call')}",
        "tokens": count(row.input_tokens + row.output_tokens),
        "cost": dollars(row.cost + below, unpriced=row.unpriced),
        "below": f"{dollars(row.cost)} itself, {dollars(below)} the runs that it started" if below else "",
        "below_cost": f"{dollars(row.cost)} itself" if below else "",
    }


def marks_line(marks: RunMarks) -> Html:
    """What people said of a run: thumb, votes, tags, and that there is a note."""
    looks = {"good": ("thumb_up", "Rated good"), "bad": ("thumb_down", "Rated bad")}
    found = [looks[marks.rating]] if marks.rating else []
    found += [("how_to_vote", plural(marks.votes, "vote"))] if marks.votes else []
    found += [("sticky_note_2", f"Note: {head(marks.notes[-1], 200)}")] if marks.notes else []
    icons = (
        tag("span", icon(symbol), tag("span", words, cls="visually-hidden"), title=words) for symbol, words in found
    )
    return joined(*icons, *(tag("span", one, cls="run-tag", title=f"Tag: {one}") for one in marks.tags))


def _found(excerpt: Excerpt) -> str:
    said = (excerpt.before, tag("mark", excerpt.hit), excerpt.after)
    return tag("span", tag("span", f"{excerpt.place}: ", cls="runs-place"), *said)


def so_far_ms(row: RunRow, now: datetime) -> float:
    """How long the run took, in milliseconds; in whole seconds while it goes on, so that it changes once a second."""
    if row.duration_ms is not None:
        return row.duration_ms
    return (now - row.started_at).total_seconds() // 1 * 1000


def range_words(query: RunsQuery, shown: Sequence[RunRow], total: int) -> str:
    """How many runs there are, and which of them are shown: `Runs 51 to 100 of 10,000`."""
    if not shown:
        return plural(total, "run")
    first, last = query.offset + 1, query.offset + len(shown)
    if (first, last) == (1, total):
        return plural(total, "run")
    return f"Runs {first:,} to {last:,} of {total:,}"


def unread_words(unread: int) -> str:
    """What is said of runs whose texts are not searched yet; empty where there are none."""
    return f" · {plural(unread, 'more run')} still to be searched" if unread else ""


def _column(name: str, label: str, key: SortKey | None, query: RunsQuery) -> Cells:
    column = {"name": name, "label": label, "field": name, "hint": HINTS.get(name, f"Sort by {label.lower()}")}
    if key is None:
        return column
    column["sort"] = key
    if key != query.sort:
        return column | {"arrow": "unfold_more"}
    order = "descending" if query.descending else "ascending"
    return column | {"order": order, "arrow": "arrow_downward" if query.descending else "arrow_upward"}
