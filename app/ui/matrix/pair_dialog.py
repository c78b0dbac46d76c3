"""A cell of the matrix beside the baseline's: how both ended and why, what they answered, and their steps aligned."""

from collections.abc import Callable

from nicegui import background_tasks, ui

from app.domain.errors import WorkbenchError
from app.domain.evals.experiments import Cell
from app.domain.evals.matrix import MatrixRow
from app.engine.experiments.matrices import Looked
from app.ui.conversation.differences_view import beside_table
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import button
from app.ui.elements.choice import Choice
from app.ui.elements.format import dollars, duration, head
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.visible import visible
from app.ui.matrix.matrix_words import MARKS
from app.workbench import Workbench

REFERENCE = 2_000  # characters


class PairDialog:
    """`on_turn` is told to open the difference after this one, 1, or the one before, -1."""

    def __init__(
        self, workbench: Workbench, looked: Looked, row: MatrixRow, column: int, on_turn: Callable[[int], None]
    ) -> None:
        self._workbench = workbench
        self._looked = looked
        self._row = row
        self._column = column
        self._repeat = first_difference(row, column)
        title = f"Case {row.number} in two columns" if column else f"Case {row.number} in one column"
        with ui.dialog() as self.dialog, ui.card().classes("dialog-card fork-dialog matrix-pair") as card:
            card.props("data-testid=matrix-pair")
            self.dialog.props["aria-label"] = title
            ui.html(title, sanitize=False, tag="h2").classes("section-title")
            ui.html(case_view(row), sanitize=False).classes("stack fill matrix-asked")
            self._build_repeats()
            self._body = ui.html(tag("p", "Reading both runs…", cls="faint"), sanitize=False).classes("fill")
            self._body.props('role=group tabindex=0 aria-label="Both runs, step by step" data-testid=pair-body')
            with ui.element("div").classes("row-line dialog-buttons fork-close"):
                for words, step, name in (("Previous", -1, "previous"), ("Next", 1, "next")):
                    turn = button(f"{words} difference", lambda step=step: on_turn(step))
                    turn.props(f'data-testid=pair-{name} title="{words} difference ({name[0].upper()})"')
                ui.element("span").classes("grow")
                button("Close", self.dialog.close, testid="pair-close").props("autofocus")
        self.dialog.on("hide", self.dialog.delete)
        self.dialog.open()
        self._read()

    def _build_repeats(self) -> None:
        repeats = self._looked.experiment.plan.repeats
        if repeats > 1:
            names = [(str(place), f"Try {place + 1}") for place in range(repeats)]
            self._choice = Choice(names, self._choose, label="Which try", testid="pair-try-{}")
            self._choice.show(str(self._repeat))

    def _choose(self, place: str) -> None:
        self._repeat = int(place)
        self._choice.show(place)
        self._read()

    def _read(self) -> None:
        background_tasks.create(self._show(self._repeat), name="read both runs", context=self._body)

    async def _show(self, repeat: int) -> None:
        view = await self._view(repeat)
        if not self.dialog.is_deleted and repeat == self._repeat:
            self._body.set_content(view)

    async def _view(self, repeat: int) -> Html:
        experiment, matrices = self._looked.experiment, self._workbench.matrices
        places = tuple(dict.fromkeys((0, self._column)))
        names = [experiment.plan.columns[place].words for place in places]
        cells = [matrices.tries(experiment, self._row.case.id, place)[repeat] for place in places]
        told = (cell_view(name, cell) for name, cell in zip(names, cells, strict=True))
        found = joined(tag("div", *told, cls="matrix-both"))
        runs = [cell.runs[-1] for cell in cells if cell is not None and cell.runs]
        if len(runs) < 2:
            return found
        try:
            rows = [self._workbench.runs.row(run_id) for run_id in runs]
            steps = await self._workbench.forks.beside(*runs)
        except WorkbenchError as problem:
            return joined(found, tag("p", f"Their steps cannot be put side by side. {problem}", cls="faint"))
        return joined(found, beside_table(rows, steps, names=names))


def first_difference(row: MatrixRow, column: int) -> int:
    """The first try that ended otherwise than the baseline's; the first one of all where none did."""
    pairs = zip(row.cells[0].tries, row.cells[column].tries, strict=True)
    return next((place for place, (ours, theirs) in enumerate(pairs) if ours != theirs), 0)


def case_view(row: MatrixRow) -> Html:
    """What was asked, and what was expected."""
    case = row.case
    expected = "" if case.reference is None else f"Expected: {head(str(case.reference), REFERENCE)}"
    return joined(
        tag("p", visible(head(case.input, REFERENCE)) or case.headline),
        tag("p", visible(expected), cls="muted") if expected else "",
        tag("p", visible(head(case.note, REFERENCE)), cls="faint") if case.note else "",
    )


def cell_view(column: str, cell: Cell | None) -> Html:
    """How one try ended, what it took, and what each scorer said."""
    if cell is None:
        return tag("section", tag("h3", visible(column)), tag("p", "Not run.", cls="faint"))
    sign, words = MARKS[cell.end or "pending"]
    took = f"{dollars(cell.cost, unpriced=cell.unpriced)} · {duration(cell.ms)}"
    links = (
        tag("a", "Open the run" if len(cell.runs) == 1 else f"Run {number}", href=run_address(run_id))
        for number, run_id in enumerate(cell.runs, start=1)
    )
    scores = (
        tag("li", tag("strong", visible(score.name)), f" {_said(score.passed)} ", visible(head(score.reason, 400)))
        for score in cell.scores
    )
    return tag(
        "section",
        tag("h3", visible(column), " ", tag("span", sign, " ", words, cls=f"chip is-{cell.end}")),
        tag("p", visible(head(cell.answer, 400))) if cell.answer else "",
        tag("p", visible(head(cell.why, 400)), cls="is-bad") if cell.why else "",
        tag("ul", *scores) if cell.scores else "",
        tag("p", took, *(joined(" · ", link) for link in links), cls="faint"),
    )


def _said(passed: bool | None) -> str:
    return "did not say:" if passed is None else "passed:" if passed else "failed:"
