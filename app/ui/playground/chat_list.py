"""The list of sessions beside a conversation, with a search through all that was said in them."""

from nicegui import background_tasks, ui

from app.domain.provenance import BEHIND
from app.domain.sessions import SessionPage
from app.domain.trace import RunStatus
from app.domain.values import now
from app.ui.elements.buttons import icon_button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head, plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, tag
from app.ui.elements.notices import problems_shown
from app.ui.playground.session_menu import SessionMenu
from app.ui.playground.session_rows import chat_rows
from app.workbench import Workbench

PAGE_SIZE = 30
LOOK_SECONDS = 1.0


class ChatList(ui.element, component="chat_list.js"):
    """One element for all rows; they are looked up again only after something happened to a session or a run."""

    def __init__(self, workbench: Workbench, session_id: str, menu: SessionMenu, *, find: str) -> None:
        """`session_id`: the one that is shown; `find`: what is searched for at first."""
        super().__init__()
        self._props["label"] = "Sessions"
        self._workbench = workbench
        self._here = session_id
        self._menu = menu
        self._shown = PAGE_SIZE
        self._seen: object = None
        with self:
            with ui.element("div").classes("chat-list-head"):
                ui.html("Sessions", sanitize=False, tag="h2").classes("section-title grow")
                close = icon_button("first_page", "Hide the sessions", testid="chat-list-close")
                close.on("click", js_handler=self.toggle)
            self._search = ui.input(placeholder="Search all that was said", value=find, on_change=self._search_changed)
            self._search.props('outlined dense clearable debounce=150 aria-label="Search all that was said"')
            self._search.props("data-testid=chat-list-search")
            self._note = ui.html(sanitize=False).classes("chat-note").props("role=status")
            with ui.element("nav").classes("chat-scroll").props("aria-label=Sessions"):
                self._rows = on_click_of(LiveHtml(), "menu", self._open_menu)
                self._more = ui.html(sanitize=False, tag="button").classes("link-button")
                self._more.props("type=button data-testid=chat-list-more").on("click", self._show_more)
        self._more.visible = False
        ui.timer(LOOK_SECONDS, self.look)  # first once the conversation beside it is seen

    @property
    def toggle(self) -> str:
        """What shows or hides it, in the browser."""
        return f"() => runMethod({self.id}, 'toggle', [])"

    def look_soon(self) -> None:
        """The same after a handler has done something to one."""
        background_tasks.create(self.look(), name="list sessions")

    async def look(self) -> None:
        """Show the sessions as they are now, if anything happened to one."""
        runs, search = self._workbench.runs, self._workbench.session_search
        unfinished = {row.session_id: row.status for row in await runs.left()}
        for live in runs.live_runs():
            if live.started.purpose in BEHIND:
                continue
            unfinished[live.started.session_id] = "paused" if live.control.waits else "running"
        searched = str(self._search.value or "").strip()
        state = search.state if searched else search.state[:1]
        seen = (searched, self._shown, state, unfinished, now().astimezone().date())
        if seen == self._seen:
            return
        self._seen = seen
        with self, problems_shown():
            page = await search.page(searched, limit=self._shown)
            if self._seen is seen:  # nobody asked for something else meanwhile
                self._show(page, searched, unfinished)

    def _show(self, page: SessionPage, searched: str, unfinished: dict[str, RunStatus]) -> None:
        rows = chat_rows(page.sessions, unfinished, here=self._here, searched=searched, now=now())
        self._rows.show(rows)
        self._note.set_content(note(page.total, searched, self._workbench.session_search.behind))
        left = page.total - len(page.sessions)
        self._more.visible = left > 0
        self._more.set_content(f"Show more ({plural(left, 'session')} left)")

    async def _search_changed(self) -> None:
        self._shown = PAGE_SIZE
        await self.look()

    async def _show_more(self) -> None:
        self._shown += PAGE_SIZE
        await self.look()

    def _open_menu(self, session_id: str) -> None:
        self._menu.open_at(f"#chat-more-{session_id}", session_id)


def note(total: int, searched: str, behind: int) -> Html:
    """How much was found, and what cannot be found yet; nothing while nothing is searched for."""
    if not searched:
        return Html("" if total else tag("span", "No sessions yet."))
    said = f"{plural(total, 'session')} found" if total else f"Nothing says “{head(searched, 40)}”. Try fewer words."
    unread = f" · {plural(behind, 'more run')} still to be searched" if behind else ""
    return tag("span", said + unread)
