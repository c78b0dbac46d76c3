"""An agent's variants as a list, newest first, each with what can be done with it."""

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from nicegui import ui

from app.domain.agents import Agent, Variant, VariantStatus
from app.domain.evals.gates import GateOutcome
from app.domain.values import now
from app.ui.conversation.differences_view import past_gate
from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import refocus
from app.ui.elements.format import ago, moment_text, plural
from app.ui.elements.gate_dialog import gate_pill
from app.ui.elements.markup import Html, tag
from app.ui.elements.variant_select import standing

PAGE_SIZE = 50
_TONES: dict[VariantStatus, str] = {
    "active": "pill-done",
    "candidate": "pill-running is-still",
    "archived": "pill-stopped",
}


class Variants(ui.element):
    """`on_action` gets an action and a variant's number: promote, diff, talk, runs, copy, archive or unarchive."""

    def __init__(self, on_action: Callable[[str, int], Awaitable[None]]) -> None:
        super().__init__("div")
        self.classes("versions")
        self._with_archived = False
        self._shown = PAGE_SIZE
        self._agent: Agent | None = None
        self._origin = 0
        self._outcomes: Mapping[int, GateOutcome] = {}
        with self:
            self._list = ui.html(sanitize=False).props("data-testid=versions")
            on_click_of(self._list, "action", self._clicked, along=("variant",), once=True)
            self._older = ui.html(sanitize=False, tag="button").classes("link-button").props("type=button")
            self._older.props("data-testid=variants-older").on("click", self._show_older)
            self._more = ui.html(sanitize=False, tag="button").classes("link-button").props("type=button")
            self._more.on("click", self._toggle_archived)
        self._on_action = on_action

    def show(self, agent: Agent, *, origin: int, outcomes: Mapping[int, GateOutcome] | None = None) -> None:
        """List them; the one that the editor began from is marked, and what the gate says of each."""
        self._agent, self._origin = agent, origin
        self._outcomes = outcomes or {}
        listed = [
            variant
            for variant in sorted(agent.variants, key=lambda one: one.number, reverse=True)
            if self._with_archived or agent.status_of(variant.number) != "archived"
        ]
        moment = now()
        shown = [one for place, one in enumerate(listed) if place < self._shown or one.number == agent.active]
        rows = (
            variant_row(
                *(agent, variant, moment),
                in_editor=variant.number == origin,
                outcome=self._outcomes.get(variant.number),
            )
            for variant in shown
        )
        self._list.set_content(tag("ul", *rows, cls="variant-list"))
        left = len(listed) - len(shown)
        self._older.visible = left > 0
        self._older.set_content(f"Show more ({plural(left, 'variant')} left)")
        self._more.visible = bool(agent.archived)
        hidden = plural(len(agent.archived), "archived variant")
        self._more.set_content("Hide the archived ones" if self._with_archived else f"Show {hidden}")

    def _show_older(self) -> None:
        self._shown += PAGE_SIZE
        self._show_again()

    def _toggle_archived(self) -> None:
        self._with_archived = not self._with_archived
        self._show_again()

    def _show_again(self) -> None:
        if self._agent is not None:
            self.show(self._agent, origin=self._origin, outcomes=self._outcomes)

    async def _clicked(self, action: str, number: str) -> None:
        await self._on_action(action, int(number))
        row = f"[data-variant='{int(number)}']"
        refocus(self._list, f"{row} [data-action={json.dumps(action)}]", f"{row} [data-action=diff]")


def variant_row(
    agent: Agent, variant: Variant, moment: datetime, *, in_editor: bool, outcome: GateOutcome | None = None
) -> Html:
    """A variant: number, status, note, when it was saved and what from, and its buttons."""
    status = agent.status_of(variant.number)
    head = tag(
        "div",
        tag("strong", f"v{variant.number}"),
        tag("span", standing(agent, variant.number), cls=f"pill {_TONES[status]}", data_testid="variant-status"),
        tag("span", "in editor", cls="faint") if in_editor else "",
        gate_pill(outcome) if outcome else "",
        _promote(agent, variant, status),
        cls="variant-head",
    )
    return tag(
        "li",
        head,
        tag("p", variant.note, cls="variant-note") if variant.note else "",
        past_gate(agent, variant.number),
        tag("p", _origin(variant, moment), cls="variant-foot"),
        tag("div", *_actions(variant.number, status), cls="variant-actions"),
        cls="variant-row is-active" if status == "active" else "variant-row",
        data_variant=str(variant.number),
        data_testid="variant-row",
    )


def _origin(variant: Variant, moment: datetime) -> Html:
    saved = tag("time", ago(variant.created_at, moment), title=moment_text(variant.created_at))
    return tag("span", saved, f" · from v{variant.origin}" if variant.origin else "", cls="faint grow")


def _promote(agent: Agent, variant: Variant, status: VariantStatus) -> Html:
    if status == "active":
        return Html("")
    words = "Roll back" if agent.was_active(variant.number) else "Promote"
    meaning = f"Make variant {variant.number} the active one"
    return tag(
        "button",
        words,
        cls="text-button version-promote",
        data_action="promote",
        data_testid="promote-button",
        aria_label=f"{words}: {meaning}",
        title=meaning,
    )


def _actions(number: int, status: VariantStatus) -> list[Html]:
    actions = [
        _action("diff", "Changes", f"Show what is different in variant {number}", testid="diff-button"),
        _action("talk", "Talk", f"New session with variant {number}", testid="variant-talk"),
        _action("runs", "Runs", f"Runs of variant {number}", testid="variant-runs"),
        _action("compare", "Compare", f"Compare variant {number} side by side", testid="variant-compare"),
        _action("copy", "Edit", f"Copy variant {number} into the editor", testid="variant-copy"),
    ]
    if status == "candidate":
        actions.append(_action("archive", "Archive", f"Archive variant {number}", testid="variant-archive"))
    if status == "archived":
        label = f"Bring variant {number} back"
        actions.append(_action("unarchive", "Bring back", label, testid="variant-unarchive"))
    return actions


def _action(action: str, words: str, meaning: str, *, testid: str) -> Html:
    return tag(
        "button",
        words,
        cls="text-button",
        data_action=action,
        data_testid=testid,
        aria_label=f"{words}: {meaning}",
        title=meaning,
    )
