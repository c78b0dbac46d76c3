"""What an agent answered in one run: text, tool calls, questions, and how it ended."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from nicegui import ui

from app.domain.errors import ErrorInfo
from app.domain.events import (
    ChildFinished,
    ContextTrimmed,
    Entry,
    Forked,
    MessageAdded,
    PauseRequested,
    PauseResolved,
    RunFinished,
    RunResumed,
    RunStarted,
)
from app.domain.messages import Message
from app.domain.streaming import Draft
from app.domain.tools import Progress, ToolSpec
from app.domain.trace import NONE_EDITED, Edits
from app.store.contents.contents import Contents
from app.ui.conversation.answer_frame import answer_actions, answer_heading, output_check
from app.ui.conversation.call_cards import CallCards, ShowView
from app.ui.conversation.edited_mark import edited_mark
from app.ui.conversation.failures import FailedAttempts, error_card, interrupted_card, mark
from app.ui.conversation.figures import Figures
from app.ui.conversation.pause_card import Act, PauseCard
from app.ui.conversation.phase import Phase, PhaseLine
from app.ui.conversation.reasoning import Reasoning
from app.ui.conversation.task_line import TaskOf, no_task
from app.ui.conversation.trace_marks import trimmed_words
from app.ui.conversation.user_message import SteerMessage
from app.ui.elements.addresses import run_address
from app.ui.elements.format import dollars, duration, plural, tokens
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import visible
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.markdown.markdown import Markdown

SHOWN_STEPS = 40
"""Messages of the model that an answer shows; of a longer run the run's own page shows all."""


@dataclass(slots=True)
class _Step:
    """What one message of the model put on the page."""

    elements: list[ui.element] = field(default_factory=list)
    calls: tuple[str, ...] = ()


class Answer(ui.element):
    """One `assistant-message`. `take` its run's entries in order; between them show the draft."""

    def __init__(
        self,
        started: Entry,
        run: RunStarted,
        agent_icon: str,
        contents: Contents,
        live_markdown: LiveMarkdown,
        *,
        act: Act,
        edits: Edits = NONE_EDITED,
        task_of: TaskOf = no_task,
        show_view: ShowView | None = None,
    ) -> None:
        """`act` does what the buttons of a pause say; `edits` are what a person edited of the run."""
        super().__init__("div")
        self.classes("assistant-message").props("data-testid=assistant-message")
        self.figures = Figures()
        """Of a workflow with what the runs of its nodes used, once these have ended."""
        self._used_below = task_of if run.workflow else no_task
        self.text = ""
        """All that was said, for copying."""
        self._run, self._run_id = run, started.run_id
        self._began = started.at
        self._contents = contents
        self._live_markdown = live_markdown
        self._specs: Mapping[str, ToolSpec] = {tool.spec.name: tool.spec for tool in run.tools}
        self._act = act
        self._edits = edits
        self._pauses: dict[str, PauseCard] = {}
        self._last_words = ""
        self._answers = 0
        self._to_skip = 0
        self._steps: deque[_Step] = deque()
        self._streaming: Markdown | None = None
        self._reasoning: Reasoning | None = None
        self._phase = Phase(started.at, {name: spec.title for name, spec in self._specs.items()})
        self._phase.take(started)
        with self:
            ui.html(answer_heading(started, run, agent_icon), sanitize=False).classes("assistant-head")
            self._build(task_of, show_view)

    def _build(self, task_of: TaskOf, show_view: ShowView | None) -> None:
        self._body = ui.element("div").classes("answer").props("data-testid=message-streaming")
        self._cards = CallCards(self._body, self._specs, self._contents, task_of=task_of, show_view=show_view)
        self._cards.edits = self._edits
        self._attempts = FailedAttempts(self._body)
        self._skipped = SkippedSteps(self._body, self._run_id)
        if (prompt := self._edits.prompt()) is not None:
            self._note(edited_mark(prompt, about="System prompt: "))
        self._line: PhaseLine | None = PhaseLine()
        self._line.show(self._phase.words(Draft()), self._phase.since)

    async def take(self, entry: Entry, *, alive: bool) -> None:
        """Show one more entry."""
        self._count(entry)
        self._phase.take(entry)
        self._attempts.take(entry, alive=alive)
        call = self._cards.take(entry)
        match entry.event:
            case MessageAdded(message=message) if message.role == "assistant":
                await self._add_message(message, edited_mark(self._edits.message(entry.seq)))
            case MessageAdded(message=message, origin="steer"):
                with self._body:
                    edited = edited_mark(self._edits.message(entry.seq))
                    SteerMessage(message, entry.at, self._contents, edited)
            case MessageAdded(message=message, origin="app"):
                said = joined(icon("widgets"), tag("span", visible(message.text), cls="pre-line"))
                self._note(tag("div", said, cls="mark", data_testid="app-said"))
            case PauseRequested() as pause:
                with self._body:
                    spec = self._specs.get(pause.name)
                    self._pauses[pause.pause_id] = PauseCard(pause, spec, alive=alive, act=self._act)
            case PauseResolved() as resolved if resolved.pause_id in self._pauses:
                self._pauses[resolved.pause_id].decided(resolved)
            case ContextTrimmed() as trimmed:
                note = mark("content_cut", trimmed_words(trimmed), warn=True)
                self._note(tag("div", note, data_testid="context-trimmed"))
            case RunResumed(notes=notes):
                words = " ".join(("Went on after the app was closed.", *notes))
                self._note(tag("div", mark("play_circle", words, warn=bool(notes)), data_testid="run-resumed"))
            case RunFinished(status=status, error=error):
                if status == "completed" and self._run.output_schema is not None:
                    self._note(await output_check(self._run.output_schema, self._last_words))
                self._end(error, stopped=status == "cancelled", ended=entry)
            case Forked():  # what was before it took place in another run
                self._began = entry.at
            case _ if call is not None:
                await self._cards.show(call)
            case _:
                pass

    async def show_draft(
        self,
        draft: Draft,
        printed: Mapping[str, str],
        progress: Mapping[str, Progress],
        *,
        steered: bool = False,
    ) -> None:
        """Show the message that is being written, and what running tools have printed and how far they are.

        `steered`: a message waits for them to break in.
        """
        if draft.reasoning:
            live = self._live_markdown.text(self._run_id, self._answers, reasoning=True)
            await self._thoughts().follow(draft.reasoning, live)
        if draft.text:
            await self._stream(draft.text)
        self._cards.show_live(printed, progress)
        if self._line is not None:
            self._line.show(self._phase.words(draft, steered=steered), self._phase.since)

    async def cut_off(self, draft: Draft, *, paused: bool) -> None:
        """The process ended under the run: show its last live text and a way on."""
        if draft.reasoning:
            self._thoughts().add(draft.reasoning)
        if draft.text:
            await self._say(draft.text)
        self._stop_streaming()
        if not paused:
            await self._cards.leave()
            self._note(interrupted_card())
        self._finish(Html(""))

    async def _stream(self, text: str) -> None:
        if self._streaming is None:
            with self._body:
                self._streaming = Markdown()
        live = self._live_markdown.text(self._run_id, self._answers, json=self._run.output_schema is not None)
        await live.take(text)
        if self._streaming is not None:
            self._streaming.follow(live)

    def skip(self, count: int) -> None:
        """Do not show the next `count` messages of the model."""
        self._to_skip = count

    async def _add_message(self, message: Message, edited: Html) -> None:
        number, self._answers = self._answers, self._answers + 1
        self._last_words = message.text
        if message.reasoning:
            self._thoughts().add(message.reasoning)
        if self._to_skip > 0:
            self._to_skip -= 1
            self._skipped.count_one()
            return
        step = _Step(calls=tuple(call.call_id for call in message.tool_calls))
        if said := await self._show_text(message.text, number):
            step.elements.append(said)
        if edited:
            step.elements.append(self._note(edited))
        step.elements += self._cards.add(message)
        self._steps.append(step)
        if len(self._steps) > SHOWN_STEPS:
            self._drop(self._steps.popleft())

    async def _show_text(self, text: str, number: int) -> Markdown | None:
        """The finished text in place of the live one, if there is any."""
        streaming, self._streaming = self._streaming, None
        if streaming is None:
            return await self._say(text) if text.strip() else None
        if not text.strip():
            streaming.delete()
            return None
        json = self._run.output_schema is not None
        streaming.replace(await self._live_markdown.finished(self._run_id, number, text, json=json))
        self._remember(text)
        return streaming

    async def _say(self, text: str) -> Markdown:
        html = await self._live_markdown.drawn(text, json=self._run.output_schema is not None)
        self._remember(text)
        with self._body:
            return Markdown(html=html)

    def _drop(self, step: _Step) -> None:
        for element in step.elements:
            element.delete()
        self._cards.forget(step.calls)
        self._skipped.count_one()

    def _remember(self, text: str) -> None:
        self.text = f"{self.text}\n\n{text}".strip()

    def _thoughts(self) -> Reasoning:
        if self._reasoning is None:
            with self:
                self._reasoning = Reasoning()
            self._reasoning.move(self, target_index=1)
        return self._reasoning

    def _note(self, content: Html) -> ui.html:
        with self._body:
            return ui.html(content, sanitize=False)

    def _end(self, error: ErrorInfo | None, *, stopped: bool, ended: Entry) -> None:
        self._stop_streaming()
        for pause in self._pauses.values():
            pause.close()
        if error is not None:
            self._note(error_card(error, agent_slug=self._run.agent.slug))
        elif stopped:
            self._note(tag("div", mark("stop_circle", "Stopped."), data_testid="message-stopped"))
        took = duration((ended.at - self._began).total_seconds() * 1000)
        self._finish(tag("span", took, cls="facts"))

    def _count(self, entry: Entry) -> None:
        self.figures.take(entry)
        if isinstance(entry.event, ChildFinished) and (state := self._used_below(entry.event.child_run_id)):
            self.figures.add(state)

    def _stop_streaming(self) -> None:
        self._streaming = None
        self._body.props(remove="data-testid")
        if self._line is not None:
            self._line.delete()
            self._line = None

    def _finish(self, took: Html) -> None:
        figures = self.figures
        with self:
            used = joined(
                took,
                tag("span", tokens(figures.tokens), cls="facts developer-only"),
                tag("span", dollars(figures.cost, unpriced=figures.unpriced), cls="facts"),
            )
            actions = answer_actions(self._run_id, has_text=bool(self.text))
            ui.html(joined(actions, used), sanitize=False).classes("message-actions")


class SkippedSteps:
    """Stands first in `place`, once there is one."""

    def __init__(self, place: ui.element, run_id: str) -> None:
        self._place = place
        self._run_id = run_id
        self._count = 0
        self._note: ui.html | None = None

    def count_one(self) -> None:
        self._count += 1
        if self._note is None:
            with self._place:
                self._note = ui.html(sanitize=False).classes("mark")
            self._note.move(self._place, target_index=0)
        link = tag("a", "See the whole run", href=run_address(self._run_id))
        self._note.set_content(joined(f"{plural(self._count, 'earlier step')} not shown here. ", link))
