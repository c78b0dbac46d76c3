"""A session: the conversation with one agent, live."""

import asyncio
from collections.abc import Callable
from functools import partial

from nicegui import ui

from app.domain.agents import Agent, Behaviour
from app.domain.errors import NotFound, WorkbenchError
from app.domain.messages import Attachment
from app.domain.sessions import Session, switched
from app.domain.trace import files_after
from app.engine.run.live_run import LiveRun
from app.ui.conversation.attachments import Attachments
from app.ui.conversation.composer import SendAs
from app.ui.conversation.composer_bar import ComposerBar
from app.ui.conversation.conversation import Conversation, trace_of
from app.ui.conversation.session_bars import SessionFacts, kpi_strip, session_chips, session_heading, status_line
from app.ui.conversation.turn import Turn
from app.ui.conversation.turn_actions import do_on_turn
from app.ui.elements.addresses import compare_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.model_picker import ModelPicker
from app.ui.elements.new_session import UNTITLED, start_session
from app.ui.elements.notices import told
from app.ui.elements.settled import Settled
from app.ui.elements.setup_offer import setup_strip
from app.ui.elements.variant_select import VariantSelect
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.playground.background_run import run_in_background
from app.ui.playground.queued_messages import QueuedMessages
from app.ui.playground.session_facts import session_facts
from app.ui.playground.side_panel import SidePanel
from app.ui.playground.welcome import welcome
from app.workbench import Workbench

IDLE_SECONDS, LIVE_SECONDS = 0.2, 0.02
"""How often the page looks for something new; the finer one while a run goes on."""
COUNT_SECONDS = 0.8
"""Rest before the next turn is counted, so that counting never meets a message on its way."""
_TOGGLE_SIDE = """(event) => {
  // Wide windows show the panel until somebody hides it, narrow ones hide it until somebody shows it.
  const shown = getComputedStyle(document.querySelector(".session-side")).display !== "none";
  document.body.classList.toggle("side-shown", !shown);
  document.body.classList.toggle("side-hidden", shown);
}"""


async def session_page(workbench: Workbench, live_markdown: LiveMarkdown, session_id: str) -> None:
    """Show the session; raises `NotFound`."""
    session = workbench.sessions.get(session_id)
    if session.deleted_at is not None:
        raise NotFound("This session was deleted. Start a new one from the Playground.")
    await SessionPage(workbench, live_markdown, session).fill()


class SessionPage:
    """Pulls: a timer of the page asks the session's run what is new. The run knows of no page."""

    def __init__(self, workbench: Workbench, live_markdown: LiveMarkdown, session: Session) -> None:
        self._workbench = workbench
        self._session = session
        self._agent: Agent = workbench.agents.get(session.agent_id)
        self._day_cost = 0.0
        self._timer: ui.timer | None = None
        self._updating = asyncio.Lock()
        ui.page_title(f"{session.title or UNTITLED} · Agent Playground")
        with ui.element("div").classes("session") as self._page:
            with ui.element("div").classes("session-main"):
                self._build_head()
                self._kpis = ui.html(sanitize=False).classes("kpi-strip").props("data-testid=kpi-strip")
                self._conversation = Conversation(
                    workbench, live_markdown, agent_icon=self._agent.icon, on_action=self._act
                )
                with self._conversation:
                    self._welcome = welcome(self._agent, self._send_example)
                self._welcome.visible = not session.runs
                setup_strip(workbench.preferences, session.id)
                self._build_composer()
                self._bar = ui.html(sanitize=False).classes("status-bar").props("data-testid=status-bar")
            self._side = SidePanel(workbench, session, on_change=self._session_changed)
        self._counting = Settled(self._side, self._count_context, seconds=COUNT_SECONDS)
        self._show_bars()

    @property
    def _behaviour(self) -> Behaviour:
        return self._agent.variant(self._session.variant).behaviour

    @property
    def _model(self) -> str:
        return self._session.model or self._behaviour.model

    def _build_head(self) -> None:
        with ui.element("div").classes("session-head"):
            with ui.element("div").classes("session-facts"):
                self._heading = ui.html(sanitize=False).classes("session-name")
                self._variant = VariantSelect(self._agent, self._session.variant, self._choose_variant)
                self._picker = ModelPicker(
                    self._workbench.choices, self._model, self._choose_model, reset="Use the variant's model"
                )
                self._chips = ui.html(sanitize=False).classes("session-chips")
            self._stop = button("Stop", self._stop_run, icon="stop", look="danger", testid="stop-button")
            self._stop.visible = False
            again = partial(start_session, self._workbench, self._agent.id)
            new = button("New session", again, icon="add", testid="new-session-button").classes("btn-label")
            new.props('aria-label="New session"')
            icon_button("compare_arrows", "Compare with another variant", self._compare, testid="compare-link")
            side = icon_button("view_sidebar", "Show or hide prompt and settings", testid="side-panel-button")
            side.on("click", js_handler=_TOGGLE_SIDE)

    def _build_composer(self) -> None:
        hint = "Enter sends, Shift-Enter breaks the line."
        if self._model.startswith("demo/"):
            hint += " Scripted demo answers."
        self._composer = ComposerBar(
            key=self._session.id,
            text=self._session.composer,
            placeholder=f"Message {self._agent.name}",
            hint=hint,
            queues=True,
            on_send=self._send,
            on_sent=self._update,
            on_typed=self._keep_typed,
        )
        with self._composer.box:
            self._attachments = Attachments(self._workbench, self._session, self._count_later)
        self._attachments.move(self._composer.box, target_index=0)
        with self._composer.above:
            self._queued = QueuedMessages(self._workbench, self._session.id, on_done=self._update)

    async def fill(self) -> None:
        """Show the latest turns, then follow the session."""
        await self._update()
        await self._show_progress(None)
        self._counting.touch()

    async def _update(self) -> None:
        """Show what is new: turns of this or another tab, entries and live text of the run that goes on."""
        if self._updating.locked():
            return
        # Not in the context of whoever called: a handler's own turn may be among those that go.
        with self._conversation:
            async with self._updating:
                await self._follow()

    async def _follow(self) -> None:
        self._look()
        changed = await self._conversation.show(self._session.runs)
        if changed:
            self._welcome.visible = not self._session.runs
            ui.page_title(f"{self._session.title or UNTITLED} · Agent Playground")
        grown, live = await self._conversation.follow()
        self._queued.show(self._session, status=self._conversation.status, running=self._conversation.running)
        if changed or grown or (live is not None and live.unsaved):
            await self._show_progress(live)

    def _look(self) -> None:
        """Take over what changed of session, agent and working copy, here or in another tab."""
        session = self._workbench.sessions.get(self._session.id)
        agent = self._workbench.agents.get(session.agent_id)
        before, self._session = self._session, session
        if agent is not self._agent or _next_run(session) != _next_run(before):
            self._agent = agent
            self._side.show(session)
            self._show_bars()
            self._counting.touch()
        self._side.look()

    async def _session_changed(self) -> None:
        self._look()

    async def _choose_variant(self, number: int) -> None:
        await self._change(partial(switched, agent=self._agent, number=number))

    async def _choose_model(self, model: str | None) -> None:
        await self._change(lambda newest: newest.model_copy(update={"model": model}))

    async def _change(self, change: Callable[[Session], Session]) -> None:
        try:
            await self._workbench.sessions.change(self._session.id, change)
        except WorkbenchError as problem:
            told(str(problem))
        self._look()

    async def _count_context(self) -> None:
        """Say what the next turn sends, and what stands in its way."""
        self._picker.show(self._model, trouble=await self._workbench.choices.trouble(self._model))
        if not self._conversation.running:
            await self._side.count_context()
            self._composer.cost.text = await self._side.count_message(self._session.composer)
        await self._attachments.describe()

    def _count_later(self) -> None:
        self._counting.touch()

    async def _show_progress(self, live: LiveRun | None) -> None:
        if not self._conversation.running:
            self._day_cost = self._workbench.runs.ledger.day_cost()
            await self._show_files()
            self._counting.touch()
        self._show_bars(live.unsaved if live else None)

    def _show_bars(self, unsaved: str | None = None) -> None:
        running = self._conversation.running
        facts = self._facts()
        self._heading.set_content(session_heading(facts))
        self._chips.set_content(session_chips(facts))
        self._variant.show(self._agent, self._session.variant)
        if self._picker.model != self._model:
            self._picker.show(self._model)
        self._kpis.set_content(kpi_strip(facts))
        waits = facts.status == "paused"
        line = status_line(running=running, waits=waits, version=self._workbench.version, unsaved=unsaved)
        self._bar.set_content(line)
        self._stop.visible = running
        self._composer.show(running=running)
        self._look_every(LIVE_SECONDS if running else IDLE_SECONDS)

    def _look_every(self, seconds: float) -> None:
        """From now on: a timer whose interval is changed would first sleep out its old one."""
        if self._timer is not None and self._timer.interval == seconds:
            return
        if self._timer is not None:
            self._timer.cancel()
        with self._page:
            self._timer = ui.timer(seconds, self._update)

    def _facts(self) -> SessionFacts:
        return session_facts(self._workbench, self._session, self._conversation, day_cost=self._day_cost)

    async def _send(self, text: str, how: SendAs) -> None:
        attached = self._attachments.ready()
        self._counting.cancel()
        try:
            await self._pass_on(text, attached, how)
        except WorkbenchError:
            self._counting.touch()
            raise
        self._attachments.sent(attached)

    async def _pass_on(self, text: str, attached: tuple[Attachment, ...], how: SendAs) -> None:
        """Begin a run, here or in the background; while one goes on, break into it or wait for its end."""
        if how == "background":
            await run_in_background(self._workbench, self._session.id, text, attached)
        elif self._workbench.runs.of_session(self._session.id) is None:
            await self._workbench.chat.send(self._session.id, text, attached)
        elif how == "steer":
            await self._workbench.queue.steer(self._session.id, text, attached)
        else:
            await self._workbench.queue.add(self._session.id, text, attached)

    async def _send_example(self, text: str) -> None:
        if await self._composer.submit(text, len(text)):
            await self._update()

    async def _keep_typed(self, text: str) -> None:
        with_text = partial(Session.model_copy, update={"composer": text})
        self._session = await self._workbench.sessions.change(self._session.id, with_text)
        self._composer.cost.text = await self._side.count_message(text)

    async def _act(self, turn: Turn, action: str, value: str) -> None:
        try:
            await self._do(turn, action, value)
        except WorkbenchError as problem:
            told(str(problem))

    async def _do(self, turn: Turn, action: str, value: str) -> None:
        match action:
            case "regenerate" | "retry":
                await self._workbench.chat.regenerate(self._session.id, turn.run_id)
                await self._update()
            case "edit" if turn.message is not None:
                turn.message.edit(partial(self._send_edited, turn))
            case "pick-model":
                await self._picker.open()
            case _:
                await do_on_turn(self._workbench, turn, action, value)

    async def _send_edited(self, turn: Turn, text: str) -> None:
        try:
            await self._workbench.chat.edit(self._session.id, turn.run_id, text)
        except WorkbenchError as problem:
            told(str(problem))
        await self._update()

    def _compare(self) -> None:
        ui.navigate.to(compare_address(self._agent.slug, self._session.variant))

    def _stop_run(self) -> None:
        if self._conversation.running:
            self._workbench.runs.stop(self._conversation.turns[-1].run_id)

    async def _show_files(self) -> None:
        turns = self._conversation.turns
        if turns:
            trace = await trace_of(self._workbench, turns[-1].run_id)
            await self._side.show_files(files_after(trace.entries))


def _next_run(session: Session) -> object:
    """What of a session decides how its next run goes."""
    return session.variant, session.model, session.variables, session.tools_off, session.tools_allowed
