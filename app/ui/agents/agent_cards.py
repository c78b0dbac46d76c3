"""Agents as cards of a list, and the deleted ones as rows of the Trash."""

from datetime import datetime

from app.domain.agents import Agent, ToolChoice, model_words, tools_of
from app.domain.trace import Week
from app.ui.agents.agent_heading import public_badge, week_words
from app.ui.elements.addresses import editor_address
from app.ui.elements.buttons import icon_action
from app.ui.elements.format import ago, moment_text, plural
from app.ui.elements.markup import Html, icon, tag


def agent_card(agent: Agent, week: Week, now: datetime) -> Html:
    """The agent, with a link to its editor that covers the card, and its buttons."""
    link = tag("a", agent.name, href=editor_address(agent), cls="agent-link")
    head = tag(
        "div",
        tag("span", icon(agent.icon), cls="agent-icon"),
        tag("div", tag("strong", link), tag("code", agent.slug, cls="agent-slug truncate"), cls="grow"),
        cls="row-line",
    )
    return tag(
        "article",
        head,
        tag("p", agent.description or "No description."),
        tag("div", *_chips(agent), cls="chips"),
        tag("div", _used(week, now), _actions(agent), cls="agent-foot"),
        cls="agent-card agent-card-managed",
        data_testid="agent-card",
        data_agent=agent.id,
    )


def trash_row(agent: Agent, now: datetime) -> Html:
    """A deleted agent, with the button that brings it back."""
    deleted = f"deleted {ago(agent.deleted_at, now)}" if agent.deleted_at else ""
    back = tag(
        "button",
        "Restore",
        cls="text-button trash-restore",
        data_action="restore",
        aria_label=f"Restore {agent.name}",
        data_testid="restore-button",
    )
    return tag(
        "li",
        icon(agent.icon, "faint"),
        tag("strong", agent.name, cls="truncate"),
        tag("code", agent.slug, cls="agent-slug truncate"),
        tag("span", deleted, cls="session-meta grow"),
        back,
        cls="session-row trash-row",
        data_agent=agent.id,
        data_testid="trash-row",
    )


def allowed(tools: tuple[ToolChoice, ...]) -> list[str]:
    """The names of the tools that are not off."""
    return [choice.name for choice in tools if choice.policy != "off"]


def _chips(agent: Agent) -> list[Html]:
    behaviour = agent.active_variant.behaviour
    variants = plural(len(agent.variants), "variant")
    chips = [
        *([public_badge()] if agent.is_public else []),
        tag("span", icon("verified"), f"v{agent.active} active", cls="chip", title=variants),
        tag("span", model_words(behaviour), cls="chip truncate"),
    ]
    if tools := tools_of(behaviour):
        names = allowed(tools)
        titles = ", ".join(names or (choice.name for choice in tools))
        if names:
            chips.append(tag("span", icon("build"), plural(len(names), "tool"), cls="chip", title=titles))
        else:
            chips.append(
                tag("span", icon("build"), "Tools off", cls="chip is-warn", title=f"Not allowed yet: {titles}")
            )
    return chips


def _used(week: Week, now: datetime) -> Html:
    if week.last_run_at is None:
        return tag("span", "Never ran", cls="faint grow")
    last = tag("time", f"Last run {ago(week.last_run_at, now)}", title=moment_text(week.last_run_at))
    return tag("div", last, tag("span", week_words(week)), cls="faint grow agent-used")


def _actions(agent: Agent) -> Html:
    return tag(
        "div",
        icon_action("talk", "forum", f"New session with {agent.name}", testid="agent-talk"),
        icon_action("duplicate", "content_copy", f"Duplicate {agent.name}", testid="agent-duplicate"),
        icon_action("export", "download", f"Export {agent.name} to a file", testid="agent-export"),
        icon_action("delete", "delete_outline", f"Delete {agent.name}", testid="agent-delete"),
        cls="agent-actions",
    )
