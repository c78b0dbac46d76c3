"""The tabs of the variant editor: each says what is not saved in it, and a fault in one is named and led to."""

from collections.abc import Callable, Collection, Mapping
from typing import Literal, get_args

from nicegui import ui

from app.domain.agents import PromptBehaviour
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, icon, joined, tag

Tab = Literal["prompt", "model", "tools", "limits", "output"]
TABS: tuple[Tab, ...] = get_args(Tab)
TITLES: dict[Tab, str] = {
    "prompt": "Prompt",
    "model": "Model",
    "tools": "Tools",
    "limits": "Limits",
    "output": "Output",
}
PARTS: dict[Tab, tuple[str, ...]] = {
    "prompt": ("system_prompt", "variables"),
    "model": ("model", "parameters", "attachments"),
    "tools": ("tools", "tool_loading"),
    "limits": ("limits",),
    "output": ("output_schema",),
}
"""What of a behaviour each of them shows."""


def tab_of(name: str) -> Tab:
    """The tab that an address names, the first one where it names none."""
    return next((tab for tab in TABS if tab == name), TABS[0])


def changed_tabs(before: PromptBehaviour, after: PromptBehaviour) -> frozenset[Tab]:
    """Those in which the two differ."""
    return frozenset(
        tab for tab, parts in PARTS.items() if any(getattr(before, one) != getattr(after, one) for one in parts)
    )


class EditorTabs(ui.element):
    """`on_turn` gets the tab that somebody turned to. Fill each with `with tabs.panels[tab]:`."""

    def __init__(self, tab: Tab, *, on_turn: Callable[[Tab], None]) -> None:
        super().__init__("div")
        self.classes("editor-tabs")
        self.tab: Tab = tab
        self._on_turn = on_turn
        self._marks: dict[Tab, ui.html] = {}
        self.panels: dict[Tab, ui.element] = {}
        with self:
            with ui.tabs().props("dense align=left no-caps inline-label").classes("run-tabs") as self._bar:
                for name in TABS:
                    with ui.tab(name, TITLES[name]).props(f"data-testid=editor-tab-{name}") as one:
                        self._marks[name] = ui.html(sanitize=False, tag="span").classes("tab-marks")
                    one.classes("developer-only" if name == "output" else "")
            self._faults = ui.html(sanitize=False).classes("editor-faults")
            on_click_of(self._faults.props("role=status data-testid=editor-faults"), "tab", self.go)
            for name in TABS:
                panel = ui.element("div").classes("editor-panel").props(f'role=tabpanel aria-label="{TITLES[name]}"')
                self.panels[name] = panel
                panel.visible = name == tab
        self._bar.set_value(tab)
        self._bar.on_value_change(lambda event: self._turned(str(event.value)))

    def go(self, name: str) -> None:
        """Turn to that tab."""
        self._bar.set_value(tab_of(name))

    def show_marks(self, changed: Collection[Tab], faults: Mapping[Tab, str]) -> None:
        """Say in which tabs something is not saved, and what is wrong in those that are not looked at."""
        for name, mark in self._marks.items():
            mark.set_content(_marks(changed=name in changed, faulty=bool(faults.get(name))))
        elsewhere = [_fault(name, faults[name]) for name in TABS if faults.get(name) and name != self.tab]
        self._faults.set_content(joined(*elsewhere))

    def _turned(self, name: str) -> None:
        self.tab = tab_of(name)
        for one, panel in self.panels.items():
            panel.visible = one == self.tab
        self._on_turn(self.tab)


def _marks(*, changed: bool, faulty: bool) -> Html:
    words = tag("span", "not saved", cls="visually-hidden")
    return joined(
        tag("span", words, cls="tab-changed", title="Not saved yet") if changed else "",
        tag("span", icon("error_outline"), tag("span", "has a fault", cls="visually-hidden"), cls="tab-faulty")
        if faulty
        else "",
    )


def _fault(name: Tab, words: str) -> Html:
    show = tag("button", "Show", cls="link-button", data_tab=name, aria_label=f"Show {TITLES[name]}")
    said = tag("span", tag("strong", f"{TITLES[name]}: "), words)
    return tag("p", icon("warning"), said, show, cls="mark mark-warn")
