"""The dialog in which a case is written or changed."""

from nicegui import ui

from app.domain.evals.cases import Case as StoredCase
from app.domain.evals.cases import CaseContent, new_cases
from app.ui.conversation.attachments import AttachedFiles
from app.ui.elements.buttons import button, loading
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import answer_to, keep_typed, named_dialog
from app.ui.evals.case_checks import CaseChecks
from app.ui.evals.case_form import FIELDS, MORE, also_holds, content_of, texts_of
from app.ui.evals.fields import Fields
from app.workbench import Workbench

EMPTY = CaseContent(input="")


class CaseDialog:
    """`await done()` tells whether something was stored; `case` is changed, without one a new one is made."""

    def __init__(self, workbench: Workbench, dataset_id: str, case: StoredCase | None = None) -> None:
        self._workbench = workbench
        self._dataset_id = dataset_id
        self._case = case
        before: CaseContent = case or EMPTY
        title = "Change the case" if case else "New case"
        with named_dialog(title) as self._dialog, ui.card().classes("dialog-card case-dialog") as card:
            card.props("data-testid=case-dialog")
            ui.html(title, sanitize=False, tag="h2").classes("section-title")
            texts = texts_of(before)
            with ui.element("div").classes("dialog-body fill"):
                self._fields = Fields(workbench, FIELDS, texts)
                scorers = workbench.datasets.get(dataset_id).scorers
                self._checks = CaseChecks(workbench, before.checks, asked=any(one.type == "checks" for one in scorers))
                with ui.element("section").classes("stack case-checks").props('aria-label="Files"'):
                    ui.label("Files of the message").classes("field-title")
                    place = ".case-dialog"
                    self._files = AttachedFiles(workbench, before.attachments, dataset_id, place=place, box=place)
                with ui.element("details").classes("fill case-more") as more:
                    ui.html("More: further messages, variables, data", sanitize=False, tag="summary")
                    self._more = Fields(workbench, MORE, texts)
                if any(texts.get(words.name) for words in MORE):
                    more.props("open")
                if also := also_holds(before, recorded=bool(case and case.record)):
                    ui.label(also).classes("muted")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Cancel", self._dialog.close, look="quiet")
                self._save_button = button("Save case", self._save, look="primary", testid="case-dialog-save")
        keep_typed(self._dialog, card)

    async def done(self) -> bool:
        return await answer_to(self._dialog, bool) is True

    async def _save(self) -> None:
        with problems_shown(), loading(self._save_button):
            typed = {**self._fields.values(), **self._more.values()}
            parts = {"checks": self._checks.checks, "attachments": self._files.ready()}
            said = content_of(typed, (self._case or EMPTY).model_copy(update=parts))
            if self._case is not None:
                await self._workbench.collecting.change_case(self._case.model_copy(update=said), seen=self._case)
            else:
                (case,) = new_cases(self._dataset_id, [CaseContent.model_validate(said)])
                await self._workbench.collecting.add(self._dataset_id, case)
            self._dialog.submit(True)
