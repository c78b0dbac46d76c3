"""What can be said with one click: before the first message, and where the demo model is at its wits' end."""

from collections.abc import Awaitable, Callable, Iterable

from nicegui import ui

from app.domain.agents import Agent
from app.llm.demo.talk import IDEAS, OFFER
from app.ui.conversation.turn import Turn
from app.ui.elements.addresses import SETTINGS
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, icon, joined, tag


def welcome(agent: Agent, on_example: Callable[[str], Awaitable[None]]) -> ui.html:
    """The agent's face and its example questions; a click on one sends it."""
    content = joined(
        tag("span", icon(agent.icon), cls="agent-icon"),
        tag("h2", agent.name),
        tag("p", agent.description or "Say something to begin."),
        _examples(agent.examples, "example"),
    )
    place = ui.html(content, sanitize=False).classes("welcome").props("data-testid=welcome")
    return on_click_of(place, "example", on_example, once=True)


class Ideas(ui.html):
    """Stands under an answer in which the demo model says what it can act out; a click on one of these sends it."""

    def __init__(self, on_example: Callable[[str], Awaitable[None]]) -> None:
        real = tag("a", "Set up a real model", href=SETTINGS, data_testid="ideas-settings")
        words = tag("p", "Try one of these. ", real, cls="faint")
        super().__init__(joined(words, _examples(IDEAS, "idea")), sanitize=False)
        self.classes("ideas").props("data-testid=ideas").visible = False
        on_click_of(self, "example", on_example, once=True)

    def show(self, last: Turn | None) -> None:
        """Be there under that turn, where it is one in which they are offered."""
        self.visible = last is not None and last.over and last.answer is not None and OFFER in last.answer.text


def _examples(texts: Iterable[str], testid: str) -> Html:
    chips = (tag("button", text, cls="example", data_example=text, data_testid=testid) for text in texts)
    return tag("div", *chips, cls="examples")
