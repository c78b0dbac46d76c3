"""The dialog that asks what a new agent is called and what it begins with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nicegui import ui

from app.domain.agents import Agent, free_slug, name_problem
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of, on_enter
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.questions import answer_to, named_dialog
from app.workbench.samples import SampleAgent


@dataclass(frozen=True)
class Wish:
    """What somebody wants a new agent to be."""

    name: str
    description: str
    template: SampleAgent


class NewAgentDialog:
    """Built for one question; `await asked()` gives the wish, `None` when they thought better of it."""

    def __init__(
        self,
        templates: Sequence[SampleAgent],
        *,
        others: Callable[[], Sequence[Agent]],
        taken_slugs: Callable[[], set[str]],
        noun: str = "agent",
    ) -> None:
        """`templates` begin with the blank one; `others`: the agents there are; `taken_slugs`: also of deleted ones."""
        self._templates = templates
        self._others = others
        self._taken_slugs = taken_slugs
        self._chosen = templates[0]
        self._described = ""
        self._noun = noun
        with (
            named_dialog(f"New {noun}") as self._dialog,
            ui.card().classes("dialog-card new-agent").props("data-testid=new-agent-dialog"),
        ):
            ui.html(f"New {noun}", sanitize=False, tag="h2").classes("section-title")
            self._build_form()

    def _build_form(self) -> None:
        self._name = ui.input("Name", on_change=self._show_note).classes("whole-width")
        self._name.props("outlined dense autofocus debounce=120 maxlength=200 data-testid=agent-name-input")
        on_enter(self._name, self._confirm)
        self._note = ui.html(sanitize=False).classes("field-note").props("role=status data-testid=agent-name-note")
        self._description = ui.input("Description", value=self._described).classes("whole-width")
        self._description.props("outlined dense debounce=120 maxlength=500 data-testid=agent-description-input")
        ui.html("Start with", sanitize=False, tag="h3").classes("field-title")
        self._choices = ui.html(sanitize=False).classes("template-list").props("role=radiogroup aria-label=Template")
        on_click_of(self._choices, "template", self._choose)
        with ui.element("div").classes("row-line dialog-buttons"):
            button("Cancel", lambda: self._dialog.submit(None), look="quiet")
            self._create = button(f"Create {self._noun}", self._confirm, look="primary", testid="create-agent-button")
        self._show_templates()
        self._show_note()

    async def asked(self) -> Wish | None:
        return await answer_to(self._dialog, Wish)

    def _confirm(self) -> None:
        name = str(self._name.value or "")
        if problem := name_problem(name, self._others()):
            self._note.set_content(tag("span", problem, cls="is-bad"))
            return
        self._dialog.submit(Wish(name.strip(), str(self._description.value or "").strip(), self._chosen))

    def _choose(self, name: str) -> None:
        self._chosen = next((one for one in self._templates if one.name == name), self._chosen)
        if (self._description.value or "") == self._described:
            self._described = self._chosen.description if self._chosen is not self._templates[0] else ""
            self._description.value = self._described
        self._show_templates()

    def _show_note(self) -> None:
        name = str(self._name.value or "")
        problem = name_problem(name, self._others())
        self._create.set_enabled(not problem)
        if problem and name.strip():
            self._note.set_content(tag("span", problem, cls="is-bad"))
        elif problem:
            self._note.set_content(tag("span", "Its address and its name in the API come from the name, and stay."))
        else:
            slug = free_slug(name, self._taken_slugs())
            self._note.set_content(
                joined(
                    "Its address will be ", tag("code", f"/{'build' if self._noun == 'workflow' else 'agents'}/{slug}")
                )
            )

    def _show_templates(self) -> None:
        self._choices.set_content(joined(*(_template(one, chosen=one is self._chosen) for one in self._templates)))


def _template(template: SampleAgent, *, chosen: bool) -> Html:
    return tag(
        "button",
        icon(template.icon),
        tag("span", tag("strong", template.name), tag("small", template.description)),
        role="radio",
        aria_checked="true" if chosen else "false",
        cls="template-option",
        data_template=template.name,
        data_testid="template-option",
    )
