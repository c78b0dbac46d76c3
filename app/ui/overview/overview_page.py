"""The Overview: what waits for a person, where they left off, how the week went, how things stand.

Of its parts the first paint has what is known at once; the others are read beside it, and look again every few seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import ui

from app.domain.agents import Agent
from app.domain.errors import NotFound, WorkbenchError
from app.domain.sessions import Session
from app.domain.values import now
from app.late import late, read
from app.ui.elements.addresses import AGENTS, LANDING, session_address
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import ago, head, moment_text, plural
from app.ui.elements.live_html import LiveHtml, rests_hidden
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.new_session import UNTITLED, agent_card, start_session
from app.ui.elements.setup_offer import setup_offer
from app.ui.elements.status_pill import session_pill
from app.workbench import Workbench

with late():
    from app.ui.overview import standing, waiting, week

LOOK_SECONDS = 3.0
RECENT = 6
AGENTS_SHOWN = 6
_HEADING = joined(
    tag(
        "div",
        tag("h1", "Overview", cls="page-title"),
        tag("p", "What waits for you, and how it goes.", cls="page-lead"),
    ),
    tag(
        "a",
        icon("forum"),
        "Open the Playground",
        tag("kbd", "P"),
        href=LANDING,
        cls="overview-playground",
        aria_keyshortcuts="P",
        data_testid="overview-playground",
    ),
)


class OverviewPage:
    """`/`."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._looks: list[Callable[[], Awaitable[None]]] = []
        ui.page_title("Overview · Agent Playground")
        with ui.element("div").classes("page overview").props("data-testid=overview") as self._page:
            ui.html(_HEADING, sanitize=False).classes("overview-head")
            setup_offer(workbench.preferences)
            self._waiting = self._section("Waits for you", "overview-waiting", "Looking for what waits for you…")
            self._recent = Recent(workbench)
            self._week = self._section("The last 7 days", "overview-week", "Adding up…")
            self._standing = self._section("How things stand", "overview-standing", "Looking…")
        ui.timer(0, self._fill, once=True)
        rests_hidden(self._page, ui.timer(LOOK_SECONDS, self._look, immediate=False))

    def _section(self, title: str, testid: str, loading: str) -> ui.element:
        """A part that is filled after the first paint."""
        with ui.element("section").classes("overview-part").props(f'data-testid={testid} aria-label="{title}"'):
            ui.html(tag("h2", title, cls="section-title"), sanitize=False)
            with ui.element("div").classes("stack fill") as place:
                ui.html(tag("p", loading, cls="muted"), sanitize=False)
        return place

    async def _fill(self) -> None:
        await asyncio.to_thread(read, waiting, week, standing)
        await self._workbench.data.warm()  # on the loop, the rows of many runs would stop it
        self._looks.append(self._recent.look)
        for place, part in (
            (self._waiting, waiting.Waiting),
            (self._week, week.WeekFigures),
            (self._standing, standing.Standing),
        ):
            with place:
                look = part(self._workbench).look
                trouble = LiveHtml().props("role=alert")
            await _said(look, trouble)
            if self._page.is_deleted:
                return
            place.remove(0)  # that it is looked for
            self._looks.append(partial(_said, look, trouble))

    async def _look(self) -> None:
        for look in self._looks:
            await look()


async def _said(look: Callable[[], Awaitable[None]], trouble: LiveHtml) -> None:
    """Let the part look; what it cannot show is said in its place, and the other parts are shown all the same."""
    try:
        await look()
    except WorkbenchError as problem:
        trouble.show(tag("p", icon("error"), f" {problem} It is tried again in a moment.", cls="is-bad"))
    else:
        trouble.show(Html(""))


class Recent(ui.element):
    """The newest sessions; before there is any, the agents to talk to."""

    def __init__(self, workbench: Workbench) -> None:
        super().__init__("section")
        self._workbench = workbench
        self.classes("overview-part").props("data-testid=overview-recent")
        with self:
            self._shown = LiveHtml()
        on_click_of(self._shown, "agent", partial(start_session, workbench), once=True)
        self._show({})

    async def look(self) -> None:
        runs = self._workbench.runs
        live = {one.started.session_id: one.control.waits for one in runs.live_runs()}
        self._show({session_id: session_pill("paused" if waits else "running") for session_id, waits in live.items()})

    def _show(self, pills: dict[str, Html]) -> None:
        sessions = self._workbench.sessions.recent(limit=RECENT)
        if sessions:
            rows = (_session_row(one, self._agent_of(one), pills.get(one.id, Html(""))) for one in sessions)
            every = tag("a", "All sessions", href=LANDING, cls="overview-more")
            title = tag("div", tag("h2", "Go on where you left off", cls="section-title"), every, cls="overview-title")
            self._shown.show(joined(title, tag("ul", *rows, cls="session-list")))
        else:
            self._shown.show(_begin(self._workbench.agents.all()))

    def _agent_of(self, session: Session) -> Agent | None:
        try:
            return self._workbench.agents.get(session.agent_id)
        except NotFound:
            return None


def _begin(agents: list[Agent]) -> Html:
    title = tag("h2", "Talk to an agent", cls="section-title")
    if not agents:
        way = tag("a", "Go to the Agents page", href=AGENTS)
        return joined(title, tag("p", "There is none. Create one, import one, or bring one back. ", way, cls="muted"))
    cards = tag("div", *(agent_card(agent) for agent in agents[:AGENTS_SHOWN]), cls="agent-grid")
    left = len(agents) - AGENTS_SHOWN
    more = tag("p", tag("a", f"{plural(left, 'more agent')}", href=LANDING)) if left > 0 else ""
    return joined(title, cards, more)


def _session_row(session: Session, agent: Agent | None, pill: Html) -> Html:
    unsent = head(session.composer, 60)
    words = tag("span", "Not sent yet: ", unsent, cls="session-found") if unsent else ""
    link = tag(
        "a",
        icon(agent.icon if agent else "smart_toy", "faint"),
        tag(
            "span",
            tag("span", session.title or UNTITLED, cls="session-title truncate"),
            words,
            cls="session-words grow",
        ),
        pill,
        tag("span", agent.name if agent else "Unknown agent", cls="session-meta optional"),
        tag("time", ago(session.updated_at, now()), cls="session-meta", title=moment_text(session.updated_at)),
        href=session_address(session.id),
        data_key=session.id,
    )
    return tag("li", link, cls="session-row", data_testid="overview-session")
