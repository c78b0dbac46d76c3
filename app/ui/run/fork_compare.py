"""Two runs step by step: a fork beside the run it comes from, from where they part, or any two as a whole."""

from nicegui import ui

from app.domain.errors import ErrorInfo, WorkbenchError
from app.domain.failure_words import failure_words
from app.domain.trace import AlignedStep
from app.domain.trace.fork_view import ForkView
from app.ui.conversation.differences_view import SHOWN, WORDS, beside_table, said_in, step_view
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import button
from app.ui.elements.format import head, plural
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import notify
from app.workbench import Workbench


async def open_fork_compare(workbench: Workbench, run_id: str) -> None:
    """Show what became another; says so where the run is no fork or cannot be read."""
    try:
        view = await workbench.forks.compare(run_id)
    except WorkbenchError as error:
        notify(str(error))
        return
    if view is None:
        notify("This run is no fork, so there is nothing to compare it with.")
        return
    _show("Compared with the original", fork_table(view), testid="fork-comparison")


async def open_beside(workbench: Workbench, first: str, second: str) -> None:
    """Show two runs side by side; says so where one of them cannot be read."""
    try:
        rows = [workbench.runs.row(run_id) for run_id in (first, second)]
        steps = await workbench.forks.beside(first, second)
    except WorkbenchError as error:
        notify(str(error))
        return
    _show("Two runs side by side", beside_table(rows, steps), testid="run-comparison")


def _show(title: str, table: Html, *, testid: str) -> None:
    labelled = ui.dialog().props(f'aria-label="{title}"')
    with labelled as dialog, ui.card().classes("dialog-card fork-dialog").props(f"data-testid={testid}"):
        ui.html(title, sanitize=False, tag="h2").classes("section-title")
        ui.html(table, sanitize=False).classes("fill").props(f'role=group tabindex=0 aria-label="{title}"')
        with ui.element("div").classes("row-line dialog-buttons fork-close"):
            button("Close", dialog.close, look="quiet")
    dialog.on("hide", dialog.delete)
    dialog.open()


def fork_table(view: ForkView) -> Html:
    """`12 steps reused, 3 new`, and the steps from there on in two columns."""
    origin = tag("a", "the original", href=f"{run_address(view.forked.run_id)}?step={view.forked.seq}")
    summary = tag("p", tag("strong", view.summary), ". Steps of ", origin, " beside those of this run:")
    if not view.rows:
        return joined(summary, tag("p", "The original cannot be read any more.", cls="faint"))
    names = tag("tr", *(tag("th", name, scope="col") for name in ("", "Original", "This run")))
    cut = next((place for place, row in enumerate(view.rows) if row.columns[0] is None), -1)
    rows = [_row(row, view, error=view.error if place == cut else None) for place, row in enumerate(view.rows[:SHOWN])]
    left = len(view.rows) - len(rows)
    more = tag("p", f"{plural(left, 'more step')} not shown.", cls="faint") if left else Html("")
    return joined(summary, tag("table", tag("thead", names), tag("tbody", *rows), cls="fork-rows"), more)


def _row(row: AlignedStep, view: ForkView, *, error: ErrorInfo | None) -> Html:
    original, own = row.columns
    first = (
        tag("p", failure_words(error.failure, error.text).title, ": ", head(error.text, 200), cls="is-bad")
        if error
        else ""
    )
    number = max(step.number for step in row.columns if step is not None)
    verdict = "The original broke off" if error else _verdict(row, view)
    name = joined(tag("strong", f"Step {number}"), tag("div", verdict, cls="faint"))
    cells = (joined(first, "" if error else step_view(original)), step_view(own))
    return tag("tr", tag("td", name), *(tag("td", cell) for cell in cells))


def _verdict(row: AlignedStep, view: ForkView) -> str:
    original, own = row.columns
    if own is not None and own.number <= view.reused:
        return "Taken over" if (row.verdict, said_in(original)) == ("same", said_in(own)) else "Edited"
    if row.verdict == "same" and said_in(original) != said_in(own):
        return "The same calls, other words"
    return WORDS[row.verdict]
