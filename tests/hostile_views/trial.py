"""One hostile view shown to a person: what it got, as it says itself and as is seen around it."""

import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import BrowserContext, Error, Frame, Page

from tests.hostile_views.hostile_view import HostileView
from tests.hostile_views.hosts import SECONDS, Host, NotShown, calls_in
from tests.view_servers.hands import press_on

OWN_WORDS = "My own words"
PER_SECOND = 26
"""Calls of a view that may arrive in any one second: 20, and what a second's edge cuts."""
AT_ONCE = 4
CONNECTED = "a connection"
"""What browsers do ahead of a frame that the policy then refuses; no request, which would say something, follows."""
FORBIDDEN = ("guarded", "switched_off", "model_only", "app_only", "touch_other", "app_touch")
FORBIDDEN_MODES = ("pip", "__proto__", "[object Object]", "FULLSCREEN")
HIGHEST = 660
"""Pixels of a view in the conversation, with its borders and head."""
SOURCE = re.compile(r"(https?|wss?)://(\*\.)?([a-z0-9-]+\.)+(?!local$)[a-z][a-z0-9-]*(:\d+)?")
"""What may stand in a policy beside keywords: one host with a name, which is not a number."""
KEYWORDS = ("'none'", "'self'", "'unsafe-inline'", "data:", "blob:")
TICKS = """() => new Promise((done) => {
  let ticks = 0;
  const timer = setInterval(() => { if (++ticks === 20) { clearInterval(timer); done(ticks); } }, 20);
})"""
SEEN = """() => {
  const found = [], app = document.querySelector("[data-testid=mcp-app]"), frame = app?.querySelector("iframe");
  if (window.hacked || ({}).polluted ||
    ({}).hacked) found.push("a script of its own ran in our page, or all objects changed");
  if (document.fullscreenElement) found.push("the whole screen");
  const markup = "img[onerror], [srcdoc*=hacked], a[href^='javascript:']";
  if (document.querySelector(markup)) found.push("its words became markup");
  if (document.title === "Hacked" ||
    document.body.textContent.includes("hacked" + "hacked")) found.push("our page changed");
  const box = frame?.getBoundingClientRect(), inline = app?.dataset.mode === "inline";
  if (box && inline && box.height > HIGHEST) found.push(`${Math.round(box.height)} pixels high`);
  if (box && inline && app.dataset.state === "live" &&
    box.height < 20) found.push(`${Math.round(box.height)} pixels high`);
  if (box && inline && box.right > innerWidth + 1) found.push("wider than the page");
  if (document.documentElement.scrollWidth > innerWidth + 1) found.push("the page scrolls sideways");
  for (const id of inline ? ["chat-input", "send-button", "approve-button", "app-ask-allow"] : ["approve-button",
    "app-ask-allow"])
    for (const one of document.querySelectorAll(`[data-testid=${id}]`)) {
      const at = one.getBoundingClientRect();
      if (!at.width || at.bottom > innerHeight || at.top < 0) continue;
      if (document.elementFromPoint(at.x + at.width / 2,
        at.y + at.height / 2)?.tagName === "IFRAME") found.push(`it lies over ${id}`);
    }
  const many = (id, most) => { const count = document.querySelectorAll(`[data-testid=${id}]`).length;
    if (count > most) found.push(`${count} times ${id}`); };
  many("app-ask", 1); many("approval-card", 4); many("user-message", USERS);
  return found;
}"""


@dataclass
class Outcome:
    """What became of one view."""

    view: HostileView
    untried: str = ""
    """Why it never came to try; then it says nothing that it got nothing."""
    got: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Around:
    """What there is around a view: lines, hits and characters by their number, and what must stay as it is."""

    calls: int
    hits: int
    log: int
    agents: int
    cookies: str


class Trial:
    """Shows views one after the other, each in a tab of its own."""

    def __init__(self, context: BrowserContext, host: Host, *, calls: Path, hits: list[str], elsewhere: str) -> None:
        self._context = context
        self._host = host
        self._calls = calls
        self._hits = hits
        self._elsewhere = elsewhere
        self._since = 0
        # Our own page has them all, so that nothing but the frame keeps them from the view.
        context.grant_permissions(["geolocation", "clipboard-read", "clipboard-write"], origin=host.url)

    def outcome(self, view: HostileView) -> Outcome:
        """What the view got while it was shown and after it was closed."""
        outcome = Outcome(view)
        before = self._now()
        self._since = before.calls
        pages = len(self._context.pages)
        page = self._context.new_page()
        self._listen(page, outcome)
        try:
            frame = self._host.open(page, view)
            self._try(page, frame, outcome)
        except NotShown as problem:
            outcome.untried = f"{problem}"
        outcome.got += [f"a window: {one.url}" for one in self._context.pages[pages + 1 :]]
        for tab in self._context.pages[pages:]:
            tab.close()
        outcome.got += self._left(view, before)
        outcome.got = list(dict.fromkeys(outcome.got))
        return outcome

    def _listen(self, page: Page, outcome: Outcome) -> None:
        def asked(dialog: object) -> None:
            outcome.got.append("a dialog of the browser")
            dialog.dismiss()  # type: ignore[attr-defined]

        page.on("dialog", asked)
        page.on("download", lambda download: outcome.got.append(f"a download: {download.url[:80]}"))
        page.on("response", lambda response: outcome.got.extend(policy_faults(response.headers)))

    def _try(self, page: Page, frame: Frame, outcome: Outcome) -> None:
        view, address = outcome.view, page.url
        if view.clicked:
            press_on(page)
        if view.name in ("keystrokes", "overwrites_the_draft"):
            page.get_by_test_id("chat-input").click()
            page.keyboard.type(OWN_WORDS, delay=40)
        try:
            self._wait_until_tried(page, frame, view)
        except Error as problem:
            if page.url == address:
                outcome.untried = f"it never came to its end: {problem.message[:200]}"
        if page.url != address:
            outcome.got.append(f"our page became {page.url}")
            return
        outcome.got += self._said(page, frame, view)
        outcome.got += self._looks(page, view)
        if view.hangs or view.name in ("does_not_go", "trap", "memory", "crowd"):
            outcome.got += stays(page)

    def _wait_until_tried(self, page: Page, frame: Frame, view: HostileView) -> None:
        if view.hangs or view.leaves:
            self._wait_for_its_call(page)
            page.wait_for_timeout(500 if view.hangs else 1500)
        else:
            until(page, lambda: frame.evaluate("window.tried"), "it never said that it is done")

    def _wait_for_its_call(self, page: Page) -> None:
        def begun() -> bool:
            return any(line["word"] == "begins" for line in calls_in(self._calls)[self._since :])

        until(page, begun, "it never said that it begins")

    def _said(self, page: Page, frame: Frame, view: HostileView) -> list[str]:
        """What it says itself, and the view beside it."""
        if view.hangs or view.leaves:
            return []
        try:
            won, broke = frame.evaluate("[window.won ?? null, window.broke ?? null]")
        except Error:
            won = broke = None
        if won is None:
            return ["another document in its place"]
        assert not broke, f"{view.name} is broken itself: {broke}"
        told = [str(words) for words in won]
        others = [one for one in page.frames if one.parent_frame and one != frame]
        if view.beside:
            told += [
                f"heard by the other view: {one}" for other in others for one in other.evaluate("window.forged ?? []")
            ]
        return told

    def _looks(self, page: Page, view: HostileView) -> list[str]:
        """What a person sees around it."""
        users = 2 if view.beside else 1
        found = list(page.evaluate(SEEN.replace("USERS", str(users)).replace("HIGHEST", str(HIGHEST))))
        for frame in page.frames[1:]:
            if frame.url.startswith((self._elsewhere, f"{self._host.url}/")) and frame.parent_frame is not None:
                found.append(f"a frame shows {frame.url}")
        draft = page.get_by_test_id("chat-input")
        if view.name in ("keystrokes", "overwrites_the_draft") and OWN_WORDS not in draft.input_value():
            found.append(f"the composer holds {draft.input_value()[:80]!r} in place of the person's words")
        app = page.locator("[data-testid=mcp-app]").last
        mode = app.get_attribute("data-mode") if app.count() else None
        if mode in FORBIDDEN_MODES or (mode == "fullscreen" and "fullscreen" not in str(dict(view.capabilities))):
            found.append(f"the mode {mode}")
        return found

    def _now(self) -> Around:
        cookies = sorted((one["name"], one["value"]) for one in self._context.cookies())
        calls, hits, log = len(calls_in(self._calls)), len(self._hits), len(self._host.log)
        return Around(calls, hits, log, self._host.agents(), str(cookies))

    def _left(self, view: HostileView, before: Around) -> list[str]:
        """What can be seen after it is gone."""
        after, log = self._now(), self._host.log[before.log :]
        hits = [hit for hit in self._hits[before.hits :] if hit != CONNECTED]
        found = [f"reached elsewhere: {hit}" for hit in hits]
        found += called_wrongly(view, calls_in(self._calls)[before.calls :])
        if after.cookies != before.cookies:
            found.append("cookies changed")
        if after.agents != before.agents:
            found.append("an agent was made")
        if "Traceback" in log:
            found.append(f"the app broke: {log[-600:]}")
        return found


def until(page: Page, condition: Callable[[], object], otherwise: str) -> None:
    """Wait for it, while the page's events are heard. Raises `Error`."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise Error(otherwise)
        page.wait_for_timeout(20)


def stays(page: Page) -> list[str]:
    """What is wrong with our page while the view does its worst, and with closing it."""
    began = time.monotonic()
    ticks = page.evaluate(TICKS)
    found = (
        []
        if time.monotonic() - began < 3 and ticks == 20
        else [f"our page stood still for {time.monotonic() - began:.1f} s"]
    )
    close = page.get_by_test_id("mcp-app-close").last
    if page.locator("[data-testid=mcp-app] iframe").count() == 0:
        return found  # it was closed for what it did
    try:
        close.click(timeout=5000)
        page.locator("[data-testid=mcp-app] iframe").first.wait_for(state="detached", timeout=5000)
    except Error as problem:
        found.append(f"it could not be closed: {problem.message.splitlines()[0]}")
    return found


def called_wrongly(view: HostileView, lines: list[dict[str, object]]) -> list[str]:
    """Calls that reached a server and should not have."""
    calls = [line for line in lines if line["method"] == "tools/call" and not line["ended"]]
    found = [f"called {line['name']}" for line in calls if line["name"] in FORBIDDEN]
    found += [f"called {line['name']} {line['word']}" for line in calls if str(line["word"]).startswith("by ")]
    opened = Counter(str(line["name"]) for line in calls)
    if opened[view.tool] != 1 or opened["notice"] != int(view.beside):
        found.append(f"{view.tool} was called {opened[view.tool]} times, notice {opened['notice']}")
    if not view.beside and any(line["server"] == "victim" and line["method"] == "resources/read" for line in lines):
        found.append("another server was asked for a resource")
    moments = sorted(float(str(line["at"])) for line in calls)
    most = max((sum(1 for other in moments if one <= other < one + 1) for one in moments), default=0)
    if most > PER_SECOND:
        found.append(f"{most} calls in a second")
    at_once = 0
    for line in lines:
        if line["name"] == "slow":
            at_once += -1 if line["ended"] else 1
            if at_once > AT_ONCE:
                found.append("more than 4 calls at once")
    return found


def policy_faults(headers: dict[str, str]) -> list[str]:
    """What is wrong with the policy of the sandbox page; of no other response."""
    policy = headers.get("content-security-policy", "")
    if "x-hostile" in headers:
        return ["a header of its own"]
    if "object-src 'none'" not in policy or "frame-ancestors http" not in policy:
        return []
    found = []
    for directive in policy.split(";"):
        name, *sources = directive.split()
        if name.endswith("-src") or name == "base-uri":
            found += [f"{name} {one}" for one in sources if one not in KEYWORDS and not SOURCE.fullmatch(one)]
    return found
