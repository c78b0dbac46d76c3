"""A session: the conversation with one agent, live."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui

from app.domain.agents import Agent
from app.domain.errors import NotFound
from app.domain.sessions import Session
from app.domain.trace import files_after
from app.engine.run.live_run import LiveRun
from app.ui.conversation.conversation import Conversation, trace_of
from app.ui.conversation.session_bars import kpi_strip, status_line
from app.ui.conversation.turn import Turn
from app.ui.conversation.turn_actions import do_on_turn
from app.ui.elements.clicks import on_click_of
from app.ui.elements.debounce import Debounce
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.new_session import UNTITLED
from app.ui.elements.notices import problems_shown
from app.ui.elements.setup_offer import setup_strip
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.playground.session_composer import SessionComposer
from app.ui.playground.session_head import SessionHead, session_facts
from app.ui.playground.side_panel import SidePanel
from app.workbench import Workbench

IDLE_SECONDS, LIVE_SECONDS = 0.2, 0.02
"""How often the page looks for something new; the finer one while a run goes on."""
COUNT_SECONDS = 0.8
"""Rest before the next turn is counted, so that counting never meets a message on its way."""


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
                self._head = SessionHead(workbench, session, on_change=self._look, on_stop=self._stop_run)
                self._kpis = ui.html(sanitize=False).classes("kpi-strip").props("data-testid=kpi-strip")
                new_turn = partial(
                    Turn,
                    agent_icon=self._agent.icon,
                    contents=workbench.contents,
                    live_markdown=live_markdown,
                    on_action=self._act,
                )
                self._conversation = Conversation(workbench, new_turn)
                with self._conversation:
                    self._welcome = welcome(self._agent, self._send_example)
                self._welcome.visible = not session.runs
                setup_strip(workbench.preferences, session.id)
                self._counting = Debounce(self._page, self._count_context, seconds=COUNT_SECONDS)
                self._composer = SessionComposer(
                    workbench,
                    session,
                    model=self._head.model,
                    counting=self._counting,
                    on_sent=self._update,
                    on_typed=self._keep_typed,
                )
                self._bar = ui.html(sanitize=False).classes("status-bar").props("data-testid=status-bar")
            self._side = SidePanel(workbench, session, on_change=self._session_changed)
        self._show_bars()

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
        self._composer.queued.show(self._session, status=self._conversation.status, running=self._conversation.running)
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

    async def _count_context(self) -> None:
        """Say what the next turn sends, and what stands in its way."""
        await self._head.show_trouble()
        if not self._conversation.running:
            await self._side.count_context()
            self._composer.cost.text = await self._side.count_message(self._session.composer)
        await self._composer.attachments.describe()

    async def _show_progress(self, live: LiveRun | None) -> None:
        if not self._conversation.running:
            self._day_cost = self._workbench.runs.ledger.day_cost()
            await self._show_files()
            self._counting.touch()
        self._show_bars(live.unsaved if live else None)

    def _show_bars(self, unsaved: str | None = None) -> None:
        running = self._conversation.running
        facts = session_facts(self._workbench, self._session, self._conversation, day_cost=self._day_cost)
        self._head.show(self._session, facts, running=running)
        self._kpis.set_content(kpi_strip(facts))
        waits = facts.status == "paused"
        line = status_line(running=running, waits=waits, version=self._workbench.version, unsaved=unsaved)
        self._bar.set_content(line)
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

    async def _send_example(self, text: str) -> None:
        if await self._composer.submit(text, len(text)):
            await self._update()

    async def _keep_typed(self, text: str) -> None:
        with_text = partial(Session.model_copy, update={"composer": text})
        self._session = await self._workbench.sessions.change(self._session.id, with_text)
        self._composer.cost.text = await self._side.count_message(text)

    async def _act(self, turn: Turn, action: str, value: str) -> None:
        with problems_shown():
            await self._do(turn, action, value)

    async def _do(self, turn: Turn, action: str, value: str) -> None:
        match action:
            case "regenerate" | "retry":
                await self._workbench.chat.regenerate(self._session.id, turn.run_id)
                await self._update()
            case "edit" if turn.message is not None:
                turn.message.edit(partial(self._send_edited, turn))
            case "pick-model":
                await self._head.pick_model()
            case _:
                await do_on_turn(self._workbench, turn, action, value)

    async def _send_edited(self, turn: Turn, text: str) -> None:
        with problems_shown():
            await self._workbench.chat.edit(self._session.id, turn.run_id, text)
        await self._update()

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
