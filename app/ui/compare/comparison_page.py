"""A comparison: its columns answer the same message side by side, live."""

from functools import partial

from nicegui import ui

from app.domain.agents import Agent, Behaviour, model_of, with_variant
from app.domain.comparisons import LETTERS, ComparedTurn, Comparison
from app.domain.errors import Conflict, NotFound
from app.domain.sessions import Session
from app.ui.apps.showing import views_of
from app.ui.compare.board import Board
from app.ui.compare.column import TIE, CompareColumn, rounds, tally, votes
from app.ui.compare.compare_page import UNTITLED
from app.ui.compare.differing import ColumnDifferences
from app.ui.compare.words import ColumnFacts, column_head
from app.ui.conversation.attachments import Attachments
from app.ui.conversation.composer import SendAs
from app.ui.conversation.composer_bar import ComposerBar
from app.ui.conversation.session_bars import status_line
from app.ui.conversation.task_line import task_state
from app.ui.conversation.turn import Turn
from app.ui.conversation.turn_actions import do_on_turn
from app.ui.elements.addresses import COMPARE, session_address
from app.ui.elements.buttons import button
from app.ui.elements.clicks import one_at_a_time
from app.ui.elements.gate_dialog import past_the_gate, undo_promotion
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.undo_bar import DeletedNotice, UndoBar
from app.ui.markdown.live_markdown import LiveMarkdown
from app.workbench import Workbench

IDLE_SECONDS, LIVE_SECONDS = 0.2, 0.05
"""How often the page looks for something new; the finer one while a column answers."""


async def comparison_page(workbench: Workbench, live_markdown: LiveMarkdown, comparison_id: str) -> None:
    """Show the comparison; raises `NotFound`."""
    comparison = workbench.comparisons.get(comparison_id)
    if comparison.deleted_at is not None:
        raise NotFound("This comparison was deleted. Start a new one from Compare.")
    await ComparisonPage(workbench, live_markdown, comparison).fill()


class ComparisonPage:
    """Pulls, as a session's page does: a timer asks the runs of all columns what is new."""

    def __init__(self, workbench: Workbench, live_markdown: LiveMarkdown, comparison: Comparison) -> None:
        self._workbench = workbench
        self._live_markdown = live_markdown
        self._comparison = comparison
        self._timer: ui.timer | None = None
        self._heads: list[ColumnFacts] = []
        with ui.element("div").classes("session compare"), ui.element("div").classes("session-main"):
            self._build_head()
            restore = partial(workbench.comparisons.restore, comparison.id)
            self._deleted = DeletedNotice("This comparison is deleted.", restore, testid="comparison-deleted")
            self._differing = ColumnDifferences()
            self._board = Board(on_press=self._press)
            with self._board:
                self._welcome = ui.html(_WELCOME, sanitize=False).classes("welcome")
            self._build_columns()
            self._build_composer()
            self._bar = ui.html(sanitize=False).classes("status-bar").props("data-testid=status-bar")
        self._undo = UndoBar()
        self._show_bars()

    def _build_head(self) -> None:
        with ui.element("div").classes("session-head"):
            self._heading = ui.html(sanitize=False).classes("session-facts")
            self._stop = button("Stop all", self._stop_all, icon="stop", look="danger", testid="stop-button")
            self._stop.props("aria-keyshortcuts=Escape").visible = False
            new = button("New comparison", lambda: ui.navigate.to(COMPARE), icon="add", testid="new-comparison-button")
            new.classes("btn-label").props('aria-label="New comparison"')

    def _build_columns(self) -> None:
        for place, session in enumerate(self._sessions()):
            agent = self._workbench.agents.get(session.agent_id)
            with self._board.grid:
                new_turn = partial(
                    Turn,
                    agent_icon=agent.icon,
                    contents=self._workbench.contents,
                    live_markdown=self._live_markdown,
                    on_action=partial(self._act, place),
                    show_view=partial(views_of, self._workbench, None),
                    task_of=partial(task_state, self._workbench),
                )
                label = f"Column {LETTERS[place]}: {agent.name} v{session.variant}"
                column = CompareColumn(self._workbench, new_turn, label=label)
            self._board.add(column)

    def _build_composer(self) -> None:
        self._composer = ComposerBar(
            key=self._comparison.id,
            text=self._sessions()[0].composer,
            placeholder="Message all columns",
            hint="Enter sends to all columns, Shift-Enter breaks the line.",
            send_label="Send to all",
            on_send=self._send,
            on_sent=self._update,
            on_typed=self._keep_typed,
        )
        first, *others = self._comparison.sessions
        with self._composer.box:
            self._attachments = Attachments(
                self._workbench,
                self._workbench.sessions.get(first),
                on_change=lambda: None,
                unsay=self._composer.unsay,
                beside=others,
            )
        self._attachments.move(self._composer.box, target_index=0)

    async def fill(self) -> None:
        """Show the latest rounds, then follow the columns."""
        await self._update()
        await self._attachments.describe()
        self._timer = ui.timer(LIVE_SECONDS if self._board.running else IDLE_SECONDS, self._update)

    async def _update(self) -> None:
        """Show what is new: messages of this or another tab, entries and live text of the runs that go on."""
        await self._board.update_by(self._follow)

    async def _follow(self) -> None:
        self._comparison = self._workbench.comparisons.get(self._comparison.id)
        self._deleted.show(deleted=self._comparison.deleted_at is not None)
        behaviours = [self._behaviour(session) for session in self._sessions()]
        await self._differing.show(behaviours, is_open=not self._comparison.turns)
        if not self._workbench.compare.sending(self._comparison.id):
            await self._board.show(rounds(self._comparison), self._votes())
        await self._board.follow()
        self._show_bars()

    def _show_bars(self) -> None:
        live = self._workbench.compare.live_runs(self._comparison.id)
        running = self._board.running or bool(live)  # a run is over before it is on disk, and only then the next starts
        unsaved = next((one.unsaved for one in live if one.unsaved), None)
        self._show_heads()
        self._stop.visible = running
        self._composer.show(running=running)
        if self._timer is not None:
            self._timer.interval = LIVE_SECONDS if running else IDLE_SECONDS
        waits = bool(live) and all(one.control.waits for one in live)
        bar = status_line(
            running=running,
            waits=waits,
            version=self._workbench.version,
            unsaved=unsaved,
            spans_to=self._workbench.collector.place,
        )
        if self._bar.content != bar:
            self._bar.set_content(bar)

    def _show_heads(self) -> None:
        facts = self._facts()
        if facts == self._heads:
            return
        self._heads = facts
        title = self._comparison.title or UNTITLED
        ui.page_title(f"{title} · Compare · Agent Playground")
        self._heading.set_content(
            joined(tag("span", icon("compare_arrows"), cls="agent-icon"), tag("h1", title, title=title))
        )
        self._welcome.visible = not self._comparison.turns
        for column, one in zip(self._board.columns, facts, strict=True):
            column.head.set_content(column_head(one))

    def _facts(self) -> list[ColumnFacts]:
        sessions, counts = self._sessions(), tally(self._votes(), len(self._comparison.sessions))
        latest = [column.latest for column in self._board.columns]
        return [
            ColumnFacts(place, self._agent_of(session), session, cell.turn.status if cell else None, count)
            for place, (session, cell, count) in enumerate(zip(sessions, latest, counts, strict=True))
        ]

    def _votes(self) -> dict[int, int]:
        return votes(self._comparison, self._workbench.compare.votes(self._comparison))

    def _sessions(self) -> list[Session]:
        return [self._workbench.sessions.get(session_id) for session_id in self._comparison.sessions]

    def _behaviour(self, session: Session) -> Behaviour:
        behaviour = self._agent_of(session).variant(session.variant).behaviour
        return behaviour.model_copy(update={"model": session.model}) if session.model else behaviour

    def _agent_of(self, session: Session) -> Agent:
        return self._workbench.agents.get(session.agent_id)

    async def _send(self, text: str, _how: SendAs) -> None:
        attached = self._attachments.ready()
        await self._workbench.compare.send(self._comparison.id, text, attached)
        self._attachments.sent(attached)

    async def _keep_typed(self, text: str) -> None:
        await self._workbench.sessions.change(
            self._comparison.sessions[0], lambda one: one.model_copy(update={"composer": text})
        )

    def _stop_all(self) -> None:
        self._workbench.compare.stop(self._comparison.id)

    async def _act(self, place: int, turn: Turn, action: str, value: str) -> None:
        """A button of a column's message."""
        with problems_shown():
            if action in ("regenerate", "retry"):
                await answer_again(self._workbench, self._comparison, self._comparison.sessions[place], turn.run_id)
                await self._update()
            else:
                await do_on_turn(self._workbench, turn, action, value)

    async def _press(self, what: str, place: int, number: int) -> None:
        """A button of a column's head, or the vote below an answer."""
        with problems_shown():
            match what:
                case "vote":
                    await self._vote(place, number)
                case "tie":
                    await self._tie(number)
                case "promote":
                    await self._promote(place)
                case "open":
                    session_id = self._comparison.sessions[place]
                    session = await self._workbench.compare.open_column(self._comparison.id, session_id)
                    ui.navigate.to(session_address(session.id))
                case _:
                    pass

    async def _vote(self, place: int, number: int) -> None:
        session_id = self._comparison.sessions[place]
        voted = None if self._votes().get(number) == place else session_id
        await self._workbench.compare.vote(self._comparison.id, number, voted)
        await self._update()

    async def _tie(self, number: int) -> None:
        if self._votes().get(number) == TIE:
            await self._workbench.compare.vote(self._comparison.id, number, None)
        else:
            await self._workbench.compare.call_tie(self._comparison.id, number)
        await self._update()

    @one_at_a_time
    async def _promote(self, place: int) -> None:
        session = self._sessions()[place]
        act = partial(promote, self._workbench, session)
        promotion = await past_the_gate(self._workbench, session.agent_id, act)
        self._show_heads()
        if promotion is not None:
            agent, undo = promotion.after, partial(undo_promotion, self._workbench, promotion)
            self._undo.show(f"{agent.name} answers as v{agent.active} from now on", undo, self._show_heads)


_WELCOME = joined(
    tag("span", icon("compare_arrows"), cls="agent-icon"),
    tag("h2", "One message, several answers"),
    tag("p", "Write a message below. All columns answer it at the same time, and you see who did better."),
)


async def promote(workbench: Workbench, session: Session) -> Agent:
    """The agent with the column's variant active; a model of the column's own is saved as a new variant first.

    Raises `WorkbenchError` as `agents.change` does, and `GateClosed` where the agent's gate holds the variant back.
    """
    saved = await workbench.agents.change(session.agent_id, partial(_with_model, session=session))
    number = session.variant if _is_plain(saved, session) else saved.variants[-1].number
    if session.model is not None:
        at_home = {"variant": number, "model": None}
        await workbench.sessions.change(session.id, lambda one: one.model_copy(update=at_home))
    return await workbench.gating.activate(session.agent_id, number, by="page")


def _is_plain(agent: Agent, session: Session) -> bool:
    """Whether its variant, as it was saved, is what the column shows."""
    return session.model in (None, model_of(agent.variant(session.variant).behaviour))


def _with_model(agent: Agent, session: Session) -> Agent:
    """The agent with the variant under the session's model as its newest; the agent itself where that is no change."""
    if _is_plain(agent, session):
        return agent
    behaviour = agent.variant(session.variant).behaviour
    own = behaviour.model_copy(update={"model": session.model})
    return with_variant(agent, own, origin=session.variant, note=f"With {session.model}, from a comparison")


async def answer_again(workbench: Workbench, comparison: Comparison, session_id: str, run_id: str) -> None:
    """Start the column's newest run anew.

    Raises `Conflict` for an earlier one: the column would lose what it said after it, and with it the others' company.
    """
    if not comparison.turns or comparison.turns[-1].runs.get(session_id) != run_id:
        raise Conflict("Only the newest message can be answered again here. Open the column as a session of its own.")
    live = await workbench.chat.regenerate(session_id, run_id)
    await workbench.comparisons.change(
        comparison.id, lambda newest: _with_run(newest, len(comparison.turns) - 1, session_id, live.run_id)
    )


def _with_run(comparison: Comparison, number: int, session_id: str, run_id: str) -> Comparison:
    turn = comparison.turns[number]
    again = ComparedTurn(text=turn.text, runs={**turn.runs, session_id: run_id}, refusals=turn.refusals)
    turns = (*comparison.turns[:number], again, *comparison.turns[number + 1 :])
    return comparison.model_copy(update={"turns": turns})
