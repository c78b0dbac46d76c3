"""The app as a host of hostile views: a call opens one, and its server's page allows what may be allowed."""

import json
import re
import time
from pathlib import Path
from typing import Protocol

import httpx
from playwright.sync_api import Frame, Locator, Page, expect

from tests.app_process import AppProcess
from tests.hostile_views.hostile_view import HostileView

SECONDS = 30
"""For whatever a machine that does much else is slow with."""


class NotShown(Exception):
    """The view never came to run; the message says what the page said."""


class Host(Protocol):
    """What shows views to a person."""

    url: str

    def open(self, page: Page, view: HostileView) -> Frame:
        """The frame in which its script runs. Raises `NotShown`."""

    def agents(self) -> int:
        """How many there are: a view may not make one."""

    @property
    def log(self) -> str: ...


class Playground:
    """The running app."""

    def __init__(self, app: AppProcess) -> None:
        self._app = app
        self.url = app.url
        self._client = httpx.Client(
            base_url=f"{app.url}/api/v1", headers={"Authorization": f"Bearer {app.token}"}, timeout=SECONDS
        )

    def open(self, page: Page, view: HostileView) -> Frame:
        session = self.opened(f"hostile__{view.tool}") if not view.beside else self.opened("victim__notice")
        if view.beside:
            self.opened(f"hostile__{view.tool}", session)
        page.goto(f"{self.url}/playground")
        if view.csp is not None:
            allow_all(page, f"{self.url}/tools/server/hostile")
        page.goto(f"{self.url}/playground/{session}")
        shown = page.locator(f"[data-testid=mcp-app][data-tool$={view.tool}]")
        live = page.locator(f"[data-testid=mcp-app][data-tool$={view.tool}][data-state=live]")
        try:
            expect(shown).to_be_visible()
            if not view.hangs:
                expect(live).to_be_visible()
        except AssertionError:
            said = page.get_by_test_id("mcp-app-note").all_inner_texts()
            raise NotShown(f"{view.name} is not live: {said or 'no note'}") from None
        if view.leaves:  # it may be closed by now, for what it did
            return page.main_frame
        return inner_frame(page, shown)

    def opened(self, tool: str, session: str = "") -> str:
        """The session in which the model has called the tool."""
        message = {"message": json.dumps({"name": tool, "arguments": {}}), "agent": "host"}
        asked = self._client.post("/chat", json=message | ({"session": session} if session else {}))
        reply = asked.json()
        if not reply["success"]:
            raise NotShown(f"{tool} was not called: {asked.text[:300]}")
        return str(reply["data"]["session_id"])

    def agents(self) -> int:
        return int(self._client.get("/agents").raise_for_status().json()["count"])

    @property
    def log(self) -> str:
        return self._app.log


def inner_frame(page: Page, shown: Locator) -> Frame:
    """The view's own frame: the one in the sandbox page's, in the element."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        handle = shown.locator("iframe").first.element_handle()
        outer = handle.content_frame()
        if outer is not None and outer.child_frames:
            return outer.child_frames[0]
        page.wait_for_timeout(20)
    raise NotShown("there is no frame in the sandbox page")


def allow_all(page: Page, address: str) -> None:
    """Tick whatever domain the server's page offers, and save: nothing more can be allowed."""
    page.goto(address)
    consent = page.get_by_test_id("mcp-app-consent")
    expect(page.locator(".tool-heading-words [data-testid=server-status][data-status=ready]")).to_be_visible()
    if consent.count() == 0:
        return
    offered = consent.get_by_role("checkbox", name=re.compile("^(https?|wss?):"))
    for place in range(offered.count()):
        if not offered.nth(place).is_checked():
            offered.nth(place).click()
    save = page.get_by_test_id("mcp-app-allow-save")
    if save.count() and save.first.is_enabled():
        save.first.click()


def calls_in(file: Path) -> list[dict[str, object]]:
    """What reached the servers."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
