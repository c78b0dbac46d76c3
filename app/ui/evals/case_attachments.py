"""The files that go with a case's first message: listed in its dialog, each can be taken off."""

from collections.abc import Sequence

from nicegui import ui

from app.domain.messages import Attachment
from app.ui.elements.buttons import icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.visible import visible


class CaseAttachments(ui.element):
    """`parts` are those that are left; nothing is stored here. Hidden where there were none."""

    def __init__(self, parts: Sequence[Attachment]) -> None:
        super().__init__("section")
        self.classes("stack case-checks").props('aria-label="Files" data-testid=case-attachments')
        self.visible = bool(parts)
        self.parts = tuple(parts)
        with self:
            ui.label("Files of the message").classes("field-title")
            self._list = on_click_of(LiveHtml(), "action", self._take_off, along=("place",))
        self._show()

    def _show(self) -> None:
        rows = (_row(part, place) for place, part in enumerate(self.parts))
        gone = tag("p", "None is left.", cls="muted")
        self._list.show(tag("ul", *rows, cls="session-list") if self.parts else gone)

    def _take_off(self, _action: str, place: str) -> None:
        self.parts = tuple(part for number, part in enumerate(self.parts) if number != int(place))
        self._show()


def _row(part: Attachment, place: int) -> Html:
    name = visible(head(part.name, 80))
    return tag(
        "li",
        icon("attach_file"),
        tag("span", name, tag("small", f" {part.media_type}", cls="faint"), cls="grow"),
        icon_action("delete", "delete_outline", f"Take {name} off", title="Take off"),
        cls="session-row scorer-row",
        data_place=str(place),
        data_testid="case-attachment",
    )
