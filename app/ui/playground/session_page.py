"""A session: the conversation with one agent, live."""

import asyncio
from functools import partial
from time import monotonic

from nicegui import PageArguments, ui

from app.domain.agents import Agent
from app.domain.errors import NotFound
from app.domain.sessions import Session
from app.domain.trace import files_after
from app.engine.run.run import Run
from app.ui.apps.contexts import AppContexts
from app.ui.apps.showing import views_of
from app.ui.conversation.conversation import Conversation, trace_of
from app.ui.conversation.pause_card import DECIDE
from app.ui.conversation.session_bars import kpi_strip, status_line
from app.ui.conversation.task_line import task_state
from app.ui.conversation.turn import Turn
from app.ui.conversation.turn_actions import do_on_turn
from app.ui.conversation.user_message import BRANCH
from app.ui.elements.addresses import deleted_session_address, editor_address, session_address
from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import refocus
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.new_session import UNTITLED
from app.ui.elements.notices import problems_shown
from app.ui.elements.pager import address_with, say_address
from app.ui.elements.setup_offer import setup_strip
from app.ui.elements.undo_bar import UndoBar
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.playground.beginnings import Ideas, welcome
from app.ui.playground.chat_list import ChatList
from app.ui.playground.debounce import Debounce
from app.ui.playground.input_offer import InputOffer
from app.ui.playground.session_composer import SessionComposer, hint_of
from app.ui.playground.session_head import SessionHead, session_facts
from app.ui.playground.session_menu import SessionMenu
from app.ui.playground.session_title import SessionTitle
from app.ui.playground.side_panel import SidePanel
from app.workbench import Workbench

IDLE_SECONDS, LIVE_SECONDS = 0.2, 0.02
"""How often the page looks for something new; the finer one while a run goes on."""
FIRST_SECONDS, FIRST_WORDS_SECONDS = 0.005, 0.5
"""How often it looks for the first words of an answer, and how long so: a model that is quick is seen to be."""
COUNT_SECONDS = 0.8
"""Rest before the next turn is counted, so that counting never meets a message on its way."""


async def session_page(
    workbench: Workbench, live_markdown: LiveMarkdown, session_id: str, arguments: PageArguments
) -> None:
    """Show the session; raises `NotFound`. Its address may say `run`, the branch to stand on, and `find`, the words.

    What is tried is talked to in the editor: there its prompt is at hand.
    """
    session = workbench.sessions.get(session_id)
    if session.deleted_at is not None:
        raise NotFound("This session was deleted. Start a new one from the Playground.")
    if session.tried is not None and not session.parent:
        await asyncio.sleep(0)  # NiceGUI has the browser show the address that was clicked only now
        address = editor_address(workbench.agents.get(session.agent_id))
        ui.navigate.history.replace(address)  # a step back would else come here, and be led on again
        ui.navigate.to(address)
        return
    run_id, find = (arguments.query_parameters.get(name, "") for name in ("run", "find"))
    page = SessionPage(workbench, live_markdown, session, find=find)
    await page.fill(run_id)
    if run_id:  # a reload shows the branch that one stands on by then
        await asyncio.sleep(0)  # NiceGUI has the browser show the address that was clicked only now
        say_address(arguments.frame, address_with(session_address(session_id), {"find": find}))


class SessionPage:
    """Pulls: a timer of the page asks the session's run what is new. The run knows of no page."""

    def __init__(self, workbench: Workbench, live_markdown: LiveMarkdown, session: Session, *, find: str) -> None:
        self._workbench = workbench
        self._session = session
        self._agent: Agent = workbench.agents.get(session.agent_id)
        self._busy = False
        self._day_cost = self._month_cost = self._in_all = 0.0
        self._look_seconds, self._looked_at, self._sent_at = IDLE_SECONDS, 0.0, 0.0
        ui.page_title(f"{session.title or UNTITLED} · Agent Playground")
        self._menu = SessionMenu(workbench, UndoBar(), self._changed)
        with ui.element("div").classes("session") as self._page:
            self._chats = ChatList(workbench, session.id, self._menu, find=find)
            with ui.element("div").classes("session-main"):
                self._head = SessionHead(workbench, session, on_change=self._look)
                with self._head:
                    self._title = SessionTitle(session, self._menu, toggle=self._chats.toggle)
                self._title.move(target_index=0)
                self._kpis = ui.html(sanitize=False).classes("kpi-strip developer-only").props("data-testid=kpi-strip")
                self._build_conversation(live_markdown)
                setup_strip(workbench.preferences, session.id)
                self._counting = Debounce(self._page, self._count_context, seconds=COUNT_SECONDS)
                self._composer = SessionComposer(
                    workbench,
                    session,
                    model=self._head.model,
                    counting=self._counting,
                    on_sent=self._sent,
                    on_typed=self._keep_typed,
                    on_stop=self._stop_run,
                )
                with self._composer.above:
                    self._contexts = AppContexts(workbench, session.id)
                    self._input = InputOffer(workbench, self._send_text)
                self._bar = ui.html(sanitize=False).classes("status-bar").props("data-testid=status-bar")
            self._side = SidePanel(workbench, session, on_change=self._look, on_built=self._panel_built)
            self._timer = ui.timer(LIVE_SECONDS, self._tick)
        self._contexts.show(session)
        self._input.show(session)
        self._show_bars()

    def _build_conversation(self, live_markdown: LiveMarkdown) -> None:
        new_turn = partial(
            Turn,
            agent_icon=self._agent.icon,
            contents=self._workbench.contents,
            live_markdown=live_markdown,
            on_action=self._act,
            task_of=partial(task_state, self._workbench),
            show_view=partial(views_of, self._workbench, self._draft),
        )
        self._conversation = Conversation(self._workbench, new_turn)
        with self._conversation:
            self._welcome = welcome(self._agent, self._send_text)
            self._ideas = Ideas(self._send_text)
        self._welcome.visible = not self._session.runs
        elsewhere = ui.html(sanitize=False).classes("elsewhere")
        self._elsewhere = on_click_of(elsewhere, BRANCH, self._stand_on)

    async def _draft(self, text: str) -> str:
        """An app wrote a message: nobody but the person sends it."""
        return await self._composer.composer.draft(text)

    async def fill(self, run_id: str = "") -> None:
        """Show the latest turns, or those from that run on, on its branch; then follow the session."""
        if run_id:
            await self._show_found(run_id)
        else:
            await self._update()
        if not self._session.runs:
            await self._show_progress(None)
        self._counting.touch()

    async def _show_found(self, run_id: str) -> None:
        if run_id not in self._session.runs:
            with problems_shown():
                await self._workbench.chat.stand_on(self._session.id, run_id)

        async def bring() -> None:
            await self._follow()
            await self._conversation.bring(run_id)

        await self._conversation.update_by(bring, always=True)  # the page's timer may be showing another branch

    def _changed(self) -> None:
        """Something was done with this session or another one as a whole."""
        self._leave_deleted()
        self._chats.look_soon()

    def _leave_deleted(self) -> bool:
        """Go where a session can be brought back that was deleted, here or in another tab; whether it was."""
        session = self._workbench.sessions.get(self._session.id)
        if session.deleted_at is None:
            return False
        if self._timer.active:  # once: the way there takes a moment
            self._timer.deactivate()
            ui.navigate.to(deleted_session_address(session.id))
        return True

    async def _update(self) -> None:
        """Show what is new: turns of this or another tab, entries and live text of the run that goes on."""
        await self._conversation.update_by(self._follow)

    async def _tick(self) -> None:
        """One timer at the finer pace: another one in its place, each time a run begins, would cost a drawing."""
        if monotonic() - self._looked_at >= self._look_seconds:
            self._looked_at = monotonic()
            await self._update()
        if monotonic() - self._sent_at > FIRST_WORDS_SECONDS:
            self._timer.interval = LIVE_SECONDS

    async def _follow(self) -> None:
        if self._leave_deleted():
            return
        self._look()
        changed = await self._conversation.show_session(self._session)
        if changed:
            self._welcome.visible = not self._session.runs
        grown, live = await self._conversation.follow()
        if live is not None:
            await self._side.follow(live.run_id, live.entries)
        busy = self._workbench.runs.of_session(self._session.id) is not None
        self._composer.queued.show(self._session, status=self._conversation.status, running=busy)
        if changed or grown or busy is not self._busy or (live is not None and live.unsaved):
            self._busy = busy
            await self._show_progress(live)

    async def _sent(self) -> None:
        """Who says something wants to see the answer to it."""
        self._conversation.to_latest()
        self._sent_at, self._timer.interval = monotonic(), FIRST_SECONDS
        await self._update()

    def _look(self) -> None:
        """Take over what changed of session, agent and working copy, here or in another tab."""
        session = self._workbench.sessions.get(self._session.id)
        agent = self._workbench.agents.get(session.agent_id)
        before, self._session = self._session, session
        if session.app_contexts != before.app_contexts:
            self._contexts.show(session)
        if session.title != before.title:
            self._title.show(session)
            ui.page_title(f"{session.title or UNTITLED} · Agent Playground")
        if agent is not self._agent or _next_run(session) != _next_run(before):
            self._agent = agent
            self._side.show(session)
            self._input.show(session)
            self._show_bars()
            self._counting.touch()
        self._side.look()

    async def _count_context(self) -> None:
        """Say what the next turn sends, and what stands in its way."""
        await self._head.show_trouble()
        if not self._conversation.running:
            await self._side.count_context()
            self._composer.cost.text = await self._side.count_message(self._session.composer)
        await self._composer.attachments.describe()

    async def _show_progress(self, live: Run | None) -> None:
        if not self._conversation.running:
            ledger = self._workbench.runs.ledger
            self._day_cost, self._in_all = ledger.day_cost(), ledger.session_cost(self._session.id)
            self._month_cost = ledger.month_cost() if ledger.month_ceiling() else 0.0
            await self._show_files()
            self._counting.touch()
        self._show_bars(live.unsaved if live else None)

    def _show_bars(self, unsaved: str | None = None) -> None:
        live = self._workbench.runs.of_session(self._session.id)
        self._elsewhere.set_content(answer_elsewhere(live.run_id if live and not self._conversation.running else ""))
        running = self._conversation.running or live is not None
        costs = {"day_cost": self._day_cost, "month_cost": self._month_cost, "in_all": self._in_all}
        facts = session_facts(self._workbench, self._session, self._conversation, **costs)
        self._head.show(self._session, facts)
        self._kpis.set_content(kpi_strip(facts))
        self._ideas.show(self._conversation.turns[-1] if self._conversation.turns else None)
        waits = facts.status == "paused"
        line = status_line(
            running=running,
            waits=waits,
            version=self._workbench.version,
            unsaved=unsaved,
            spans_to=self._workbench.collector.place,
        )
        self._bar.set_content(line)
        self._composer.show(running=running, hint=hint_of(self._head.model))
        self._look_seconds = 0.0 if running else IDLE_SECONDS

    async def _send_text(self, text: str) -> None:
        if await self._composer.composer.submit(text, len(text)):
            await self._sent()

    async def _keep_typed(self, text: str) -> None:
        with_text = partial(Session.model_copy, update={"composer": text})
        await self._workbench.sessions.change(self._session.id, with_text)
        self._session = with_text(self._session)  # what else is new in it was not looked at yet
        self._composer.cost.text = await self._side.count_message(text)

    async def _act(self, turn: Turn, action: str, value: str) -> None:
        with problems_shown():
            match action:
                case "regenerate" | "retry":
                    await self._workbench.chat.regenerate(self._session.id, turn.run_id)
                    await self._sent()
                case "branch":
                    await self._stand_on(value)
                case "edit" if turn.message is not None:
                    turn.message.edit(partial(self._send_edited, turn))
                case "pick-model":
                    await self._head.pick_model()
                case _:
                    await do_on_turn(self._workbench, turn, action, value)
                    if action == DECIDE:
                        self._composer.composer.focus()

    async def _stand_on(self, run_id: str) -> None:
        """Show the branch through that run; eye and focus stay at the message where it begins."""
        await self._workbench.chat.stand_on(self._session.id, run_id)
        self._conversation.stay()
        await self._conversation.update_by(self._follow, always=True)  # the page's timer may have looked before
        turn = next((turn for turn in self._conversation.turns if turn.run_id == run_id), None)
        if turn is not None:
            refocus(turn, ".branches [data-action]")

    async def _send_edited(self, turn: Turn, text: str) -> None:
        with problems_shown():
            await self._workbench.chat.edit(self._session.id, turn.run_id, text)
        await self._sent()

    def _stop_run(self) -> None:
        if (live := self._workbench.runs.of_session(self._session.id)) is not None:
            self._workbench.runs.stop(live.run_id)

    async def _panel_built(self) -> None:
        """It may come after all that was to be shown in it was asked for."""
        self._counting.touch()
        await self._show_files()

    async def _show_files(self) -> None:
        turns = self._conversation.turns
        if turns and self._side.built:
            trace = await trace_of(self._workbench, turns[-1].run_id)
            await self._side.follow(turns[-1].run_id, trace.entries)
            await self._side.show_files(files_after(trace.entries))


def _next_run(session: Session) -> object:
    """What of a session decides how its next run goes."""
    return session.variant, session.model, session.variables, session.tools_off, session.tools_allowed


def answer_elsewhere(run_id: str) -> Html:
    """That the session answers on another branch than one looks at, and the way there; nothing where it does not."""
    if not run_id:
        return Html("")
    show = tag("button", "Show it", type="button", cls="link-button", data_branch=run_id)
    words = tag("span", "An answer is being written on another branch.")
    return tag("div", icon("call_split"), words, show, cls="setup-strip", data_testid="answer-elsewhere", role="status")
