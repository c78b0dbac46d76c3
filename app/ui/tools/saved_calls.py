"""Arguments kept under a name, to be called with again."""

from collections.abc import Callable
from functools import partial
from itertools import count

from nicegui import ui
from pydantic import JsonValue

from app.domain.tool_settings import SavedCall
from app.domain.values import new_id, now, well_formed
from app.ui.elements.buttons import icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head, moment_text
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import asked_for_text
from app.ui.elements.undo_bar import UndoBar
from app.workbench import Workbench

LONGEST_NAME = 80


class SavedCallsBar(ui.element):
    """The tool's saved calls as chips; `on_choose` gets the arguments of the one that is clicked."""

    def __init__(
        self, workbench: Workbench, tool: str, undo: UndoBar, *, on_choose: Callable[[dict[str, JsonValue]], object]
    ) -> None:
        super().__init__("div")
        self.classes("saved-calls").props('role=group aria-label="Saved calls"')
        self._saved = workbench.data.saved_calls
        self._tool = tool
        self._undo = undo
        self._on_choose = on_choose
        with self:
            self._list = ui.html(sanitize=False).classes("saved-list")
            on_click_of(self._list, "action", self._clicked, along=("call",))
        self._show()

    async def save(self, arguments: dict[str, JsonValue]) -> None:
        """Ask for a name, and keep the arguments under it; one of that name is replaced, and can be had back."""
        name = await asked_for_text("Save this call", self._free_name(), label="Name")
        if not name:
            return
        name = well_formed(name[:LONGEST_NAME])
        same = next((one for one in self._saved.of(self._tool) if one.name == name), None)
        call_id = same.id if same else new_id()
        kept = SavedCall(id=call_id, tool=self._tool, name=name, arguments=arguments, created_at=now())
        await self._store(kept, in_place_of=same)

    def _free_name(self) -> str:
        taken = {one.name for one in self._saved.of(self._tool)}
        return next(name for number in count(1) if (name := f"Call {number}") not in taken)

    async def _store(self, call: SavedCall, *, in_place_of: SavedCall | None = None) -> None:
        with problems_shown():
            await self._saved.save(call)
            if in_place_of is not None:
                self._undo.show(f"Replaced “{head(call.name, 40)}”", partial(self._store, in_place_of))
        self._show()

    async def _clicked(self, action: str, call_id: str) -> None:
        found = next((one for one in self._saved.of(self._tool) if one.id == call_id), None)
        if found is None:
            self._show()
        elif action == "delete":
            await self._delete(found)
        else:
            self._on_choose(found.arguments)

    async def _delete(self, call: SavedCall) -> None:
        with problems_shown():
            await self._saved.delete(call.id)
            self._show()
            self._undo.show(f"Deleted “{head(call.name, 40)}”", lambda: self._store(call))

    def _show(self) -> None:
        saved = self._saved.of(self._tool)
        self._list.set_content(joined(*(_chip(call) for call in saved)))
        self.set_visibility(bool(saved))


def _chip(call: SavedCall) -> Html:
    load = tag(
        "button",
        icon("bookmark"),
        tag("span", call.name, cls="truncate"),
        cls="saved-load",
        data_action="load",
        title=f"Saved {moment_text(call.created_at)}",
    )
    delete = icon_action("delete", "close", f"Delete the saved call {call.name}", title="Delete")
    return tag("span", load, delete, cls="saved-call", data_call=call.id, data_testid="saved-call")
