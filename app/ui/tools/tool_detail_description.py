"""What models are told of a tool: its own words, or others put in their place."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from app.domain.values import well_formed
from app.tools.registry import ListedTool
from app.ui.elements.buttons import button
from app.ui.elements.markup import Html, joined, tag

LONGEST = 20_000
"""Characters."""
LONG = 420
"""Characters, or six lines, from which on a description is folded."""


class ToolDescription(ui.element):
    """`on_change` stores the words that models shall be told, `None` for the tool's own; says whether it did."""

    def __init__(self, listed: ListedTool, *, on_change: Callable[[str | None], Awaitable[bool]]) -> None:
        super().__init__("div")
        self.classes("tool-description")
        self._listed = listed
        self._on_change = on_change
        with self:
            self._words = ui.html(sanitize=False)
            self._actions = ui.element("div").classes("row-line")
            self._place = ui.element("div")
        self._show_actions()
        self.show(listed)

    def show(self, listed: ListedTool) -> None:
        """Show what models are told now, unless it is being written."""
        was_replaced = self._listed.setting.description is not None
        self._listed = listed
        self._words.set_content(_words(listed))
        is_replaced = listed.setting.description is not None
        if not self._place.default_slot.children and is_replaced != was_replaced:
            self._show_actions()

    def _show_actions(self) -> None:
        self._actions.clear()
        with self._actions:
            button("Change what models are told", self._edit, look="quiet", icon="edit_note", testid="describe-tool")
            if self._listed.setting.description is not None:
                button("Use its own description", self._reset, look="quiet", icon="undo", testid="reset-description")

    def _edit(self) -> None:
        self._actions.clear()
        told = self._listed.spec.description
        with self._place:
            box = ui.textarea(value=told).classes("fill")
            box.props(f'outlined autogrow autofocus maxlength={LONGEST} aria-label="What models are told"')
            box.props("data-testid=description-input")

            async def save() -> None:
                text = well_formed(str(box.value or "").strip())
                if await self._on_change(text if text and text != self._listed.tool.spec.description else None):
                    self._close()

            def leave() -> None:
                """What was typed is thrown away by *Cancel* alone."""
                if box.value == told:
                    self._close()

            box.on("keydown.ctrl.enter.stop", save).on("keydown.meta.enter.stop", save).on("keydown.esc", leave)
            with ui.element("div").classes("row-line"):
                button("Save", save, look="primary", testid="save-description")
                button("Cancel", self._close, look="quiet")

    def _close(self) -> None:
        self._place.clear()
        self._show_actions()

    async def _reset(self) -> None:
        await self._on_change(None)


def _words(listed: ListedTool) -> Html:
    own = listed.tool.spec.description
    if listed.setting.description is None:
        return _text(own)
    return joined(
        tag("p", "Models are told:", cls="field-title"),
        tag("div", _text(listed.spec.description), data_testid="told-description"),
        tag("p", "Its own description, which they do not see:", cls="field-title"),
        tag("div", _text(own), cls="is-replaced", data_testid="own-description"),
    )


def _text(text: str) -> Html:
    if not text.strip():
        return tag("p", "It says nothing about itself. Models are told its name and arguments only.", cls="faint")
    if len(text) <= LONG and text.count("\n") < 6:
        return tag("p", text, cls="tool-told")
    return tag("details", tag("summary", tag("p", text, cls="tool-told"), tag("span", cls="fold")), cls="tool-folded")
