"""The filters of the list of runs that somebody keeps under a name."""

from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import parse_qsl, urlsplit

from nicegui import ui

from app.domain.settings import SavedFilter
from app.domain.values import alphabetical
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import asked_for_text
from app.ui.elements.undo_bar import UndoBar
from app.ui.runs.trace_query import RunsQuery
from app.workbench import Workbench

LONGEST_NAME = 60


class SavedFilters:
    """A button with a menu of them; `ask` is called with the query of the chosen one."""

    def __init__(
        self, workbench: Workbench, *, query: Callable[[], RunsQuery], ask: Callable[[RunsQuery], None], undo: UndoBar
    ) -> None:
        """`query` is the one that is shown now."""
        self._preferences = workbench.preferences
        self._query = query
        self._ask = ask
        self._undo = undo
        self._button = button("Saved", self._open, icon="bookmark_border", testid="saved-filters")
        with self._button:
            self._menu = ui.menu().props('no-parent-event aria-label="Saved filters"').classes("runs-saved")
            self._menu.props('anchor="bottom right" self="top right"')  # that it never grows out of a phone

    def _open(self) -> None:
        self._menu.clear()
        kept = self._preferences.get().run_filters
        with self._menu:
            for saved in kept:
                self._build_item(saved)
            if not kept:
                ui.label("No filter is saved yet.").classes("runs-saved-none faint")
            ui.separator()
            save = ui.menu_item("Save this filter…", self._save).props("data-testid=save-filter")
            if not self._query().filtered:
                save.props("disable").tooltip("Set a filter first.")
        self._menu.open()

    def _build_item(self, saved: SavedFilter) -> None:
        with ui.element("div").classes("runs-saved-item"):
            chosen = ui.menu_item(saved.name, partial(self._ask, query_of(saved.address)))
            chosen.classes("truncate grow").props("data-testid=saved-filter")
            icon_button(
                "delete", f"Delete the filter {saved.name}", partial(self._delete, saved), testid="forget-filter"
            )

    async def _save(self) -> None:
        address = self._query().model_copy(update={"page": 1}).address
        name = await asked_for_text("Save this filter", "", label="Name")
        if name:
            saved = SavedFilter(name=name[:LONGEST_NAME], address=address)
            await self._keep(with_filter(self._preferences.get().run_filters, saved))

    async def _delete(self, saved: SavedFilter) -> None:
        self._menu.close()
        await self._keep(without_filter(self._preferences.get().run_filters, saved.name))
        self._undo.show(
            f"Deleted the filter “{saved.name}”",
            lambda: self._keep(with_filter(self._preferences.get().run_filters, saved)),
        )

    async def _keep(self, filters: tuple[SavedFilter, ...]) -> None:
        with problems_shown():
            await self._preferences.save(self._preferences.get().model_copy(update={"run_filters": filters}))


def with_filter(kept: Sequence[SavedFilter], saved: SavedFilter) -> tuple[SavedFilter, ...]:
    """The filters with that one, in place of one of the same name, by name."""
    others = without_filter(kept, saved.name)
    return tuple(sorted((*others, saved), key=lambda one: alphabetical(one.name)))


def without_filter(kept: Sequence[SavedFilter], name: str) -> tuple[SavedFilter, ...]:
    return tuple(saved for saved in kept if saved.name.casefold() != name.casefold())


def query_of(address: str) -> RunsQuery:
    """The query of a whole address."""
    return RunsQuery.of(dict(parse_qsl(urlsplit(address).query)))
