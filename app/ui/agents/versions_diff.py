"""A dialog that shows what is different between any two variants, the editor's own state among them."""

from nicegui import background_tasks, ui

from app.domain.agents import Agent, Behaviour
from app.ui.agents.differences_view import compared, differences_view
from app.ui.elements.buttons import icon_button
from app.ui.elements.markup import tag
from app.ui.elements.variant_select import variant_words

EDITOR = 0
"""Stands for what is in the editor, in the place of a variant's number."""


class DifferencesDialog:
    """Opens with `before` and `after`, two numbers of variants; `behaviour` is what is in the editor."""

    def __init__(self, agent: Agent, behaviour: Behaviour, *, before: int, after: int) -> None:
        self._agent = agent
        self._behaviour = behaviour
        options = {EDITOR: "The editor"} | {number: _name(agent, number) for number in _numbers(agent)}
        with ui.dialog() as self._dialog, ui.card().classes("dialog-card diff-dialog").props("data-testid=diff-dialog"):
            with ui.element("div").classes("row-line diff-head"):
                ui.html("What is different", sanitize=False, tag="h2").classes("section-title grow")
                icon_button("close", "Close", self._dialog.close, testid="close-diff")
            with ui.element("div").classes("row-line diff-choice"):
                self._before = self._select("Before", options, before)
                ui.html("→", sanitize=False).classes("faint")
                self._after = self._select("After", options, after)
            self._view = ui.html(tag("p", "Looking…", cls="faint"), sanitize=False).classes("diff-place")
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()
        background_tasks.create(self._show(), name="find differences", context=self._view)

    def _select(self, label: str, options: dict[int, str], chosen: int) -> ui.select:
        box = ui.select(options, label=label, value=chosen, on_change=self._show).classes("grow")
        return box.props(f"outlined dense options-dense stack-label data-testid=diff-{label.lower()}")

    async def _show(self) -> None:
        before, after = self._of(self._before.value), self._of(self._after.value)
        found = await compared(before, after)
        if not self._view.is_deleted:
            self._view.set_content(differences_view(found, empty="Nothing is different between these two."))

    def _of(self, number: object) -> Behaviour:
        return self._agent.variant(number).behaviour if isinstance(number, int) and number else self._behaviour


def _numbers(agent: Agent) -> list[int]:
    return sorted((variant.number for variant in agent.variants), reverse=True)


def _name(agent: Agent, number: int) -> str:
    variant = agent.variant(number)
    note = f" · {variant.note[:40]}" if variant.note else ""
    return f"{variant_words(agent, number)}{note}"
