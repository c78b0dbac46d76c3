"""The dialog that makes a case out of a run, of one of its steps, or of the conversation up to it."""

from nicegui import ui

from app.domain.errors import NotFound, WorkbenchError
from app.domain.evals.cases import MOST_TURNS, Case, Dataset
from app.ui.elements.addresses import dataset_address
from app.ui.elements.buttons import button, loading
from app.ui.elements.choice import choice_box
from app.ui.elements.focus import refocus
from app.ui.elements.format import head, plural
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import keep_typed, named_dialog
from app.workbench import Workbench

NEW = ""
"""In the place of a dataset's id: one that is made with the case."""
UNSCORED = "What decides in this dataset are the checks of each case, and this one has none yet: open it to add one."


class SaveCase:
    """Opens at once; `step` counts from 1, without it the whole run is saved."""

    def __init__(self, workbench: Workbench, run_id: str, *, step: int | None = None, note: str = "") -> None:
        self._workbench = workbench
        self._run_id = run_id
        self._step = step
        self._noted = note
        self._turns = self._turns_before() if step is None else ()
        title = "Save as case" if step is None else f"Save step {step} as case"
        with named_dialog(title) as self._dialog, ui.card().classes("dialog-card dialog-small save-case") as card:
            card.props("data-testid=save-case-dialog")
            ui.html(title, sanitize=False, tag="h2").classes("section-title")
            self._form = ui.element("div").classes("stack")
            with self._form:
                self._build_form()
        keep_typed(self._dialog, card)
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()

    def _build_form(self) -> None:
        self._build_dataset()
        self._together = ui.checkbox(f"With the messages before it: a case of {plural(len(self._turns), 'message')}")
        self._together.props("dense data-testid=case-with-turns").visible = 1 < len(self._turns) <= MOST_TURNS
        expected = self._workbench.scores.marks(self._run_id).rating != "bad"
        words = "It did well: its answer and calls are what is expected"
        self._expected = ui.checkbox(words, value=expected).props("dense data-testid=case-expected")
        self._must_pass = ui.checkbox("Must pass before a variant is promoted").props(
            "dense data-testid=case-must-pass"
        )
        self._note = ui.textarea("Note", value=self._noted).classes("fill")
        self._note.props("outlined dense autogrow data-testid=case-note")
        with ui.element("div").classes("row-line dialog-buttons"):
            button("Cancel", self._dialog.close, look="quiet")
            self._save_button = button("Save case", self._save, look="primary", testid="case-save")

    def _build_dataset(self) -> None:
        datasets = sorted(self._workbench.datasets.all(), key=lambda one: one.updated_at, reverse=True)
        names = {**{one.id: one.name for one in datasets}, NEW: "New dataset…"}
        self._box = choice_box(names, next(iter(names)), label="Dataset", testid="case-dataset")
        self._name = ui.input("Name of the new dataset", value=self._suggested()).classes("fill")
        self._name.props("outlined dense maxlength=80 data-testid=case-dataset-name")
        self._name.on("keydown.enter", self._save)
        self._name.bind_visibility_from(self._box, "value", value=NEW)

    def _suggested(self) -> str:
        row = self._workbench.rows.get(self._run_id)
        return row.agent.name if row is not None else ""

    def _turns_before(self) -> tuple[str, ...]:
        """The runs of its conversation up to this one, where one stands on it."""
        row = self._workbench.rows.get(self._run_id)
        try:
            runs = self._workbench.sessions.get(row.session_id).runs if row is not None else ()
        except NotFound:
            return ()
        return runs[: runs.index(self._run_id) + 1] if self._run_id in runs else ()

    async def _save(self) -> None:
        with problems_shown(), loading(self._save_button):
            dataset = await self._dataset()
            self._show_saved(dataset, await self._case(dataset))

    async def _dataset(self) -> Dataset:
        if self._box.value != NEW:
            return self._workbench.collecting.dataset(str(self._box.value))
        return await self._workbench.collecting.new_dataset(str(self._name.value or ""))

    async def _case(self, dataset: Dataset) -> Case:
        collecting, note = self._workbench.collecting, str(self._note.value or "").strip()
        try:
            if self._together.value:
                case = await collecting.from_turns(dataset.id, self._turns, note=note)
            else:
                case = await collecting.from_run(dataset.id, self._run_id, step=self._step, note=note)
        except WorkbenchError:
            if self._box.value == NEW:
                await collecting.delete(dataset.id)
            raise
        changes: dict[str, object] = {"must_pass": True} if self._must_pass.value else {}
        if not self._expected.value:
            changes |= {"reference": None, "expected_calls": None}
        return await collecting.change_case(case.model_copy(update=changes), seen=case) if changes else case

    def _show_saved(self, dataset: Dataset, case: Case) -> None:
        self._dialog.props(remove="persistent")
        self._form.clear()
        with self._form:
            ui.html(saved_words(dataset, case), sanitize=False).props("role=status data-testid=case-saved")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Close", self._dialog.close, look="primary", testid="case-saved-close")
        refocus(self._form, "a")


def saved_words(dataset: Dataset, case: Case) -> Html:
    """Where it is now, and what was copied out of the run."""
    link = tag("a", "Open the case", href=dataset_address(dataset.slug, case=case.id), data_testid="case-open")
    where = tag("p", "Saved as a case of ", tag("strong", head(dataset.name, 60)), ". ", link)
    copied = f"Copied: {', '.join(copied_parts(case))}. The run itself may be deleted."
    unscored = tag("p", UNSCORED, cls="muted", data_testid="case-unscored") if dataset.leaves_unscored(case) else ""
    return joined(where, tag("p", copied, cls="muted"), unscored)


def copied_parts(case: Case) -> list[str]:
    """What the case holds, each thing in words."""
    calls = len(case.expected_calls or ())
    found = (
        (True, "the message"),
        (len(case.turns), plural(len(case.turns), "further message")),
        (len(case.history), plural(len(case.history), "message") + " before it"),
        (len(case.attachments) + len(case.files), plural(len(case.attachments) + len(case.files), "file")),
        (len(case.variables), plural(len(case.variables), "variable")),
        (case.reference is not None, "the answer as the expected one"),
        (calls, plural(calls, "expected call")),
        (case.record, "the recorded results of its tools"),
    )
    return [words for there, words in found if there]
