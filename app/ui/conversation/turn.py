"""One turn of a conversation: what the user said, and the run that answered it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from nicegui import ui

from app.domain.events import Entry, MessageAdded, ModelCalled, RunFinished, RunStarted
from app.domain.messages import SentAttachment
from app.domain.streaming import Draft
from app.domain.trace import NONE_EDITED, Edits, RunStatus
from app.engine.run.run import Run
from app.store.contents.contents import Contents
from app.ui.conversation.answer import SHOWN_STEPS, Answer
from app.ui.conversation.call_cards import ShowView
from app.ui.conversation.failures import mark
from app.ui.conversation.figures import Figures
from app.ui.conversation.task_line import TaskOf, no_task
from app.ui.conversation.user_message import SteerMessage, UserMessage
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import tag
from app.ui.markdown.live_markdown import LiveMarkdown

PAUSE_EVERY = 100
"""Entries between two pauses for others on the event loop."""


ShowViewOf = Callable[[str, bool], ShowView]
"""For the run of that id, and whether it is followed while it goes on."""


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
        task_of: TaskOf = no_task,
        show_view: ShowViewOf | None = None,
    ) -> None:
        super().__init__("div")
        self._show_view = show_view
        self.classes("turn")
        self.run_id = run_id
        self.status: RunStatus = "running"
        self.edits: Edits = NONE_EDITED
        """What a person edited of the run; set before its entries are taken."""
        self._task_of = task_of
        self.message: UserMessage | None = None
        self.answer: Answer | None = None
        self._agent_icon = agent_icon
        self._contents = contents
        self._live_markdown = live_markdown
        self._on_action = on_action
        self._beside: Sequence[str] = (run_id,)
        self._seen = 0
        self.left = False
        """True when it was shown as a run that nobody works on."""
        on_click_of(self, "action", partial(on_action, self), along=("value",))

    @property
    def over(self) -> bool:
        """True when nothing more will come."""
        return self.status not in ("running", "paused") or self.left

    @property
    def figures(self) -> Figures:
        return self.answer.figures if self.answer else Figures()

    def stand(self, beside: Sequence[str]) -> None:
        """Say which of the branches that begin here it is: one of these runs."""
        self._beside = beside
        if self.message is not None:
            self.message.stand(self.run_id, beside)

    async def take(self, entries: Sequence[Entry], *, alive: bool) -> None:
        """Show these entries, the next of the run; of very many messages the last ones."""
        skipped = max(0, sum(_is_answer(entry) for entry in entries) - SHOWN_STEPS)
        for entry in entries:
            if (entry.seq + 1) % PAUSE_EVERY == 0:
                await asyncio.sleep(0)
            self._seen = entry.seq + 1
            match entry.event:
                case RunStarted() as started:
                    self._begin(entry, started, alive=alive)
                    if self.answer is not None:
                        self.answer.skip(skipped)
                case MessageAdded(message=said) if said.role == "user" and self.message and not self.message.said:
                    self.message.show(said, entry.at, self.edits.message(entry.seq))
                case _ if self.answer is not None:
                    await self.answer.take(entry, alive=alive)
                case _:
                    pass
            if isinstance(entry.event, ModelCalled) and entry.event.attachments:
                self._show_sent(entry.event.attachments)
            if isinstance(entry.event, RunFinished):
                self.status = entry.event.status

    def _show_sent(self, sent: Sequence[SentAttachment]) -> None:
        """Say how what was attached to the messages of this turn went along."""
        for message in self.descendants():
            if isinstance(message, UserMessage | SteerMessage):
                message.show_sent(sent)

    async def follow(self, live: Run) -> bool:
        """Show what is new of a run that goes on; true when an entry was."""
        grown = False
        while entries := live.since(self._seen):  # more may come while they are shown, the end among them
            await self.take(entries, alive=live.alive)
            self.status = live.status
            grown = True
        if not self.over and self.answer is not None:
            await self.answer.show_draft(
                live.draft, live.recorder.printed, live.recorder.progress, steered=live.control.steered
            )
        return grown

    async def cut_off(self, draft: Draft, *, paused: bool) -> None:
        """The run has no end, and nobody works on it any more; `draft` is its last live text."""
        self.left = True
        self.status = "paused" if paused else "interrupted"
        if self.answer is not None:
            await self.answer.cut_off(draft, paused=paused)

    def damaged(self, sentences: Sequence[str]) -> None:
        """Say that parts of the run could not be read."""
        words = "Parts of this turn could not be read" if self.answer else "This turn could not be read"
        with self:
            ui.html(tag("div", mark("warning", f"{words}: {' '.join(sentences)}", warn=True)), sanitize=False)

    def _begin(self, entry: Entry, started: RunStarted, *, alive: bool) -> None:
        with self:
            self.message = UserMessage(self._contents)
            self.message.stand(self.run_id, self._beside)
            act = partial(self._on_action, self)
            self.answer = Answer(
                entry, started, self._agent_icon, self._contents, self._live_markdown,
                act=act, edits=self.edits, task_of=self._task_of,
                show_view=self._show_view(entry.run_id, alive) if self._show_view else None,
            )  # fmt: skip


def _is_answer(entry: Entry) -> bool:
    return isinstance(entry.event, MessageAdded) and entry.event.message.role == "assistant"
