"""A task that a call handed over or waits for: how the run that does it stands, what it costs, and the way to it."""

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import ui

from app.domain.forks.forks import TASK_TOOLS
from app.domain.trace import UNFINISHED, CallView, RunStatus
from app.ui.elements.addresses import run_address
from app.ui.elements.format import dollars, head
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.status_pill import status_pill
from app.ui.elements.visible import visible
from app.workbench import Workbench

LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class TaskState:
    status: RunStatus
    cost: float
    unpriced: bool
    request: str
    input_tokens: int = 0
    output_tokens: int = 0
    """Like the cost with those of the runs that it started itself."""


TaskOf = Callable[[str], TaskState | None]
"""How the run of that id stands; `None` for one that is not stored any more."""


def no_task(_run_id: str) -> None:
    """Nothing is known of any task."""


def task_state(workbench: Workbench, run_id: str) -> TaskState | None:
    """As of now, in no more time however long the run is."""
    row = workbench.rows.get(run_id)
    if row is None:
        return None
    live = workbench.runs.live(run_id)
    rows = (row, *workbench.rows.below(run_id))
    cost = workbench.runs.ledger.run_cost(live.budget.account) if live else sum(one.cost for one in rows)
    unpriced = any(one.unpriced for one in rows)
    used = sum(one.input_tokens for one in rows), sum(one.output_tokens for one in rows)
    return TaskState(live.status if live else row.status, cost, unpriced, row.request, *used)


def is_task(call: CallView) -> bool:
    return call.name in TASK_TOOLS


def task_words(call: CallView, state: TaskState | None) -> Html:
    """The task on one line; nothing before its run is known."""
    if not call.task_run:
        return Html("")
    verb = "Handed over" if call.name == "spawn_task" else "Waits for" if call.result is None else "Waited for"
    if state is None:
        gone = tag("span", "Its run is not stored any more.", cls="faint")
        return tag("div", icon("account_tree"), tag("strong", verb), gone, cls="task-line", data_testid="task-line")
    return tag(
        "div",
        icon("account_tree"),
        tag("strong", verb),
        tag("span", visible(head(state.request, 160)), cls="truncate grow"),
        tag("span", status_pill(state.status), data_testid="task-status"),
        tag("span", dollars(state.cost, unpriced=state.unpriced), cls="faint", data_testid="task-cost"),
        tag("a", "Open its run", href=run_address(call.task_run), data_testid="task-run"),
        cls="task-line",
        data_testid="task-line",
    )


class TaskLine(ui.element):
    """Looks after its run as long as that goes on; `call` is the view that is kept up with the trace."""

    def __init__(self, call: CallView, task_of: TaskOf) -> None:
        super().__init__("div")
        self._call = call
        self._task_of = task_of
        with self:
            self._line = LiveHtml()
            self._timer = ui.timer(LOOK_SECONDS, self._look, immediate=False)
        self._look()

    def _look(self) -> None:
        state = self._task_of(self._call.task_run) if self._call.task_run else None
        self._line.show(task_words(self._call, state))
        is_known_over = state.status not in UNFINISHED if state else self._call.result
        if is_known_over:
            self._timer.active = False
