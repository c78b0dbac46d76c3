"""The values of a session's variables, and the sets of them that are kept under names."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from app.domain.agents import Behaviour, VariableSet, declared_of, template_of
from app.domain.sessions import Session
from app.domain.values import new_id, well_formed
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import asked_for_text
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.variables_form import Field, VariablesForm, fields_of
from app.workbench import Workbench

LONGEST_NAME = 60
"""Characters of a set's name."""


class VariablesPanel(ui.element):
    """`on_change` is called when the session has other values."""

    def __init__(self, workbench: Workbench, session: Session, on_change: Callable[[], object]) -> None:
        super().__init__("section")
        self.classes("side-section").props("aria-label=Variables")
        self._workbench = workbench
        self._session = session
        self._on_change = on_change
        self._fields: list[Field] = []
        with self:
            ui.html("Variables", sanitize=False, tag="h2")
            self._form = VariablesForm(lambda name, value: self._change({name: value}))
            with ui.element("div").classes("variable-sets") as self._set_row:
                self._sets = ui.html(sanitize=False).classes("variable-set-list").props("data-testid=variable-sets")
                on_click_of(self._sets, "action", self._set_clicked, along=("set",))
                keep = button("Keep these values", self._keep, look="quiet", icon="bookmark_add")
                keep.props("data-testid=keep-values-button")
            self._undo = UndoBar()

    def show(self, session: Session, behaviour: Behaviour) -> None:
        """Show a box for each variable of the prompt as it is written now."""
        self._session = session
        self._fields = fields_of(template_of(behaviour), declared_of(behaviour), session.variables)
        self._form.show(self._fields)
        self._set_row.visible = bool(self._fields)
        self._show_sets()

    async def _change(self, values: dict[str, str]) -> None:
        def changed(session: Session) -> Session:
            return session.model_copy(update={"variables": {**session.variables, **values}})

        with problems_shown():
            self._session = await self._workbench.sessions.change(self._session.id, changed)
            self._on_change()

    def _show_sets(self) -> None:
        sets = self._workbench.variable_sets.of(self._session.agent_id)
        self._sets.set_content(joined(*(_set_chip(one, self._session) for one in sets)))

    async def _keep(self) -> None:
        name = await asked_for_text("Keep these values", "", label="Name of this set")
        if not name:
            return
        values = {
            field.variable.name: self._session.variables.get(field.variable.name, field.value) for field in self._fields
        }
        agent_id, name = self._session.agent_id, well_formed(name[:LONGEST_NAME])
        same = next((one for one in self._workbench.variable_sets.of(agent_id) if one.name == name), None)
        kept = VariableSet(id=same.id if same else new_id(), agent_id=agent_id, name=name, values=values)
        await self._do(self._workbench.variable_sets.save(kept))
        if same is not None:
            self._undo.show(f"Replaced “{name}”", lambda: self._do(self._workbench.variable_sets.save(same)))

    async def _set_clicked(self, action: str, set_id: str) -> None:
        found = next(
            (one for one in self._workbench.variable_sets.of(self._session.agent_id) if one.id == set_id), None
        )
        if found is None:
            self._show_sets()
        elif action == "use":
            for name, value in found.values.items():
                self._form.put(name, value)
            await self._change(found.values)
            self._show_sets()
        else:
            await self._do(self._workbench.variable_sets.delete(set_id))
            self._undo.show(f"Deleted “{found.name}”", lambda: self._do(self._workbench.variable_sets.save(found)))

    async def _do(self, change: Awaitable[object]) -> None:
        with problems_shown():
            await change
        self._show_sets()


def _set_chip(kept: VariableSet, session: Session) -> Html:
    is_used = all(session.variables.get(name) == value for name, value in kept.values.items())
    use = tag(
        "button",
        kept.name,
        type="button",
        cls="set-use",
        data_action="use",
        data_set=kept.id,
        data_testid="variable-set",
        aria_pressed="true" if is_used else "false",
        title=", ".join(f"{name}: {value}" for name, value in kept.values.items()),
    )
    delete = tag(
        "button",
        icon("close"),
        type="button",
        cls="set-delete",
        data_action="delete",
        data_set=kept.id,
        aria_label=f"Delete the values “{kept.name}”",
    )
    return tag("span", use, delete, cls="set-chip is-used" if is_used else "set-chip")
