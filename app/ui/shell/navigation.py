"""The pages as the drawer names them, in their groups."""

from dataclasses import dataclass

from app.ui.elements import addresses
from app.ui.elements.addresses import OVERVIEW
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, joined, tag


@dataclass(frozen=True)
class NavLink:
    name: str
    title: str
    icon: str
    address: str
    for_developers: bool = False
    """Whether it is left out for those who chose to see less."""
    beside: str = ""
    """Another address below which are pages of it."""

    def leads_to(self, path: str) -> bool:
        """Whether the page at that path is one of it."""
        return path == self.address or any(path.startswith(f"{one}/") for one in (self.address, self.beside) if one)


GROUPS: dict[str, tuple[NavLink, ...]] = {
    "Workspace": (
        NavLink("overview", "Overview", "dashboard", addresses.OVERVIEW),
        NavLink("playground", "Playground", "forum", addresses.LANDING),
        NavLink("agents", "Agents", "smart_toy", addresses.AGENTS),
        NavLink("build", "Build", "account_tree", addresses.BUILD),
        NavLink("tools", "Tools", "build", addresses.TOOLS),
        NavLink("runs", "Runs", "receipt_long", addresses.RUNS),
        NavLink("compare", "Compare", "compare_arrows", addresses.COMPARE),
        NavLink("evals", "Evals", "fact_check", addresses.EVALS, beside="/experiments"),
    ),
    "System": (
        NavLink("monitoring", "Monitoring", "monitor_heart", addresses.MONITORING, for_developers=True),
        NavLink("resources", "Resources", "savings", addresses.RESOURCES),
        NavLink("jobs", "Jobs", "pending_actions", addresses.JOBS, for_developers=True),
        NavLink("settings", "Settings", "settings", addresses.SETTINGS),
    ),
    "Workflows": (
        NavLink("setup", "Setup guide", "rocket_launch", addresses.SETUP),
        NavLink("review", "Quick review", "rate_review", addresses.REVIEW),
        NavLink("matrix", "Matrix", "grid_on", addresses.MATRIX),
        NavLink("integrations", "Integrations", "hub", addresses.INTEGRATIONS),
    ),
}
"""By the title of the group; one without links is not shown."""
POINTED = """(event) => {
  const link = event.target.closest("a");
  if (link && !link.dataset.pointed) emit(link.pathname);
  if (link) link.dataset.pointed = "yes";
}"""
"""Tells the path of a link that somebody is about to follow, once."""
LINKS = tuple(link for links in GROUPS.values() for link in links)


@dataclass(frozen=True)
class NavCounts:
    """What goes on behind the pages."""

    waiting: int = 0
    """Runs that wait for a decision."""
    jobs: int = 0
    """Runs that go on in the background."""


def navigation(path: str, counts: NavCounts) -> Html:
    """All links; the one of the page at `path` is highlighted."""
    waiting = f"{plural(counts.waiting, 'run')} waiting for your decision"
    running = f"{plural(counts.jobs, 'run')} going on in the background"
    badges = {
        "overview": _badge(counts.waiting, waiting, "waiting-badge"),
        "jobs": _badge(counts.jobs, running, "jobs-badge", "nav-badge-running"),
    }
    parts: list[Html] = []
    for title, links in GROUPS.items():
        if links:
            parts.append(tag("h2", title))
        parts += (_nav_link(link, path, badges.get(link.name, Html(""))) for link in links)
    return joined(*parts)


def _nav_link(link: NavLink, path: str, badge: Html) -> Html:
    here = path.split("?", maxsplit=1)[0].rstrip("/") or OVERVIEW
    active = link.leads_to(here)
    return tag(
        "a",
        icon(link.icon),
        link.title,
        badge,
        href=link.address,
        cls=f"nav-link{' is-active' if active else ''}{' developer-only' if link.for_developers else ''}",
        data_key=link.name,
        data_testid=f"nav-{link.name}",
        aria_current="page" if active else None,
    )


def _badge(number: int, words: str, testid: str, look: str = "") -> Html:
    if not number:
        return Html("")
    cls = f"nav-badge {look}".strip()
    return tag("span", str(number), cls=cls, title=words, aria_label=words, data_testid=testid)
