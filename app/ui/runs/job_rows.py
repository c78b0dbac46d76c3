"""The rows of the list of background runs."""

from datetime import datetime

from app.domain.trace import RunRow, RunStatus
from app.ui.elements.addresses import run_address, session_address
from app.ui.elements.format import dollars, duration, head, moment_text, plural, short_moment
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.status_pill import status_pill
from app.ui.runs.live_table import Cells
from app.ui.runs.trace_rows import so_far_ms

COLUMNS = [
    {"name": name, "label": label, "field": name}
    for name, label in (
        ("status", "Status"),
        ("request", "Request"),
        ("progress", "Progress"),
        ("cost", "Cost"),
        ("started", "Started"),
        ("actions", ""),
    )
]
HEADER = """
<tr>
  <th v-for="column in cols" :key="column.name" :class="'jobs-' + column.name" scope="col">
    <span v-if="column.label">{{ column.label }}</span><span v-else class="visually-hidden">Actions</span>
  </th>
</tr>
"""
BODY = """
<tr data-testid="job-row" :data-run="row.id" :data-status="row.status">
  <td class="jobs-status" v-html="row.pill"></td>
  <td class="jobs-request" v-html="row.request"></td>
  <td class="jobs-progress" :title="row.doing">
    <span data-testid="job-progress">{{ row.doing }}</span><small>{{ row.took }}</small>
  </td>
  <td class="jobs-cost">{{ row.cost }}</td>
  <td class="jobs-started"><time :datetime="row.iso" :title="row.moment">{{ row.started }}</time></td>
  <td class="jobs-actions">
    <div class="jobs-buttons">
      <button v-for="one in row.actions.split(' ').filter(Boolean)" :key="one" type="button" class="text-button"
        :data-testid="'job-' + one" :aria-label="row['say_' + one]"
        @click="() => $parent.$emit('act', [one, row.id])">{{ row['label_' + one] }}</button>
      <span class="jobs-conversation" v-html="row.conversation"
        @click="() => $parent.$emit('act', ['opened', row.id])"></span>
    </div>
  </td>
</tr>
"""
"""All that is put in as markup is made by `tag`."""

ACTIONS: dict[str, str] = {"stop": "Stop", "resume": "Resume", "give-up": "Give up"}
"""What can be done with a run, by name."""


def actions_of(status: RunStatus, *, alive: bool) -> tuple[str, ...]:
    """What can be done with a run that stands so; `alive`: this process works on it."""
    match status:
        case "running" | "paused" if alive:
            return ("stop",)
        case "running" | "interrupted":
            return ("resume", "give-up")
        case "paused":
            return ("give-up",)
        case _:
            return ()


def cells(row: RunRow, now: datetime, *, doing: str, alive: bool) -> Cells:
    """The row in words; `doing` is what goes on in it now."""
    request = head(row.request, 160) or "(no text)"
    actions = actions_of(row.status, alive=alive)
    return {
        "id": row.run_id,
        "status": row.status,
        "pill": status_pill(row.status),
        "request": _request(row, request),
        "doing": doing if alive else _done_words(row),
        "took": duration(so_far_ms(row, now)),
        "cost": dollars(row.cost, unpriced=row.unpriced),
        "started": short_moment(row.started_at, now),
        "moment": moment_text(row.started_at),
        "iso": row.started_at.isoformat(),
        "conversation": _conversation(row, request),
        "actions": " ".join(actions),
        **{f"label_{name}": ACTIONS[name] for name in actions},
        **{f"say_{name}": f"{ACTIONS[name]}: {head(request, 60)}" for name in actions},
    }


def started_by(row: RunRow) -> Html:
    """Who started it: a page, a key, the terminal, or another run, to which it links."""
    match row.trigger.kind:
        case "page":
            return tag("span", "you")
        case "api_key":
            return tag("span", f"key {row.trigger.name}" if row.trigger.name else "the API")
        case "terminal":
            return tag("span", "the terminal")
        case "agent" if row.parent is not None:
            return tag("a", row.trigger.name or "another run", href=run_address(row.parent.run_id))
        case "agent" | "job" | "app":
            return tag("span", row.trigger.name or "another run")


def _request(row: RunRow, request: str) -> Html:
    who = joined(f"{row.agent.name} {row.agent.variant_mark} · started by ", started_by(row))
    return joined(
        tag("a", request, href=run_address(row.run_id), title=row.request, data_testid="job-open"), tag("small", who)
    )


def _done_words(row: RunRow) -> str:
    match row.status:
        case "paused":
            return "Waits for your decision"
        case "interrupted" | "running":
            return "The app was closed"
        case _:
            return f"{plural(row.model_calls, 'step')}, {plural(row.tool_calls, 'tool call')}"


def _conversation(row: RunRow, request: str) -> Html:
    address = session_address(row.session_id)
    decide = tag("a", "Decide", href=address, cls="text-button text-button-primary", data_testid="job-decide")
    conversation = tag(
        "a",
        icon("forum"),
        href=address,
        cls="icon-action",
        title="Open conversation",
        aria_label=f"Open conversation: {head(request, 60)}",
        data_testid="job-conversation",
    )
    return joined(decide if row.status == "paused" else "", conversation)
