"""An empty conversation: who answers here, and what one could ask."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from app.domain.agents import Agent
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, icon, joined, tag


def welcome(agent: Agent, on_example: Callable[[str], Awaitable[None]]) -> ui.html:
    """The agent's face and its example questions; a click on one sends it."""
    examples = (_example(text) for text in agent.examples)
    content = joined(
        tag("span", icon(agent.icon), cls="agent-icon"),
        tag("h2", agent.name),
        tag("p", agent.description or "Say something to begin."),
        tag("div", *examples, cls="examples"),
    )
    place = ui.html(content, sanitize=False).classes("welcome").props("data-testid=welcome")
    return on_click_of(place, "example", on_example)


def _example(text: str) -> Html:
    return tag("button", text, type="button", cls="example", data_example=text, data_testid="example")
