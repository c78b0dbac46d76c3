"""A session: the conversation with one agent, live."""

import asyncio
from collections.abc import Callable
from functools import partial

from nicegui import ui

from app.domain.agents import Agent, Behaviour
from app.domain.errors import NotFound, TooLarge, WorkbenchError
from app.domain.sessions import Session, switched
from app.domain.trace import files_after
from app.domain.values import now
from app.engine.chat import LONGEST_MESSAGE
from app.engine.runs import LiveRun, local_midnight
from app.llm.choices import model_trouble
from app.ui.addresses import compare_address
from app.ui.components.attachments import Attachments
from app.ui.components.buttons import button, icon_button
from app.ui.components.composer import Composer
from app.ui.components.conversation import Conversation
from app.ui.components.figures import Figures, ceiling
from app.ui.components.model_picker import ModelPicker
from app.ui.components.notices import told
from app.ui.components.pause_card import resolve_pause
from app.ui.components.session_bars import SessionFacts, kpi_strip, session_chips, session_heading, status_line
from app.ui.components.settled import Settled
from app.ui.components.side_panel import SidePanel
from app.ui.components.turn import Turn
from app.ui.components.variant_select import VariantSelect
from app.ui.components.welcome import welcome
from app.ui.live_markdown import LiveMarkdown
from app.ui.pages.landing import UNTITLED, start_session
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
                    self._workbench.catalog, self._model, self._choose_model, reset="Use the variant's model"
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
        with ui.element("div").classes("composer-dock"):
            with ui.element("div").classes("composer"):
                self._attachments = Attachments(self._workbench, self._session, self._count_later)
                self._composer = Composer(
                    session_id=self._session.id,
                    text=self._session.composer,
                    placeholder=f"Message {self._agent.name}",
                    on_send=self._send,
                    on_typed=self._keep_typed,
                )
                self._send_button = icon_button("arrow_upward", "Send", look="primary", testid="send-button")
                self._send_button.classes("send-button").on("click", js_handler=self._composer.send())
            self._note = ui.label().classes("composer-note").props("role=alert data-testid=composer-note")
            self._note.visible = False
            hint = "Enter sends, Shift-Enter breaks the line."
            if self._model.startswith("demo/"):
                hint += " The demo's answers are scripted."
            with ui.element("div").classes("composer-foot"):
                ui.label(hint).classes("composer-hint")
                self._next_turn = ui.label().classes("composer-cost").props("data-testid=composer-cost")

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
        self._picker.show(self._model, trouble=await model_trouble(self._workbench.catalog, self._model))
        if not self._conversation.running:
            await self._side.count_context()
            self._next_turn.text = await self._side.count_message(self._session.composer)
        await self._attachments.describe()

    def _count_later(self) -> None:
        self._counting.touch()

    async def _show_progress(self, live: LiveRun | None) -> None:
        if not self._conversation.running:
            self._day_cost = self._workbench.rows.cost_since(local_midnight(now()))
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
        self._bar.set_content(status_line(streaming=running, version=self._workbench.version, unsaved=unsaved))
        self._stop.visible = running
        self._send_button.set_enabled(not running)
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
        turns = self._conversation.turns
        rows = (self._workbench.rows.get(run_id) for run_id in self._conversation.hidden)
        earlier = [Figures.of_row(row) for row in rows if row is not None]
        run_cost = turns[-1].figures.cost if turns else 0.0
        return SessionFacts(
            agent=self._agent.name,
            icon=self._agent.icon,
            status=turns[-1].status if turns else None,
            turns=[*earlier, *(turn.figures for turn in turns)],
            ceiling=ceiling(self._behaviour.limits, run_cost=run_cost, day_cost=self._day_cost),
        )

    async def _send(self, text: str, length: int) -> None:
        try:
            if length > len(text):
                raise TooLarge(
                    f"The message has {length:,} characters; {LONGEST_MESSAGE:,} is the most. "
                    "Shorten it, or send it in several messages."
                )
            attached = self._attachments.ready()
            self._counting.cancel()
            await self._workbench.chat.send(self._session.id, text, attached)
        except WorkbenchError as problem:
            self._counting.touch()
            self._say(str(problem))
            return
        self._say("")
        self._composer.sent(text)
        self._attachments.sent(attached)
        await self._update()

    async def _send_example(self, text: str) -> None:
        await self._send(text, len(text))

    async def _keep_typed(self, text: str) -> None:
        try:
            change = partial(_with_composer, text=text)
            self._session = await self._workbench.sessions.change(self._session.id, change)
            self._next_turn.text = await self._side.count_message(text)
        except WorkbenchError as problem:
            self._say(str(problem))

    def _say(self, words: str) -> None:
        """Say under the composer why a message was not sent; empty words take that back."""
        self._note.text = words
        self._note.visible = bool(words)

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
            case "copy-request" if turn.message is not None:
                ui.clipboard.write(turn.message.text)
                ui.notify("Copied", timeout=1500)
            case "copy-answer" if turn.answer is not None:
                ui.clipboard.write(turn.answer.text)
                ui.notify("Copied", timeout=1500)
            case "approve" | "deny":
                if (live := self._workbench.runs.live(turn.run_id)) is not None:
                    resolve_pause(live, action, value)
            case _:
                pass

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
            trace = await self._workbench.runs.trace(turns[-1].run_id)
            await self._side.show_files(files_after(trace.entries))


def _next_run(session: Session) -> object:
    """What of a session decides how its next run goes."""
    return session.variant, session.model, session.variables, session.tools_off


def _with_composer(session: Session, text: str) -> Session:
    return session.model_copy(update={"composer": text})
