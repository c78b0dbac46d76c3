"""The prompt of the variant editor: written, previewed, its variables listed, its tokens counted."""

from collections.abc import Callable
from dataclasses import replace

from nicegui import ui

from app.domain.agents import PromptBehaviour, Variable
from app.domain.prompts import PromptFault
from app.ui.agents.prompt_tokens import prompt_tokens
from app.ui.elements.choice import Choice
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.prompt_editor import Mode, PromptEditor
from app.ui.elements.variables_form import Field, VariablesForm, brace_faults, fault_words, fields_of

LOOK_SECONDS = 0.3
MOST_FAULTS = 5
Changed = Callable[[PromptBehaviour], None]
_MODES: tuple[tuple[Mode, str], ...] = (("edit", "Edit"), ("preview", "Preview"), ("both", "Side by side"))


class PromptSection:
    """Calls `on_change` with the behaviour as it is after each edit of the prompt or of its variables.

    `on_fault` gets the first thing that is wrong with the braces in it, or "".
    """

    def __init__(self, behaviour: PromptBehaviour, *, on_change: Changed, on_fault: Callable[[str], None]) -> None:
        self._behaviour = behaviour
        self._on_change, self._on_fault = on_change, on_fault
        self._looked_at: PromptBehaviour | None = None
        self._new: set[str] = set()
        self._build_head()
        self._editor = PromptEditor(
            behaviour.system_prompt,
            variables=behaviour.variables,
            values=_defaults(behaviour.variables),
            on_change=self._typed,
        )
        self._faults = ui.html(sanitize=False).classes("prompt-faults").props("role=status data-testid=prompt-faults")
        ui.html("Variables", sanitize=False, tag="h3").classes("field-title")
        self._variables = VariablesForm(self._set_default, on_describe=self._describe, on_remove=self._remove)
        self._show_variables()
        ui.timer(LOOK_SECONDS, self._look)

    def saved(self) -> None:
        """No variable is new any more."""
        self._new.clear()
        self._show_variables()

    def take(self, behaviour: PromptBehaviour) -> None:
        """Know what the other sections changed."""
        self._behaviour = behaviour

    def _build_head(self) -> None:
        with ui.element("div").classes("row-line section-head"):
            ui.html("System prompt", sanitize=False, tag="h2").classes("section-title")
            self._tokens = ui.html(sanitize=False, tag="span").classes("chip").props("data-testid=prompt-tokens")
            ui.element("span").classes("grow")
            label = "How the prompt is shown"
            self._modes = Choice(_MODES, self._show_mode, label=label, testid="prompt-mode-{}", look="mode-switch")
            self._modes.show("edit")

    def _show_mode(self, mode: Mode) -> None:
        self._editor.show(mode)
        self._modes.show(mode)

    def _typed(self) -> None:
        self._change(self._behaviour.model_copy(update={"system_prompt": self._editor.text}))

    def _set_default(self, name: str, default: str) -> None:
        self._change_variable(name, {"default": default})

    def _describe(self, name: str, description: str) -> None:
        self._change_variable(name, {"description": description})

    def _change_variable(self, name: str, changes: dict[str, str]) -> None:
        declared = _with(self._behaviour.variables, name)
        self._declare(tuple(one.model_copy(update=changes) if one.name == name else one for one in declared))

    def _remove(self, name: str) -> None:
        self._declare(tuple(one for one in self._behaviour.variables if one.name != name))
        self._show_variables()

    def _declare(self, variables: tuple[Variable, ...]) -> None:
        self._editor.fill(_defaults(variables), variables)
        self._change(self._behaviour.model_copy(update={"variables": variables}))

    def _change(self, behaviour: PromptBehaviour) -> None:
        self._behaviour = behaviour
        self._on_change(behaviour)

    def _show_variables(self) -> None:
        """A variable stays new until it is saved: its boxes would else be built anew while somebody types in them."""
        fields = fields_of(self._behaviour.system_prompt, self._behaviour.variables)
        self._new |= {field.variable.name for field in fields if field.mark == "new"}
        marked = (replace(field, mark="new") if self._is_new(field) else field for field in fields)
        self._variables.show(list(marked))

    def _is_new(self, field: Field) -> bool:
        return not field.mark and field.variable.name in self._new

    async def _look(self) -> None:
        """Find variables and faults and count tokens, at a time when nobody waits for it."""
        behaviour = self._behaviour
        if behaviour == self._looked_at:
            return
        self._looked_at = behaviour
        self._show_variables()
        prompt = behaviour.system_prompt
        found = brace_faults(prompt)
        self._faults.set_content(_fault_list(prompt, found))
        self._on_fault(fault_words(found[0]) if found else "")
        self._tokens.set_content(await prompt_tokens(behaviour))


def _with(variables: tuple[Variable, ...], name: str) -> tuple[Variable, ...]:
    return variables if any(one.name == name for one in variables) else (*variables, Variable(name=name))


def _defaults(variables: tuple[Variable, ...]) -> dict[str, str]:
    return {one.name: one.default for one in variables}


def _fault_list(prompt: str, faults: list[PromptFault]) -> Html:
    if not prompt.strip():
        words = "The prompt is empty: the model gets no instructions, only the conversation."
        return tag("p", icon("info"), words, cls="mark prompt-fault")
    rows = [
        tag(
            "p",
            icon("warning"),
            f"Line {_line(prompt, fault)}: {fault_words(fault)}",
            cls="mark mark-warn prompt-fault",
        )
        for fault in faults[:MOST_FAULTS]
    ]
    if len(faults) > MOST_FAULTS:
        rows.append(tag("p", f"And {len(faults) - MOST_FAULTS} more like this.", cls="mark mark-warn prompt-fault"))
    return joined(*rows)


def _line(prompt: str, fault: PromptFault) -> int:
    return prompt.count("\n", 0, fault.position) + 1
