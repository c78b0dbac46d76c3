"""One turn of a conversation: what the user said, and the run that answered it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from nicegui import ui

from app.domain.events import Entry, MessageAdded, RunFinished, RunStarted
from app.domain.streaming import Draft
from app.domain.trace import RunStatus
from app.engine.run.live_run import LiveRun
from app.store.contents.contents import Contents
from app.ui.conversation.answer import SHOWN_STEPS, Answer
from app.ui.conversation.failures import mark
from app.ui.conversation.figures import Figures
from app.ui.conversation.user_message import UserMessage
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import tag
from app.ui.markdown.live_markdown import LiveMarkdown

PAUSE_EVERY = 100
"""Entries between two pauses for others on the event loop."""


class Turn(ui.element):
    """Shows the entries it is given; `on_action` hears its buttons: the turn, the action and the action's value."""

    def __init__(
        self,
        run_id: str,
        *,
        agent_icon: str,
        contents: Contents,
        live_markdown: LiveMarkdown,
        on_action: Callable[["Turn", str, str], Awaitable[None]],
    ) -> None:
        super().__init__("div")
        self.classes("turn")
        self.run_id = run_id
        self.status: RunStatus = "running"
        self.message: UserMessage | None = None
        self.answer: Answer | None = None
        self._agent_icon = agent_icon
        self._contents = contents
        self._live_markdown = live_markdown
        self._on_action = on_action
        self._seen = 0
        self._left = False

        on_click_of(self, "action", partial(on_action, self), along=("value",))

    @property
    def left(self) -> bool:
        """True when it was shown as a run that nobody works on."""
        return self._left

    @property
    def over(self) -> bool:
        """True when nothing more will come."""
        return self.status not in ("running", "paused") or self._left

    @property
    def figures(self) -> Figures:
        return self.answer.figures if self.answer else Figures()

    async def take(self, entries: Sequence[Entry], *, alive: bool) -> None:
        """Show these entries, the next of the run; of very many messages the last ones."""
        skipped = max(0, sum(_is_answer(entry) for entry in entries) - SHOWN_STEPS)
        for entry in entries:
            if entry.seq % PAUSE_EVERY == 0:
                await asyncio.sleep(0)
            self._seen = entry.seq + 1
            match entry.event:
                case RunStarted() as started:
                    self._begin(entry, started)
                    if self.answer is not None:
                        self.answer.skip(skipped)
                case MessageAdded(message=said) if said.role == "user" and self.message and not self.message.said:
                    self.message.show(said, entry.at)
                case _ if self.answer is not None:
                    await self.answer.take(entry, alive=alive)
                case _:
                    pass
            if isinstance(entry.event, RunFinished):
                self.status = entry.event.status

    async def follow(self, live: LiveRun) -> bool:
        """Show what is new of a run that goes on; true when an entry was."""
        grown = False
        while entries := live.since(self._seen):  # more may come while they are shown, the end among them
            await self.take(entries, alive=live.alive)
            self.status = live.status
            grown = True
        if not self.over and self.answer is not None:
            await self.answer.show_draft(live.draft, live.printed, live.progress, steered=live.steered)
        return grown

    async def cut_off(self, draft: Draft, *, paused: bool) -> None:
        """The run has no end, and nobody works on it any more; `draft` is its last live text."""
        self._left = True
        self.status = "paused" if paused else "interrupted"
        if self.answer is not None:
            await self.answer.cut_off(draft, paused=paused)

    def damaged(self, sentences: Sequence[str]) -> None:
        """Say that parts of the run could not be read."""
        words = "Parts of this turn could not be read" if self.answer else "This turn could not be read"
        with self:
            ui.html(tag("div", mark("warning", f"{words}: {' '.join(sentences)}", warn=True)), sanitize=False)

    def _begin(self, entry: Entry, started: RunStarted) -> None:
        with self:
            self.message = UserMessage(self._contents)
            act = partial(self._on_action, self)
            self.answer = Answer(entry, started, self._agent_icon, self._contents, self._live_markdown, act=act)


def _is_answer(entry: Entry) -> bool:
    return isinstance(entry.event, MessageAdded) and entry.event.message.role == "assistant"
