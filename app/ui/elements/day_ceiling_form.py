"""What all agents together may cost on a day; a change counts at once, and for every agent."""

from nicegui import background_tasks, ui

from app.domain.errors import WorkbenchError
from app.domain.settings import Preferences
from app.store.records.tables import PreferencesStore
from app.ui.elements.editor_numbers import number_box, with_field
from app.ui.elements.notices import notify


class DayCeilingForm(ui.element):
    def __init__(self, preferences: PreferencesStore) -> None:
        super().__init__("div")
        self.classes("settings-grid")
        self._preferences = preferences
        with self:
            ceiling = preferences.get().day_cost
            number_box("all-day-cost", "Day, all agents (0: any)", ceiling, self._take, suffix="US$")
            words = "What all agents may cost together. It counts at once, whatever variant is saved."
            ui.label(words).classes("faint wide-box")

    def _take(self, _: str, number: float | None) -> None:
        changed = with_field(self._preferences.get(), "day_cost", number)
        background_tasks.create(self._save(changed), name="save the ceiling of a day")

    async def _save(self, changed: Preferences) -> None:
        try:
            await self._preferences.save(changed)
        except WorkbenchError as problem:
            with self:
                notify(str(problem))
