"""A tool or a whole kit is given to agents: each gets a new variant, which is used at once and can be taken back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from nicegui import events, ui

from app.domain.agents import Agent, Behaviour, WorkingCopy, with_variant
from app.domain.tool_settings import policy_of, with_tool
from app.domain.tools import Policy, ToolSpec
from app.domain.values import now
from app.ui.elements.buttons import button
from app.ui.elements.choice import Choice
from app.ui.elements.format import plural
from app.ui.elements.gate_dialog import past_the_gate
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import answer_to, named_dialog
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.visible import title_of, visible
from app.workbench import Workbench

_POLICIES: tuple[tuple[Policy, str], ...] = (("auto", "Auto: without asking"), ("ask", "Ask before each call"))
_EMIT = "(event) => emit([event.target.closest('[data-agent]').dataset.agent, event.target.checked])"
MOST_NAMED = 3


@dataclass(frozen=True)
class Gift:
    """What may be given."""

    name: str
    """Of a tool, or of a kit."""
    title: str
    kit: str = ""
    """The kit of a tool."""
    tools: tuple[str, ...] = ()
    """The tools of a kit."""
    side_effects: bool = False

    def to(self, behaviour: Behaviour, policy: Policy) -> Behaviour:
        return with_tool(behaviour, self.name, policy, instead=self.tools)


def gifts_of(workbench: Workbench, spec: ToolSpec) -> list[Gift]:
    """The tool, and the kit that it is of where it is of one."""
    gift = Gift(spec.name, title_of(spec), kit=spec.kit, side_effects=spec.side_effects)
    return [gift, kit_gift(workbench, spec.kit)] if spec.kit else [gift]


def kit_gift(workbench: Workbench, kit: str) -> Gift:
    """All tools of that kit or MCP server, those included that it gets later."""
    specs = [one.spec for one in workbench.tools.listed() if one.spec.kit == kit]
    title = f"All {plural(len(specs), 'tool')} of {visible(kit)}"
    effects = any(spec.side_effects for spec in specs)
    return Gift(kit, title, tools=tuple(spec.name for spec in specs), side_effects=effects)


async def give_to_agents(
    workbench: Workbench, undo: UndoBar, *gifts: Gift, on_done: Callable[[], object] = lambda: None
) -> None:
    """Ask to whom one of these is given, give it, and say what was done; `on_done` shows how it is then."""
    wish = await GiveDialog([one for one in workbench.agents.all() if one.kind == "prompt"], gifts).asked()
    if wish is None:
        return
    given: list[Agent] = []
    back: list[Callable[[], object]] = []
    with problems_shown():
        for agent_id in wish.agents:
            agent, taken_back = await _give(workbench, agent_id, wish)
            back.append(taken_back)
            if agent is not None:
                given.append(agent)
    if given:
        named = [f"{agent.name} (v{agent.active})" for agent in given[:MOST_NAMED]]
        rest = [plural(len(given) - MOST_NAMED, "more agent")] if len(given) > MOST_NAMED else []
        undo.show(f"{wish.gift.title} given to {', '.join([*named, *rest])}, for the next runs", *back, on_done)
        on_done()


@dataclass(frozen=True)
class Wish:
    gift: Gift
    policy: Policy
    agents: Sequence[str]
    """Their ids."""


async def _give(workbench: Workbench, agent_id: str, wish: Wish) -> tuple[Agent | None, Callable[[], object]]:
    """The agent that has it now, and what takes it back; no agent where its gate holds that back.

    Raises `WorkbenchError`.
    """
    gift, policy = wish.gift, wish.policy

    def changed(agent: Agent) -> Agent:
        behaviour = gift.to(agent.active_variant.behaviour, policy)
        return with_variant(agent, behaviour, origin=agent.active, note=f"Given: {gift.title}")

    promotion = await past_the_gate(workbench, agent_id, partial(workbench.gating.keep, agent_id, changed, by="page"))
    if promotion is None:
        return None, lambda: None
    before, agent = promotion.before, promotion.after
    copy = workbench.working_copies.get(agent_id)
    if copy is not None:  # what is being edited would else take the tool away again when it is saved
        _type(workbench, copy, gift.to(copy.behaviour, policy))

    async def taken_back() -> None:
        await workbench.agents.change(agent_id, partial(_without, number=agent.active, before=before.active))
        newest = workbench.working_copies.get(agent_id)
        if copy is not None and newest is not None and newest.behaviour == gift.to(copy.behaviour, policy):
            _type(workbench, copy, copy.behaviour)

    return agent, taken_back


def _type(workbench: Workbench, copy: WorkingCopy, behaviour: Behaviour) -> None:
    workbench.working_copies.typed(copy.model_copy(update={"behaviour": behaviour, "updated_at": now()}))


def _without(agent: Agent, *, number: int, before: int) -> Agent:
    """The agent with the variant before that one active, and that one out of the way; unless it went on since."""
    if agent.active != number:
        return agent
    archived = (set(agent.archived) - {before}) | {number}
    known = tuple(one for one in agent.activations if one.variant != number)
    changes = {"active": before, "archived": tuple(sorted(archived)), "activations": known}
    return agent.model_copy(update=changes)


class GiveDialog:
    """Built for one question; `await asked()` gives the wish, `None` when they thought better of it."""

    def __init__(self, agents: Sequence[Agent], gifts: Sequence[Gift]) -> None:
        self._agents, self._gifts = agents, {gift.name: gift for gift in gifts}
        self._gift = gifts[0]
        self._policy: Policy = "ask" if self._gift.side_effects else "auto"
        self._chosen: set[str] = set()
        with (
            named_dialog("Give to agents") as self._dialog,
            ui.card().classes("dialog-card dialog-small give-dialog") as card,
        ):
            card.props("data-testid=give-dialog")
            self._title = ui.html(sanitize=False, tag="h2").classes("section-title")
            if len(gifts) > 1:
                words = [(gift.name, "This tool" if gift.kit else gift.title) for gift in gifts]
                self._which = Choice(words, self._choose_gift, label="What is given", testid="give-{}")
                self._which.show(self._gift.name)
            self._rule = Choice(_POLICIES, self._choose_policy, label="May it be called?", testid="give-policy-{}")
            self._list = ui.html(sanitize=False).classes("give-list").props('role=group aria-label="Agents"')
            self._list.on("change", self._picked, js_handler=_EMIT)
            note = "Each gets a new variant, which its next runs use. You can take it back."
            ui.label(note).classes("faint")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Cancel", lambda: self._dialog.submit(None), look="quiet")
                self._give = button("Give", self._confirm, look="primary", testid="give-confirm")
        self._show()

    async def asked(self) -> Wish | None:
        return await answer_to(self._dialog, Wish)

    def _confirm(self) -> None:
        agents = [agent.id for agent in self._agents if agent.id in self._chosen and not self._has(agent)]
        self._dialog.submit(Wish(self._gift, self._policy, agents))

    def _choose_gift(self, name: str) -> None:
        self._gift = self._gifts[name]
        self._policy = "ask" if self._gift.side_effects else self._policy
        self._which.show(name)
        self._show()

    def _choose_policy(self, policy: Policy) -> None:
        self._policy = policy
        self._show()

    def _picked(self, event: events.GenericEventArguments) -> None:
        agent_id, wanted = event.args
        (self._chosen.add if wanted else self._chosen.discard)(str(agent_id))
        self._show_button()

    def _has(self, agent: Agent) -> bool:
        return policy_of(agent.active_variant.behaviour, self._gift.name, self._gift.kit) == self._policy

    def _show(self) -> None:
        self._title.set_content(joined(f"Give to agents: {self._gift.title}"))
        self._rule.show(self._policy)
        rows = (_row(agent, self._gift, is_on=agent.id in self._chosen, has=self._has(agent)) for agent in self._agents)
        none = tag("p", "There are no agents. The Agents page creates one.", cls="faint")
        self._list.set_content(joined(*rows) if self._agents else none)
        self._show_button()

    def _show_button(self) -> None:
        number = sum(agent.id in self._chosen and not self._has(agent) for agent in self._agents)
        self._give.text = f"Give to {plural(number, 'agent')}" if number else "Give"
        self._give.set_enabled(number > 0)


_STANDING: dict[Policy, str] = {"auto": "has it", "ask": "has it, asks first", "off": ""}


def _row(agent: Agent, gift: Gift, *, is_on: bool, has: bool) -> Html:
    standing = _STANDING[policy_of(agent.active_variant.behaviour, gift.name, gift.kit)]
    box = tag("input", type="checkbox", checked=is_on or has, disabled=has, data_testid="give-agent")
    name = tag("span", agent.name, cls="truncate grow")
    return tag("label", box, icon(agent.icon), name, tag("span", standing, cls="faint"), data_agent=agent.id)
