"""Small dialogs that ask one thing."""

from typing import TypeVar

from nicegui import ui

from app.ui.elements.buttons import Look, button

A = TypeVar("A")


def named_dialog(name: str) -> ui.dialog:
    """A dialog that is told to those who do not see it by that name."""
    dialog = ui.dialog()
    dialog.props["aria-label"] = name
    return dialog


def keep_typed(dialog: ui.dialog, card: ui.element) -> None:
    """Once something was typed in its card, neither Escape nor a click beside it closes the dialog: its buttons do."""
    card.on("input.once", lambda: dialog.props("persistent"), args=[])


async def answer_to(dialog: ui.dialog, kind: type[A]) -> A | None:
    """What the dialog is submitted with, `None` for anything else; it is gone then."""
    answer: object = await dialog
    if not dialog.is_deleted:  # with its page, while it was open
        dialog.delete()
    return answer if isinstance(answer, kind) else None


async def asked_for_text(title: str, value: str, *, label: str, confirm: str = "Save") -> str | None:
    """The text a person gave, `None` when they thought better of it."""
    with named_dialog(title) as dialog, ui.card().classes("dialog-card dialog-small"):
        ui.label(title).classes("section-title")
        lined = "\n" in value  # a browser takes the ends of lines out of a box of one line
        box = ui.textarea(label, value=value).props("autogrow") if lined else ui.input(label, value=value)
        box.props("outlined dense autofocus data-testid=question-input").classes("fill")
        if not lined:
            box.on("keydown.enter", lambda: dialog.submit(box.value))
        with ui.element("div").classes("row-line at-end"):
            button("Cancel", lambda: dialog.submit(None), look="quiet")
            button(confirm, lambda: dialog.submit(box.value), look="primary", testid="question-confirm")
    answer = await answer_to(dialog, str)
    return answer.strip() if answer is not None else None


async def agreed(title: str, words: str, *, confirm: str, look: Look = "danger") -> bool:
    """Whether a person confirmed it; it looks like what cannot be taken back."""
    with named_dialog(title) as dialog, ui.card().classes("dialog-card dialog-small"):
        ui.label(title).classes("section-title")
        ui.label(words).classes("faint")
        with ui.element("div").classes("row-line at-end"):
            button("Cancel", lambda: dialog.submit(False), look="quiet")
            button(confirm, lambda: dialog.submit(True), look=look, testid="question-confirm").props("autofocus")
    return await answer_to(dialog, bool) is True
