"""The Playground's landing: choose an agent, or go on with a session."""

from functools import partial

from nicegui import PageArguments, ui

from app.domain.agents import Agent
from app.domain.errors import NotFound
from app.domain.provenance import BEHIND
from app.domain.sessions import FoundSession, Session, SessionPage
from app.domain.trace import RunStatus
from app.domain.values import now
from app.late import late
from app.ui.elements.addresses import AGENTS, LANDING
from app.ui.elements.buttons import icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import ago, head, moment_text, plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.new_session import UNTITLED, agent_card, start_session
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.pager import stand_at
from app.ui.elements.status_pill import status_pill
from app.ui.elements.undo_bar import UndoBar
from app.ui.playground.session_rows import found_address, found_words
from app.workbench import Workbench

with late():
    from app.ui.playground import session_menu as menu

PAGE_SIZE = 30
MOST_USED = 100
"""Sessions that tell which agents are used, where there are too many to list."""
LOOK_SECONDS = 2.0


class Landing:
    """Two lists; each is one element, whatever its length. Its address may say which session was just `deleted`."""

    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._shown = PAGE_SIZE
        self._unfinished: dict[str, RunStatus] = {}
        self._page = SessionPage([], 0)
        self._drawn: dict[str, RunStatus | None] = {}
        """How the sessions that are listed stand there."""
        ui.page_title("Playground · Agent Playground")
        with ui.element("div").classes("page"):
            ui.html(_greeting(), sanitize=False)
            self._agents = ui.html(sanitize=False)
            on_click_of(self._agents, "agent", partial(start_session, workbench), once=True)
            with ui.element("div").classes("toolbar"):
                ui.html(tag("h2", "Recent sessions", cls="section-title"), sanitize=False).classes("grow")
                self._search = ui.input(placeholder="Search all that was said", on_change=self._search_changed)
                self._search.props('outlined dense clearable debounce=150 aria-label="Search all that was said"')
                self._search.classes("search").props("data-testid=session-search")
            self._sessions = LiveHtml().props("data-testid=session-list")
            on_click_of(self._sessions, "action", self._act, along=("session",))
            self._nothing = ui.element("div")
        self._undo = UndoBar()
        self._show_agents()
        self._take(self._newest())
        self._offer_restoring(arguments)
        ui.timer(LOOK_SECONDS, self._look)

    async def _look(self) -> None:
        """Show which sessions run or wait for somebody, as that changes."""
        runs = self._workbench.runs
        unfinished = {row.run_id: row.status for row in await runs.left()}
        shown = [live for live in runs.live_runs() if live.started.purpose not in BEHIND]
        unfinished |= {live.run_id: "paused" if live.control.waits else "running" for live in shown}
        if unfinished == self._unfinished:
            return
        self._unfinished = unfinished
        page = self._page if self._searched else self._newest()
        if self._statuses(page.sessions) != self._drawn:
            self._take(page)

    async def _search_changed(self) -> None:
        self._shown = PAGE_SIZE
        await self._list()

    async def _list(self) -> None:
        """Show the sessions as they are now."""
        searched, shown = self._searched, self._shown
        page = await self._workbench.session_search.page(searched, limit=shown) if searched else self._newest()
        if (searched, shown) == (self._searched, self._shown):  # nobody asked for something else meanwhile
            self._take(page)

    def _take(self, page: SessionPage) -> None:
        self._page = page
        self._show_sessions()

    async def _act(self, action: str, session_id: str) -> None:
        sessions = self._workbench.sessions
        with problems_shown():
            match action:
                case "pin":
                    await sessions.change(session_id, menu.pinned_or_not)
                case "rename":
                    await menu.rename_session(self._workbench, session_id)
                case "delete":
                    await menu.delete_session(self._workbench, session_id, self._undo, self._list)
                case "more":
                    self._shown += PAGE_SIZE
                case _:
                    pass
        await self._list()

    def _offer_restoring(self, arguments: PageArguments) -> None:
        """Who deletes the session that they are in comes here, and may think better of it."""
        deleted = self._workbench.sessions.find(arguments.query_parameters.get("deleted", ""))
        if deleted is not None and deleted.deleted_at is not None:
            menu.offer_restoring(self._workbench, deleted.id, self._undo, self._list)
            stand_at(arguments.frame, LANDING)

    def _show_agents(self) -> None:
        agents = self._workbench.agents.all()
        if agents:
            if len(agents) > PAGE_SIZE:
                agents = self._used_first(agents)
            cards = tag("div", *(agent_card(agent) for agent in agents[:PAGE_SIZE]), cls="agent-grid")
            more = tag("a", f"All {plural(len(agents), 'agent')}", href=AGENTS) if len(agents) > PAGE_SIZE else ""
            self._agents.set_content(joined(cards, more))
            return
        with self._agents:
            words = "Create one, import one, or bring a deleted one back from the Trash."
            empty_state("smart_toy", "No agents", words, tag("a", "Go to the Agents page", href=AGENTS))

    def _used_first(self, agents: list[Agent]) -> list[Agent]:
        """Before all others those that the newest sessions are with."""
        newest = [session.agent_id for session in self._workbench.sessions.recent(limit=MOST_USED)]
        return sorted(agents, key=lambda agent: newest.index(agent.id) if agent.id in newest else len(newest))

    @property
    def _searched(self) -> str:
        return str(self._search.value or "").strip()

    def _newest(self) -> SessionPage:
        """What is listed while nothing is searched for; the first page of the app takes no more than that."""
        sessions = self._workbench.sessions
        return SessionPage([FoundSession(one) for one in sessions.recent(limit=self._shown)], sessions.count())

    def _statuses(self, sessions: list[FoundSession]) -> dict[str, RunStatus | None]:
        return {one.session.id: self._status_of(one.session) for one in sessions}

    def _show_sessions(self) -> None:
        search, sessions, total = self._searched, self._page.sessions, self._page.total
        self._drawn = self._statuses(sessions)
        self._sessions.show(self._rows(sessions, total) if sessions else Html(""))
        self._nothing.clear()
        with self._nothing:
            if not sessions and search:
                empty_state("search_off", "No session fits", f"Nothing says “{head(search, 40)}”. Try fewer words.")
            elif not sessions:
                empty_state("forum", "No sessions yet", "Choose an agent above and say something to it.")

    def _rows(self, sessions: list[FoundSession], total: int) -> Html:
        rows = (_session_row(one, self._agent_of(one.session), self._drawn[one.session.id]) for one in sessions)
        listed = tag("ul", *rows, cls="session-list")
        if total <= len(sessions):
            return listed
        words = f"Show more ({plural(total - len(sessions), 'session')} left)"
        return joined(listed, tag("button", words, cls="link-button", data_action="more", data_key="more"))

    def _status_of(self, session: Session) -> RunStatus | None:
        """How its last run stands."""
        if not session.runs:
            return None
        if (unfinished := self._unfinished.get(session.runs[-1])) is not None:
            return unfinished
        row = self._workbench.rows.get(session.runs[-1])
        return row.status if row is not None and row.status != "running" else None

    def _agent_of(self, session: Session) -> Agent | None:
        try:
            return self._workbench.agents.get(session.agent_id)
        except NotFound:
            return None


def _greeting() -> Html:
    title = tag("h1", "Playground", cls="page-title")
    return joined(title, tag("p", "Choose an agent to talk to, or go on where you left off.", cls="page-lead"))


def _session_row(found: FoundSession, agent: Agent | None, status: RunStatus | None) -> Html:
    session = found.session
    title = session.title or UNTITLED
    needs_a_look = status in ("running", "paused", "interrupted", "failed")
    link = tag(
        "a",
        icon(agent.icon if agent else "smart_toy", "faint"),
        tag(
            "span",
            tag("span", title, cls="session-title truncate"),
            tag("span", found_words(found.excerpt), cls="session-found") if found.excerpt else "",
            cls="session-words grow",
        ),
        status_pill(status) if status and needs_a_look else "",
        tag("span", agent.name if agent else "Unknown agent", cls="session-meta optional"),
        tag("span", plural(len(session.runs), "turn"), cls="session-meta optional"),
        tag(
            "time",
            ago(session.updated_at, now()),
            cls="session-meta",
            title=moment_text(session.updated_at),
            datetime=session.updated_at.isoformat(),
        ),
        href=found_address(found),
        data_key=session.id,
    )
    pinning = "Unpin" if session.pinned else "Pin"
    pin = icon_action("pin", "push_pin", f"{pinning} {title}", title=pinning, on=session.pinned, of=session.id)
    rename = icon_action("rename", "edit", f"Rename {title}", title="Rename", of=session.id)
    delete = icon_action("delete", "delete_outline", f"Delete {title}", title="Delete", of=session.id)
    return tag("li", link, pin, rename, delete, cls="session-row", data_session=session.id, data_testid="session-row")
