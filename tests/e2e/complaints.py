"""What a browser and the app's log complain about while a test goes on."""

import re

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, WebError

from tests.app_process import AppProcess

OURS = ("data:", "blob:", "about:")
SIGNED = re.compile(r"http://127\.0\.0\.1:\d+/[\w-]{43}/\d+/[0-9a-f]{64}(\?[\w.~%-]+)?")
"""An address of the origin beside the app's, from where pages show pictures."""
SANDBOX = re.compile(r"http://127\.0\.0\.1:\d+/app/[\w-]{43}(\?[\w.~%-]+)?")
"""One of that origin in which the view of an app is shut away."""

LOST = (
    "ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_CONTENT_LENGTH_MISMATCH|ERR_INCOMPLETE_CHUNKED_ENCODING|WebSocket|socket.io"
    "|Failed to fetch dynamically imported module"
)
"""What a page says whose app is killed or ended, also while the page is still loaded."""


class Complaints:
    """What went wrong on any page of a browser context and in the app's log, in words."""

    def __init__(self, context: BrowserContext, app: AppProcess) -> None:
        self._app = app
        self._log_before = len(app.log)
        self.heard: list[str] = []
        """Every complaint of the browser, expected or not."""
        self._expected: list[re.Pattern[str]] = []
        self._context = context
        context.on("console", self._console)
        context.on("weberror", self._weberror)
        context.on("request", self._request)

    def expect(self, pattern: str) -> None:
        """Complaints in which `pattern` is found belong to what this test does."""
        self._expected.append(re.compile(pattern))

    def all(self) -> list[str]:
        """The complaints nobody expected."""
        log = self._app.log[self._log_before :]
        heard = [*self.heard, *([f"log: {log}"] if "Traceback" in log else [])]
        return [complaint for complaint in heard if not any(known.search(complaint) for known in self._expected)]

    def stop(self) -> None:
        """Hear no more."""
        self._context.remove_listener("console", self._console)
        self._context.remove_listener("weberror", self._weberror)
        self._context.remove_listener("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.heard.append(f"console: {message.text} {message.location.get('url', '')}")

    def _weberror(self, error: WebError) -> None:
        self.heard.append(f"page: {error.error}")

    def _request(self, request: Request) -> None:
        known = SIGNED.fullmatch(request.url) or SANDBOX.fullmatch(request.url)
        if not request.url.startswith((self._app.url, *OURS)) and not known:
            self.heard.append(f"request off this origin: {request.url}")
