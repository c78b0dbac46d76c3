"""All agents as cards: found, created, duplicated, exported, imported, deleted and brought back."""

from nicegui import PageArguments, ui

from app.domain.agents import Agent, duplicated
from app.domain.values import now
from app.export.agent_file import read_agent_file
from app.ui.agents.agent_cards import agent_card, trash_row
from app.ui.agents.agent_dialog import NewAgentDialog
from app.ui.agents.agent_query import AgentsQuery, pages
from app.ui.agents.agent_transfer import ImportButton, download_agent
from app.ui.elements.addresses import agent_address
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head, plural
from app.ui.elements.markup import joined, tag
from app.ui.elements.new_session import start_session
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.undo_bar import UndoBar
from app.workbench import Workbench

_HEADING = joined(
    tag("h1", "Agents", cls="page-title"),
    tag("p", "What each agent is told, which model and tools it uses, and every variant of that.", cls="page-lead"),
)


class AgentsPage:
    """One element holds all cards of a page."""

    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._frame = arguments.frame
        self._query = AgentsQuery.of(arguments.query_parameters)
        ui.page_title("Agents · Agent Playground")
        with ui.element("div").classes("page agents-page"):
            self._build_head()
            self._build_toolbar()
            self._cards = ui.html(sanitize=False).props("data-testid=agent-list")
            on_click_of(self._cards, "action", self._act, along=("agent",))
            self._nothing = ui.element("div")
            self._build_pager()
        self._undo = UndoBar()
        self.show()
        if arguments.query_parameters.get("new") == "1":
            ui.navigate.history.replace(self._query.address)
            self._frame._reset_match()  # as in `_ask`
            ui.timer(0, self._create, once=True)

    def _build_head(self) -> None:
        with ui.element("div").classes("toolbar agents-head"):
            ui.html(_HEADING, sanitize=False).classes("grow")
            ImportButton(self._import)
            button("New agent", self._create, look="primary", icon="add", testid="new-agent-button")

    def _build_toolbar(self) -> None:
        with ui.element("div").classes("toolbar"):
            self._search = ui.input(placeholder="Search agents", value=self._query.text, on_change=self._search_changed)
            self._search.props('outlined dense clearable debounce=150 aria-label="Search agents"')
            self._search.classes("search").props("data-testid=agent-search")
            self._count = ui.html(sanitize=False).classes("muted grow").props("role=status data-testid=agents-count")
            self._trash = button(
                "Trash", self._toggle_trash, look="quiet", icon="delete_outline", testid="trash-button"
            )

    def _build_pager(self) -> None:
        with ui.element("nav").classes("runs-pager").props('aria-label="Pages of agents"') as self._pager:
            self._previous = button("Previous", lambda: self._turn(-1), icon="chevron_left", testid="previous-page")
            self._place = ui.html(sanitize=False).classes("muted")
            self._next = button("Next", lambda: self._turn(1), testid="next-page").props("icon-right=chevron_right")

    def show(self) -> None:
        """Show what the query finds now."""
        agents, deleted = self._workbench.agents.all(), self._workbench.agents.deleted()
        listed = deleted if self._query.trash else agents
        fitting = self._query.fitting(listed)
        last_page = pages(len(fitting))
        if self._query.page > last_page:
            self._query = self._query.model_copy(update={"page": last_page})
        shown = self._query.shown(fitting)
        self._cards.set_content(self._trash_rows(shown) if self._query.trash else self._agent_cards(shown))
        self._show_toolbar(len(fitting), len(deleted))
        self._show_nothing(found=bool(fitting), any_at_all=bool(listed))
        self._show_pager(last_page)

    def _agent_cards(self, agents: list[Agent]) -> str:
        moment, week_of = now(), self._workbench.rows.week_of
        return tag("div", *(agent_card(agent, week_of(agent.id), moment) for agent in agents), cls="agent-grid")

    def _trash_rows(self, agents: list[Agent]) -> str:
        moment = now()
        return tag("ul", *(trash_row(agent, moment) for agent in agents), cls="session-list") if agents else ""

    def _show_toolbar(self, found: int, deleted: int) -> None:
        words = plural(found, "deleted agent" if self._query.trash else "agent")
        self._count.set_content(tag("span", words))
        self._trash.text = "Back to the agents" if self._query.trash else f"Trash ({deleted})"
        self._trash.visible = self._query.trash or deleted > 0

    def _show_nothing(self, *, found: bool, any_at_all: bool) -> None:
        self._nothing.clear()
        if found:
            return
        with self._nothing:
            if any_at_all:
                fits = f"Nothing matches “{head(self._query.text, 40)}”. Try fewer words."
                empty_state("search_off", "No agent fits", fits)
            elif self._query.trash:
                empty_state("delete_outline", "The Trash is empty", "Agents that are deleted can be restored here.")
            else:
                empty_state("smart_toy", "No agents", "Create one with “New agent”, or import one from a file.")

    def _show_pager(self, last_page: int) -> None:
        self._pager.visible = last_page > 1
        self._place.set_content(tag("span", f"Page {self._query.page:,} of {last_page:,}"))
        self._previous.set_enabled(self._query.page > 1)
        self._next.set_enabled(self._query.page < last_page)

    def _search_changed(self) -> None:
        self._ask(self._query.model_copy(update={"text": str(self._search.value or ""), "page": 1}))

    def _toggle_trash(self) -> None:
        self._ask(self._query.model_copy(update={"trash": not self._query.trash, "page": 1}))

    def _turn(self, by: int) -> None:
        self._ask(self._query.model_copy(update={"page": max(1, self._query.page + by)}))

    def _ask(self, query: AgentsQuery) -> None:
        """Show what another query finds, and let the address say it."""
        self._query = query
        self.show()
        ui.navigate.history.replace(self._query.address)
        # NiceGUI believes the page to stand at its first address still, and would not build it anew for that one.
        self._frame._reset_match()

    async def _create(self) -> None:
        agents = self._workbench.agents
        dialog = NewAgentDialog(self._workbench.templates(), others=agents.all, taken_slugs=agents.slugs)
        wish = await dialog.asked()
        if wish is None:
            return
        agent = wish.template.agent(agents.slugs(), wish.name)
        described = agent.model_copy(update={"description": wish.description})
        await self._add(described)

    async def _import(self, content: bytes) -> None:
        with problems_shown():
            agent = read_agent_file(content, self._workbench.agents.slugs())
            await self._add(agent)
            if agent.active_variant.behaviour.tools:
                wary = "Its tools are off, and its limits no wider than a new agent's, until you allow more."
                ui.notify(f"Imported “{head(agent.name, 40)}”. {wary}", timeout=6000)

    async def _add(self, agent: Agent) -> None:
        """Store a new agent and show its editor."""
        with problems_shown():
            await self._workbench.agents.create(agent)
            ui.navigate.to(agent_address(agent.slug))

    async def _act(self, action: str, agent_id: str) -> None:
        with problems_shown():
            await self._do(action, self._workbench.agents.get(agent_id))
        self.show()

    async def _do(self, action: str, agent: Agent) -> None:
        match action:
            case "talk":
                await start_session(self._workbench, agent.id)
            case "duplicate":
                await self._duplicate(agent)
            case "export":
                download_agent(agent)
            case "delete":
                await self._delete(agent)
            case "restore":
                await self._workbench.agents.restore(agent.id)
            case _:
                return

    async def _duplicate(self, agent: Agent) -> None:
        copy = await self._workbench.agents.create(duplicated(agent, self._workbench.agents.slugs()))

        async def take_back() -> None:
            await self._workbench.agents.delete(copy.id)
            self.show()

        self._undo.show(f"Created “{head(copy.name, 40)}”", take_back)

    async def _delete(self, agent: Agent) -> None:
        await self._workbench.agents.delete(agent.id)

        async def restore() -> None:
            await self._workbench.agents.restore(agent.id)
            self.show()

        self._undo.show(f"Deleted “{head(agent.name, 40)}”", restore)
