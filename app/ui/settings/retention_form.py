"""How long runs are kept: what is typed is said in runs and sessions before it counts."""

from nicegui import background_tasks, ui

from app.domain.settings import Preferences
from app.store.runs.retention import Expired
from app.ui.elements.buttons import button
from app.ui.elements.format import plural
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import agreed
from app.workbench import Workbench

LONGEST = 36_500


class RetentionForm:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        wanted = workbench.preferences.get()
        with ui.element("div").classes("settings-grid"):
            self._days = self._number("Days (0: for ever)", wanted.keep_days, "keep-days")
            self._runs = self._number("Runs, the newest (0: all)", wanted.keep_runs, "keep-runs")
        self._says = ui.label().classes("faint").props("role=status data-testid=retention-says")
        with ui.element("div").classes("row-line"):
            button("Save", self._save, testid="save-retention")
        background_tasks.create(self._show(), name="what would be deleted")

    def _number(self, label: str, value: int, testid: str) -> ui.number:
        box = ui.number(label, value=value, min=0, max=LONGEST, precision=0, on_change=self._show)
        return box.props(f"outlined dense debounce=300 data-testid={testid}")

    @property
    def _wanted(self) -> Preferences:
        days, runs = (max(0, min(LONGEST, int(box.value or 0))) for box in (self._days, self._runs))
        return self._workbench.preferences.get().model_copy(update={"keep_days": days, "keep_runs": runs})

    async def _expired(self, wanted: Preferences) -> Expired:
        return await self._workbench.retention.looked_through(days=wanted.keep_days, runs=wanted.keep_runs)

    async def _show(self) -> None:
        wanted = self._wanted
        expired = await self._expired(wanted)
        if not self._says.is_deleted and wanted == self._wanted:  # nothing else was typed meanwhile
            self._says.set_text(said_of(expired, off=not (wanted.keep_days or wanted.keep_runs)))

    async def _save(self) -> None:
        wanted = self._wanted
        expired = await self._expired(wanted)
        words = said_of(expired, off=False)
        if expired.runs and not await agreed("Delete old runs?", words, confirm="Save and delete"):
            return
        with problems_shown():
            await self._workbench.preferences.save(wanted)
            await self._workbench.retention.remove(expired)
            ui.notify("Saved.", type="positive")
            await self._show()


def said_of(expired: Expired, *, off: bool) -> str:
    """What is deleted, and when that cannot be taken back any more."""
    if off:
        return "All runs are kept."
    if not expired.runs:
        return "Nothing is deleted now. It is looked again at each start. Pinned sessions are always kept."
    sessions = f" in {plural(len(expired.sessions), 'session')}" if expired.sessions else ""
    return (
        f"{plural(len(expired.runs), 'run')}{sessions} would be deleted now, for good at the next start; what they "
        "cost stays known. It is looked again at each start. Pinned sessions are always kept."
    )
