"""An empty conversation: who answers here, and what one could ask."""

from collections.abc import Awaitable, Callable

from nicegui import events, ui

from app.domain.agents import Agent
from app.ui.elements.markup import icon, joined, tag

_EMIT_EXAMPLE = "(event) => { const one = event.target.closest('.example'); if (one) emit(one.textContent); }"


def welcome(agent: Agent, on_example: Callable[[str], Awaitable[None]]) -> ui.html:
    """The agent's face and its example questions; a click on one sends it."""
    examples = (tag("button", text, type="button", cls="example", data_testid="example") for text in agent.examples)
    content = joined(
        tag("span", icon(agent.icon), cls="agent-icon"),
        tag("h2", agent.name),
        tag("p", agent.description or "Say something to begin."),
        tag("div", *examples, cls="examples"),
    )
    place = ui.html(content, sanitize=False).classes("welcome").props("data-testid=welcome")

    async def ask(event: events.GenericEventArguments) -> None:
        await on_example(str(event.args))

    return place.on("click", ask, js_handler=_EMIT_EXAMPLE)
