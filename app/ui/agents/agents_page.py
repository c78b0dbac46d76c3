"""All agents as cards: found, created, duplicated, exported, imported, deleted and brought back."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Self

from nicegui import PageArguments, ui

from app.domain.agents import Agent, duplicated, model_words, tools_of
from app.domain.values import Value, now
from app.export.agent_file import read_agent_file
from app.ui.agents.agent_cards import agent_card, trash_row
from app.ui.agents.agent_dialog import NewAgentDialog
from app.ui.agents.agent_transfer import ImportButton, download_agent
from app.ui.elements.addresses import AGENTS, editor_address
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head, plural
from app.ui.elements.markup import joined, tag
from app.ui.elements.new_session import start_session
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.pager import Pager, address_with, counted, pages, say_address, stand_at
from app.ui.elements.undo_bar import UndoBar
from app.workbench import Workbench
from app.workbench.samples import SampleAgent

PAGE_SIZE = 24


class AgentsQuery(Value):
    """Words to look for and a page. What an address says wrongly is left out, never refused."""

    text: str = ""
    trash: bool = False
    """Show the deleted ones."""
    page: int = 1
    """Counts from 1."""
    base: str = AGENTS
    """The page's address without what is asked."""

    @classmethod
    def of(cls, parameters: Mapping[str, str], base: str = AGENTS) -> Self:
        """The query of an address."""
        return cls(
            base=base,
            text=parameters.get("q", "")[:200],
            trash=parameters.get("trash") == "1",
            page=counted(parameters.get("page", "")) or 1,
        )

    @property
    def address(self) -> str:
        """The address that says this; what is as usual is not mentioned."""
        said = {"q": self.text, "trash": "1" if self.trash else "", "page": "" if self.page == 1 else str(self.page)}
        return address_with(self.base, said)

    def fitting(self, agents: Sequence[Agent]) -> list[Agent]:
        """Those in which every word occurs: in name, slug, description or model."""
        words = self.text.casefold().split()
        return [agent for agent in agents if all(word in _text(agent) for word in words)]

    def shown(self, fitting: Sequence[Agent]) -> list[Agent]:
        """Those of this page."""
        start = (self.page - 1) * PAGE_SIZE
        return list(fitting[start : start + PAGE_SIZE])


def _text(agent: Agent) -> str:
    return f"{agent.name} {agent.slug} {agent.description} {model_words(agent.active_variant.behaviour)}".casefold()


class AgentsPage:
    """One element holds all cards of a page."""

    title = "Agents"
    lead = "What each agent is told, which model and tools it uses, and every variant of that."
    noun = "agent"
    base = AGENTS
    symbol = "smart_toy"

    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._frame = arguments.frame
        self._query = AgentsQuery.of(arguments.query_parameters, self.base)
        ui.page_title(f"{self.title} · Agent Playground")
        with ui.element("div").classes("page agents-page"):
            self._build_head()
            self._build_toolbar()
            self._cards = ui.html(sanitize=False).props(f"data-testid={self.noun}-list")
            on_click_of(self._cards, "action", self._act, along=("agent",), once=True)
            self._nothing = ui.element("div")
            self._pager = Pager(f"{self.noun}s", lambda page: self._ask(self._query.model_copy(update={"page": page})))
        self._undo = UndoBar()
        self.show()
        self._deleted_elsewhere(arguments.query_parameters.get("deleted", ""))
        if arguments.query_parameters.get("new") == "1":
            stand_at(self._frame, self._query.address)
            ui.timer(0, self._create, once=True)

    def _build_head(self) -> None:
        with ui.element("div").classes("toolbar agents-head"):
            heading = joined(tag("h1", self.title, cls="page-title"), tag("p", self.lead, cls="page-lead"))
            ui.html(heading, sanitize=False).classes("grow")
            ImportButton(self._import)
            new = f"New {self.noun}"
            button(new, self._create, look="primary", icon="add", testid=f"new-{self.noun}-button")

    def _build_toolbar(self) -> None:
        with ui.element("div").classes("toolbar"):
            self._search = ui.input(
                placeholder=f"Search {self.noun}s", value=self._query.text, on_change=self._search_changed
            )
            self._search.props("outlined dense clearable debounce=150").props["aria-label"] = f"Search {self.noun}s"
            self._search.classes("search").props("data-testid=agent-search")
            self._count = ui.html(sanitize=False).classes("muted grow").props("role=status data-testid=agents-count")
            self._trash = button(
                "Trash", self._toggle_trash, look="quiet", icon="delete_outline", testid="trash-button"
            )

    def show(self) -> None:
        """Show what the query finds now."""
        agents, deleted = (
            self._shown_here(self._workbench.agents.all()),
            self._shown_here(self._workbench.agents.deleted()),
        )
        listed = deleted if self._query.trash else agents
        fitting = self._query.fitting(listed)
        last_page = pages(len(fitting), PAGE_SIZE)
        if self._query.page > last_page:
            self._query = self._query.model_copy(update={"page": last_page})
        shown = self._query.shown(fitting)
        self._cards.set_content(self._trash_rows(shown) if self._query.trash else self._agent_cards(shown))
        self._show_toolbar(len(fitting), len(deleted))
        self._show_nothing(found=bool(fitting), any_at_all=bool(listed))
        self._pager.show(self._query.page, last_page)

    def _agent_cards(self, agents: list[Agent]) -> str:
        moment, week_of = now(), self._workbench.rows.week_of
        return tag("div", *(agent_card(agent, week_of(agent.id), moment) for agent in agents), cls="agent-grid")

    def _shown_here(self, agents: Sequence[Agent]) -> Sequence[Agent]:
        """Those of them that this page is about."""
        return agents

    def _trash_rows(self, agents: list[Agent]) -> str:
        moment = now()
        return tag("ul", *(trash_row(agent, moment) for agent in agents), cls="session-list") if agents else ""

    def _show_toolbar(self, found: int, deleted: int) -> None:
        words = plural(found, f"deleted {self.noun}" if self._query.trash else self.noun)
        self._count.set_content(tag("span", words))
        self._trash.text = f"Back to the {self.noun}s" if self._query.trash else f"Trash ({deleted})"
        self._trash.visible = self._query.trash or deleted > 0

    def _show_nothing(self, *, found: bool, any_at_all: bool) -> None:
        self._nothing.clear()
        if found:
            return
        with self._nothing:
            if any_at_all:
                fits = f"Nothing matches “{head(self._query.text, 40)}”. Try fewer words."
                empty_state("search_off", f"No {self.noun} fits", fits)
            elif self._query.trash:
                empty_state(
                    "delete_outline", "The Trash is empty", f"{self.title} that are deleted can be restored here."
                )
            else:
                words = f"Create one with “New {self.noun}”, or import one from a file."
                empty_state(self.symbol, f"No {self.noun}s", words)

    def _search_changed(self) -> None:
        self._ask(self._query.model_copy(update={"text": str(self._search.value or ""), "page": 1}))

    def _toggle_trash(self) -> None:
        self._ask(self._query.model_copy(update={"trash": not self._query.trash, "page": 1}))

    def _ask(self, query: AgentsQuery) -> None:
        """Show what another query finds, and let the address say it."""
        self._query = query
        self.show()
        say_address(self._frame, self._query.address)

    async def _create(self) -> None:
        agents = self._workbench.agents
        dialog = NewAgentDialog(self._templates(), others=agents.all, taken_slugs=agents.slugs, noun=self.noun)
        wish = await dialog.asked()
        if wish is None:
            return
        with problems_shown():
            template = await self._complete(wish.template)
            agent = template.agent(agents.slugs(), wish.name)
            await self._add(agent.model_copy(update={"description": wish.description}))

    async def _complete(self, template: SampleAgent) -> SampleAgent:
        """The template with all that it needs."""
        return template

    def _templates(self) -> Sequence[SampleAgent]:
        return self._workbench.templates()

    async def _import(self, content: bytes) -> None:
        with problems_shown():
            agent = await asyncio.to_thread(read_agent_file, content, self._workbench.agents.slugs())
            await self._add(agent)
            if tools_of(agent.active_variant.behaviour):
                wary = "Its tools are off, or ask, and its limits no wider than a new agent's, until you allow more."
                ui.notify(f"Imported “{head(agent.name, 40)}”. {wary}", timeout=6000)

    async def _add(self, agent: Agent) -> None:
        """Store a new agent and show its editor."""
        with problems_shown():
            await self._workbench.agents.create(agent)
            ui.navigate.to(editor_address(agent))

    async def _act(self, action: str, agent_id: str) -> None:
        with problems_shown():
            agent = self._workbench.agents.get(agent_id)
            match action:
                case "talk":
                    await start_session(self._workbench, agent.id)
                case "duplicate":
                    await self._duplicate(agent)
                case "export":
                    await download_agent(agent)
                case "delete":
                    await self._delete(agent)
                case "restore":
                    await self._workbench.agents.restore(agent.id)
        self.show()

    async def _duplicate(self, agent: Agent) -> None:
        copy = await self._workbench.agents.create(duplicated(agent, self._workbench.agents.slugs()))
        undo = partial(self._workbench.agents.delete, copy.id)
        self._undo.show(f"Created “{head(copy.name, 40)}”", undo, self.show)

    async def _delete(self, agent: Agent) -> None:
        await self._workbench.agents.delete(agent.id)
        self._offer_restoring(agent)

    def _deleted_elsewhere(self, agent_id: str) -> None:
        """Who deletes an agent on its own page comes here, and may think better of it."""
        agent = self._workbench.agents.find(agent_id)
        if agent is not None and agent.deleted_at is not None:
            self._offer_restoring(agent)
            stand_at(self._frame, self._query.address)

    def _offer_restoring(self, agent: Agent) -> None:
        undo = partial(self._workbench.agents.restore, agent.id)
        self._undo.show(f"Deleted “{head(agent.name, 40)}”", undo, self.show)
