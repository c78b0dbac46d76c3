"""Setting a comparison up, and the recent ones to go on with."""

from nicegui import PageArguments, ui
from starlette.datastructures import QueryParams

from app.domain.agents import Agent
from app.domain.comparisons import ColumnChoice, Comparison
from app.domain.errors import WorkbenchError
from app.domain.values import now
from app.ui.compare.setup import ColumnDraft, CompareSetup, newest_candidate, suggested
from app.ui.elements.addresses import AGENTS, comparison_address
from app.ui.elements.buttons import icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import ago, head, moment_text, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import empty_state, notify, problems_shown
from app.ui.elements.undo_bar import UndoBar
from app.workbench import Workbench

PAGE_SIZE = 30
UNTITLED = "New comparison"
_HEADING = joined(
    tag("h1", "Compare", cls="page-title"),
    tag("p", "The same message to two, three or four variants or models. See who answers better.", cls="page-lead"),
)


class ComparisonsPage:
    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._shown = PAGE_SIZE
        ui.page_title("Compare · Agent Playground")
        with ui.element("div").classes("page compare-page"):
            ui.html(_HEADING, sanitize=False)
            if drafts := self._drafts(arguments.query_parameters):
                CompareSetup(workbench, drafts, self._start)
            else:
                way_out = tag("a", "Create an agent", href=AGENTS)
                empty_state("smart_toy", "No agents", "There is nobody to compare yet.", way_out)
            ui.html(tag("h2", "Recent comparisons", cls="section-title"), sanitize=False)
            self._recent = ui.element("div").props("data-testid=comparison-list")
        self._undo = UndoBar()
        self._show_recent()

    def _drafts(self, query: QueryParams) -> list[ColumnDraft]:
        """The agent and the variants that the address names, else those that suit best."""
        agent = self._agent(query.get("agent", ""))
        if agent is None:
            return []
        known = {str(one.number): one.number for one in agent.variants}
        named = [known[number] for number in query.getlist("variant") if number in known]
        if len(named) == 1:
            named.insert(0, agent.active if named[0] != agent.active else suggested(agent)[1])
        return [ColumnDraft(agent.id, number) for number in (named or suggested(agent))[:4]]

    def _agent(self, slug: str) -> Agent | None:
        """The one that the address names, else one with a newer variant, the one talked to last if it has one."""
        agents = {agent.id: agent for agent in self._workbench.agents.all()}
        named = [agent for agent in agents.values() if agent.slug == slug]
        recent = [agents[one.agent_id] for one in self._workbench.sessions.recent(limit=5) if one.agent_id in agents]
        likely = [agent for agent in (*recent, *agents.values()) if newest_candidate(agent) is not None]
        return next(iter((*named, *likely, *recent, *agents.values())), None)

    async def _start(self, columns: list[ColumnChoice]) -> None:
        with problems_shown():
            comparison = await self._workbench.compare.start(columns)
            ui.navigate.to(comparison_address(comparison.id))

    async def _delete(self, _: str, comparison_id: str) -> None:
        try:
            gone = await self._workbench.comparisons.delete(comparison_id)
        except WorkbenchError as problem:
            notify(str(problem))
            return

        async def restore() -> None:
            await self._workbench.comparisons.restore(comparison_id)
            self._show_recent()

        self._undo.show(f"Deleted “{head(gone.title or UNTITLED, 40)}”", restore)
        self._show_recent()

    def _show_more(self) -> None:
        self._shown += PAGE_SIZE
        self._show_recent()

    def _show_recent(self) -> None:
        found = self._workbench.comparisons.recent(self._shown + 1)
        self._recent.clear()
        with self._recent:
            if not found:
                empty_state("compare_arrows", "No comparisons yet", "Choose the columns above, then start comparing.")
                return
            rows = joined(*(self._row(one) for one in found[: self._shown]))
            recent = ui.html(rows, sanitize=False, tag="ul").classes("session-list")
            on_click_of(recent, "action", self._delete, along=("comparison",))
            if len(found) > self._shown:
                more = ui.html("Show more", sanitize=False, tag="button").classes("link-button")
                more.on("click", self._show_more)

    def _row(self, comparison: Comparison) -> Html:
        title = comparison.title or UNTITLED
        columns = " vs ".join(self._column_words(session_id) for session_id in comparison.sessions)
        link = tag(
            "a",
            icon("compare_arrows", "faint"),
            tag("span", title, cls="session-title truncate grow"),
            tag("span", columns, cls="session-meta optional truncate compare-who", title=columns),
            tag("span", plural(len(comparison.turns), "turn"), cls="session-meta optional"),
            tag(
                "time",
                ago(comparison.updated_at, now()),
                cls="session-meta",
                title=moment_text(comparison.updated_at),
                datetime=comparison.updated_at.isoformat(),
            ),
            href=comparison_address(comparison.id),
        )
        delete = icon_action("delete", "delete_outline", f"Delete {title}", title="Delete")
        return tag("li", link, delete, cls="session-row", data_comparison=comparison.id, data_testid="comparison-row")

    def _column_words(self, session_id: str) -> str:
        try:
            session = self._workbench.sessions.get(session_id)
            name = self._workbench.agents.get(session.agent_id).name
        except WorkbenchError:
            return "Unknown"
        return f"{name} v{session.variant}" + (f" ({session.model})" if session.model else "")
