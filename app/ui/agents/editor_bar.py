"""The bar over the editor: what state its content is in, and what to do with it."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from app.ui.agents.editor_draft import EditorDraft
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.markup import Html, icon, joined, tag

LONGEST_NOTE = 300


class EditorBar(ui.element):
    """`note` is what was written about the variant to be saved."""

    def __init__(
        self,
        *,
        on_save: Callable[[], Awaitable[None]],
        on_discard: Callable[[], None],
        on_differences: Callable[[], None],
    ) -> None:
        super().__init__("div")
        self.classes("editor-bar").props('role=toolbar aria-label="Changes"')
        with self:
            self._state = ui.html(sanitize=False).classes("grow").props("role=status data-testid=editor-state")
            self._differences = icon_button("difference", "What changed", on_differences, testid="what-changed-button")
            self._discard = button("Discard changes", on_discard, look="quiet", icon="undo")
            self._discard.props('data-testid=reset-prompt-button aria-label="Discard changes"').classes("btn-label")
            self._note = ui.input(placeholder="Note (optional)").classes("note-box")
            self._note.props(f'outlined dense maxlength={LONGEST_NOTE} aria-label="Note for the variant"')
            self._note.props("data-testid=variant-note").on("keydown.enter", on_save)
            self._save = button("Save as variant", on_save, look="primary", icon="save", testid="save-variant-button")

    @property
    def note(self) -> str:
        return str(self._note.value or "").strip()[:LONGEST_NOTE]

    def show(self, draft: EditorDraft) -> None:
        """Show the draft's state as it is now."""
        changed = draft.changed
        self._state.set_content(_state(draft))
        for one in (self._differences, self._discard):
            one.visible = changed
        self._save.set_enabled(changed)

    def clear_note(self) -> None:
        self._note.value = ""


def _state(draft: EditorDraft) -> Html:
    name = tag("strong", f"v{draft.origin}")
    if draft.trouble:
        words = f"Not kept: {draft.trouble} What you typed stays on this page."
        return joined(name, tag("span", icon("error_outline"), words, cls="mark mark-warn"))
    if not draft.changed:
        return joined(name, tag("span", "No changes", cls="faint"))
    kept = "draft kept" if draft.is_written else "keeping…"
    return joined(name, tag("span", "Changed", cls="chip is-warn"), tag("span", kept, cls="faint"))
