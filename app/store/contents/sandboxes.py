"""The pages that views of MCP Apps are shown in: an address that nobody can make up for each, with its own policy."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from app.domain.apps import Domains, content_policy
from app.domain.errors import NotFound

PLACE = "/app/"
REPORTED = "/reported"
MOST_PAGES = 2_000
"""Newest addresses that hold; an older one is made again when its page is loaded again."""
MOST_REPORTS = 20
"""Of one page."""
LONGEST_REPORT = 200
"""Characters."""


@dataclass
class Sandbox:
    """A page that shows one view."""

    page: str
    """The origin whose pages may frame it and talk to it."""
    policy: str
    """Its Content-Security-Policy."""
    clipboard: bool
    """Whether the view may write to the clipboard."""
    reports: list[str] = field(default_factory=list)
    """What the policy kept the view from, in words."""


class Sandboxes:
    """`origin` is asked before each address, so that it can open when it is first needed."""

    def __init__(self, origin: Callable[[], str] = str) -> None:
        self._origin = origin
        self._pages: OrderedDict[str, Sandbox] = OrderedDict()

    def address(self, domains: Domains, *, page: str, clipboard: bool = False, evaluates: bool = False) -> str:
        """Where a view that may reach these domains is shown, for pages of that origin."""
        path = PLACE + secrets.token_urlsafe(32)
        policy = content_policy(domains, page=page, report=path + REPORTED, evaluates=evaluates)
        self._pages[path] = Sandbox(page, policy, clipboard)
        while len(self._pages) > MOST_PAGES:
            self._pages.popitem(last=False)
        return self._origin() + path

    def get(self, path: str) -> Sandbox:
        """The page at that path; raises `NotFound` for what was not given out since the app was started."""
        if (found := self._pages.get(path)) is None:
            raise NotFound("This address of an app was not given out since the app was started.")
        return found

    def reports(self, address: str) -> tuple[str, ...]:
        """What the policy of the page at that address kept its view from."""
        found = self._pages.get(PLACE + address.rpartition(PLACE)[2])
        return tuple(found.reports) if found else ()

    def report(self, path: str, words: str) -> None:
        """Remember that the policy kept the view from something, once; raises `NotFound`."""
        reports, words = self.get(path.removesuffix(REPORTED)).reports, words[:LONGEST_REPORT]
        if words not in reports and len(reports) < MOST_REPORTS:
            reports.append(words)
