"""What the command palette offers wherever one is: pages, agents, the newest sessions, tools, and things to begin."""

from collections.abc import Iterator
from functools import partial

from nicegui import ui

from app.domain.sessions import FoundSession
from app.domain.values import now
from app.ui.elements import addresses
from app.ui.elements.addresses import dataset_address, editor_address, session_address, tool_address
from app.ui.elements.format import ago
from app.ui.elements.new_session import UNTITLED, start_session
from app.ui.playground.session_rows import found_address, found_words
from app.ui.shell.navigation import LINKS
from app.ui.shell.palette import Command
from app.workbench import Workbench

NEWEST_SESSIONS = 30
MOST_FOUND = 20
BEGINNINGS = (
    ("Show running jobs", "pending_actions", f"{addresses.JOBS}?show=running"),
    ("New API key", "key", f"{addresses.INTEGRATIONS}?new=1"),
    ("New agent", "smart_toy", f"{addresses.AGENTS}?new=1"),
    ("New workflow", "account_tree", f"{addresses.BUILD}?new=1"),
    ("New dataset", "dataset", f"{addresses.EVALS}?new=1"),
)
"""Title, icon and address."""


def commands(workbench: Workbench) -> list[Command]:
    """All of it, in the order in which it is shown before somebody types."""
    return [
        *_pages(workbench),
        *_agents(workbench),
        *_sessions(workbench),
        *_editors(workbench),
        *_tools(workbench),
        *_datasets(workbench),
        Command("Actions", "New session", "add", partial(_new_session, workbench)),
        *(Command("Actions", title, symbol, _to(address)) for title, symbol, address in BEGINNINGS),
    ]


async def said(workbench: Workbench, query: str) -> list[Command]:
    """The sessions in which that was said, or that are called so, with the words where they were found."""
    page = await workbench.session_search.page(query, limit=MOST_FOUND)
    return [_found(one) for one in page.sessions]


def _found(found: FoundSession) -> Command:
    session = found.session
    words = found_words(found.excerpt) if found.excerpt else None
    to, when = _to(found_address(found)), ago(session.updated_at, now())
    return Command("Sessions", session.title or UNTITLED, "forum", to, when, words, key=session.id)


def _pages(workbench: Workbench) -> Iterator[Command]:
    shows_all = workbench.preferences.get().mode == "developer"
    for link in LINKS:
        if shows_all or not link.for_developers:
            yield Command("Pages", link.title, link.icon, _to(link.address))


def _agents(workbench: Workbench) -> Iterator[Command]:
    for agent in workbench.agents.all():
        begin = partial(start_session, workbench, agent.id)
        yield Command("Agents", agent.name, agent.icon, begin, "New session", key=agent.id)


def _sessions(workbench: Workbench) -> Iterator[Command]:
    for one in workbench.sessions.recent(limit=NEWEST_SESSIONS):
        when = ago(one.updated_at, now())
        yield Command("Sessions", one.title or UNTITLED, "forum", _to(session_address(one.id)), when, key=one.id)


def _editors(workbench: Workbench) -> Iterator[Command]:
    for agent in workbench.agents.all():
        yield Command("Edit", f"Edit {agent.name}", "edit_note", _to(editor_address(agent)), agent.slug, key=agent.id)


def _tools(workbench: Workbench) -> Iterator[Command]:
    for listed in workbench.tools.listed():
        name = listed.spec.name
        yield Command("Tools", listed.spec.title or name, listed.spec.icon, _to(tool_address(name)), name, key=name)


def _datasets(workbench: Workbench) -> Iterator[Command]:
    for one in workbench.datasets.all():
        yield Command("Datasets", one.name, "dataset", _to(dataset_address(one.slug)), one.slug, key=one.id)


async def _new_session(workbench: Workbench) -> None:
    """With the agent that was talked to last; without any session the landing offers the choice."""
    recent = workbench.sessions.recent(limit=NEWEST_SESSIONS)
    latest = max(recent, key=lambda one: one.updated_at, default=None)
    if latest is None:
        ui.navigate.to(addresses.LANDING)
    else:
        await start_session(workbench, latest.agent_id)


def _to(address: str) -> partial[None]:
    return partial(ui.navigate.to, address)
