"""What waits for a person: the cards of pauses, as in their conversations, and a line for all else."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

from nicegui import ui

from app.domain.agents import Agent
from app.domain.errors import ToolError
from app.domain.evals.scores import RATING
from app.engine.sessions.attending import OpenPause
from app.late import late
from app.ui.conversation.open_pauses import OpenPauses
from app.ui.elements.addresses import RUNS, session_address
from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import refocus
from app.ui.elements.format import head, plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.new_session import UNTITLED
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.visible import visible
from app.ui.overview.matters import (
    NEED_SOMEBODY,
    Matter,
    copy_unsaved,
    counted,
    experiment_left,
    job_failed,
    matters_view,
    messages_left,
    run_left,
    server_waits,
    to_review,
)
from app.workbench import Workbench

with late():
    from app.ui.consent import settling

MOST_CARDS = 4
MOST_LINES = 12
REVIEW_SECONDS = 30.0
"""Between two looks for answers to review: those go through many runs, off the event loop."""
MOST_DISMISSED = 200


class Waiting:
    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._reviews: list[Matter] = []
        self._review_at = 0.0
        with ui.element("div").classes("stack fill") as self._place:
            self._count = LiveHtml().classes("muted").props("role=status data-testid=overview-count")
            self._pauses = OpenPauses(workbench, self.look, head=self._whose, testid="overview-pause")
            self._pauses.classes("stack fill")
            self._more = LiveHtml()
            self._lines = LiveHtml().classes("fill")
            on_click_of(self._lines, "do", self._act, along=("kind", "subject"))
        self._undo = UndoBar()

    async def look(self) -> None:
        """Show what waits by now."""
        matters = await self._matters()
        pauses = await self._workbench.attending.pauses()  # last: what was decided meanwhile is not shown again
        if self._place.is_deleted:
            return
        self._show_pauses(pauses)
        self._lines.visible = bool(matters)
        self._lines.show(matters_view(matters[:MOST_LINES], more=len(matters[MOST_LINES:])))
        self._count.show(counted(len(pauses) + len(matters)))

    def _show_pauses(self, pauses: Sequence[OpenPause]) -> None:
        if self._pauses.show(pauses[:MOST_CARDS]):
            refocus(self._place, "button:not([disabled])", "a")
        if (left := len(pauses) - MOST_CARDS) > 0:
            words = f"{plural(left, 'more decision')} in other conversations"
            way = tag("a", words, href=f"{RUNS}?status=paused&behind=1")
            self._more.show(tag("p", way))
        else:
            self._more.show(Html(""))

    def _whose(self, one: OpenPause) -> None:
        title = self._workbench.sessions.get(one.session_id).title or UNTITLED
        words = visible(f"{one.agent.name}: {head(title, 80)}")
        link = tag("a", icon("forum"), tag("span", words), href=session_address(one.session_id))
        ui.html(link, sanitize=False).classes("overview-whose")

    # All else.

    async def _matters(self) -> list[Matter]:
        workbench, hidden = self._workbench, set(self._workbench.preferences.get().dismissed)
        failed = [row for row in await workbench.attending.failed() if row.run_id not in hidden]
        experiments = workbench.experiments.with_status("interrupted", "paused")
        servers = workbench.mcp.states() if workbench.data.mcp_servers.all() else ()
        return [
            *(server_waits(state) for state in servers if state.status in NEED_SOMEBODY),
            *map(run_left, await workbench.attending.interrupted()),
            *map(job_failed, failed),
            *(messages_left(one) for one in workbench.sessions.queueing() if not workbench.runs.of_session(one.id)),
            *map(experiment_left, experiments),
            *await self._to_review(),
            *(copy_unsaved(one) for one in workbench.agents.all() if _is_unsaved(workbench, one)),
        ]

    async def _to_review(self) -> list[Matter]:
        """Where somebody reviews at all; and what failed in the newest experiment."""
        if monotonic() < self._review_at:
            return self._reviews
        workbench, found = self._workbench, list[Matter]()
        if (newest := next(iter(workbench.experiments.recent(limit=1)), None)) and newest.status == "completed":
            failed = (await workbench.reviewing.begin("failures", newest.id)).items
            found += [to_review(len(failed), newest)] if failed else []
        if await asyncio.to_thread(workbench.scores.named, RATING):
            unrated = (await workbench.reviewing.begin("unreviewed")).items
            found += [to_review(len(unrated))] if unrated else []
        self._reviews, self._review_at = found, monotonic() + REVIEW_SECONDS
        return found

    async def _act(self, action: str, kind: str, subject: str) -> None:
        with problems_shown():
            match action, kind:
                case "resume", "run":
                    await self._workbench.chat.resume(subject)
                case "give-up", "run":
                    await self._workbench.pauses.stop(subject)
                case "again", "job":
                    await self._try_again(subject)
                case "dismiss", "job":
                    await self._dismiss(subject)
                case _, "server":
                    await self._settle_server(action, subject)
                case "send", "queue":
                    await self._send(subject)
                case "resume", "experiment":
                    await self._workbench.experimenting.resume(subject)
                case "cancel", "experiment":
                    await self._workbench.experimenting.cancel(subject)
                case "discard", "copy":
                    await self._discard(subject)
                case _:
                    pass
            if not self._place.is_deleted:
                await self.look()
                refocus(self._place, "button:not([disabled])", "a")

    async def _settle_server(self, action: str, name: str) -> None:
        match action:
            case "again":
                await self._workbench.mcp.reconnect(name)
            case "sign-in":
                await self._begin_sign_in(name)
            case "consent" | "changes":
                await settling.settle_server(self._workbench.mcp, name)
            case _:
                pass

    async def _begin_sign_in(self, server: str) -> None:
        """From then on its line has the link to where one signs in."""
        try:
            await self._workbench.mcp.sign_in(server)
        except ToolError as problem:
            notify(str(problem))

    async def _send(self, session_id: str) -> None:
        if queued := self._workbench.sessions.get(session_id).queue:
            await self._workbench.queue.send_now(session_id, queued[0].id)

    async def _try_again(self, run_id: str) -> None:
        session = await self._workbench.jobs.opened(run_id)
        await self._workbench.chat.regenerate(session.id, run_id)
        ui.navigate.to(session_address(session.id))

    async def _dismiss(self, run_id: str) -> None:
        await self._keep_dismissed(lambda before: (*before, run_id))
        back = partial(self._keep_dismissed, lambda before: tuple(one for one in before if one != run_id))
        self._undo.show("Dismissed; the run stays on Runs and Jobs", back, self.look)

    async def _keep_dismissed(self, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> None:
        preferences = self._workbench.preferences
        before = preferences.get()
        kept = change(before.dismissed)[-MOST_DISMISSED:]
        await preferences.save(before.model_copy(update={"dismissed": kept}))

    async def _discard(self, agent_id: str) -> None:
        copies = self._workbench.working_copies
        if (copy := copies.get(agent_id)) is not None:
            await copies.drop(agent_id)
            self._undo.show("Discarded what was not saved", partial(copies.save, copy), self.look)


def _is_unsaved(workbench: Workbench, agent: Agent) -> bool:
    copy = workbench.working_copies.get(agent.id)
    return copy is not None and copy.changes(agent)
