"""How many steps of an answer are not shown, in words above those that are."""

from nicegui import ui

from app.ui.elements.addresses import run_address
from app.ui.elements.format import plural
from app.ui.elements.markup import joined, tag


class SkippedSteps:
    """Stands first in `place`, once there is one."""

    def __init__(self, place: ui.element, run_id: str) -> None:
        self._place = place
        self._run_id = run_id
        self._count = 0
        self._note: ui.html | None = None

    def count_one(self) -> None:
        self._count += 1
        if self._note is None:
            with self._place:
                self._note = ui.html(sanitize=False).classes("mark")
            self._note.move(self._place, target_index=0)
        link = tag("a", "See the whole run", href=run_address(self._run_id))
        self._note.set_content(joined(f"{plural(self._count, 'earlier step')} not shown here. ", link))
