"""What only one case asks of its answers: listed in its dialog, added, changed and removed."""

from collections.abc import Sequence

from nicegui import ui
from pydantic import TypeAdapter

from app.domain.evals.scorers import Check
from app.ui.elements.buttons import button, icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, tag
from app.ui.evals.scorer_form import CHECK_TYPES, ScorerDialog, scorer_words
from app.workbench import Workbench

CHECK: TypeAdapter[Check] = TypeAdapter(Check)
ASKED = "Asked of this case only. Without one, the scorer that asks them says nothing."
UNASKED = "Nobody asks them yet: add the scorer “What the case itself asks holds” to the dataset."


class CaseChecks(ui.element):
    """`checks` are those that are listed now; nothing is stored here."""

    def __init__(self, workbench: Workbench, checks: Sequence[Check], *, asked: bool) -> None:
        """`asked`: whether a scorer of the dataset asks them."""
        super().__init__("section")
        self.classes("stack case-checks").props('aria-label="Checks" data-testid=case-checks')
        self._workbench = workbench
        self.checks = tuple(checks)
        with self:
            with ui.element("div").classes("row-line"):
                ui.label("Checks").classes("field-title")
                ui.label(ASKED if asked else UNASKED).classes("faint grow")
                button("Add check", self._add, icon="add", testid="new-check-button")
            self._list = on_click_of(LiveHtml(), "action", self._act, along=("place",))
        self._show()

    def _show(self) -> None:
        rows = (_row(check, place) for place, check in enumerate(self.checks))
        self._list.show(tag("ul", *rows, cls="session-list"))
        self._list.visible = bool(self.checks)

    async def _add(self) -> None:
        await self._ask(None)

    async def _act(self, action: str, place: str) -> None:
        check = self.checks[int(place)]
        if action == "edit":
            await self._ask(check)
        else:
            self.checks = tuple(one for one in self.checks if one is not check)
            self._show()

    async def _ask(self, before: Check | None) -> None:
        with self:
            said = await ScorerDialog(self._workbench, before, types=CHECK_TYPES, noun="check").asked()
        if said is None:
            return
        check = CHECK.validate_python(said.model_dump())
        self.checks = tuple(check if one is before else one for one in self.checks)
        if before is None:
            self.checks = (*self.checks, check)
        self._show()


def _row(check: Check, place: int) -> Html:
    words = tag("div", tag("strong", check.name), tag("span", scorer_words(check), cls="muted"), cls="scorer-words")
    return tag(
        "li",
        words,
        icon_action("edit", "edit", f"Change the check {check.name}", title="Change"),
        icon_action("delete", "delete_outline", f"Remove the check {check.name}", title="Remove"),
        cls="session-row scorer-row",
        data_place=str(place),
        data_testid="case-check",
    )
