"""What a key for certain agents may besides running them: ticked when it is made, and changed later."""

from collections.abc import Sequence

from nicegui import ui

from app.domain.keys import RIGHT_TITLES, ApiKey, Right
from app.ui.elements.buttons import button

WORDS: dict[Right, str] = {
    "approve": "Allow or deny the calls of runs that it started, and answer their questions.",
    "variants": "Run other variants and models than the active one, and change things in forks.",
}


class RightBoxes(ui.element):
    """A box for each right."""

    def __init__(self, may: Sequence[Right] = ()) -> None:
        super().__init__()
        self.classes("key-rights").props('role=group aria-label="It may also"')
        self._boxes: dict[Right, ui.checkbox] = {}
        with self:
            for right, title in RIGHT_TITLES.items():
                self._boxes[right] = ui.checkbox(title, value=right in may).props(f"dense data-testid=key-may-{right}")
                ui.label(WORDS[right]).classes("field-note")

    @property
    def ticked(self) -> tuple[Right, ...]:
        return tuple(right for right, box in self._boxes.items() if box.value)


async def asked_for_rights(key: ApiKey) -> tuple[Right, ...] | None:
    """What the key may from now on, `None` when they thought better of it."""
    with ui.dialog() as dialog, ui.card().classes("dialog-card dialog-small").props("data-testid=key-rights-dialog"):
        ui.label(f"What may “{key.name}” do?").classes("section-title")
        ui.label("It runs its agents, and sees and continues what it started. It may also:").classes("faint")
        boxes = RightBoxes(key.may)
        with ui.element("div").classes("row-line at-end"):
            button("Cancel", lambda: dialog.submit(False), look="quiet")
            button("Save", lambda: dialog.submit(True), look="primary", testid="save-rights-button")
    agreed = await dialog
    ticked = boxes.ticked
    if not dialog.is_deleted:  # with its page, while it was open
        dialog.delete()
    return ticked if agreed is True else None
