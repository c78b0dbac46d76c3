"""A host that holds nothing back: the view stands in its page, on its origin, and gets whatever it asks for.

What hostile views get here is what `trial.py` must be able to see.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from playwright.sync_api import Frame, Page, expect

from tests.hostile_views import VIEWS
from tests.hostile_views.hostile_view import HostileView

PAGE = """<!doctype html><meta charset=utf-8><title>Naive</title><style>iframe { width: 600px; height: 200px }</style>
<body><h1>Naive</h1><div data-testid="user-message">shown</div>
<div id=app data-testid="mcp-app" data-mode="inline" data-state="live"></div>
<input data-testid="chat-input"><button data-testid="send-button">Send</button><script>
const frame = document.createElement("iframe"), app = document.querySelector("#app"),
  draft = document.querySelector("input");
const merge = (into, from) => { for (const key of Object.keys(from ?? {}))
  if (from[key] && typeof from[key] === "object") merge(into[key] ??= {}, from[key]); else into[key] = from[key];
    return into; };
const show = (html) => { frame.srcdoc = html; };
addEventListener("message", async ({ data, source }) => {
  const { id, method, params } = data, all = params ?? {};
  merge({}, all);
  let result = {};
  switch (method) {
    case "ui/initialize": document.title = params.appInfo.name;
      app.append(Object.assign(document.createElement("span"), { innerHTML: params.appInfo.name }));
      result = { hostCapabilities: {}, hostContext: { address: location.href + "?token=secret" },
        protocolVersion: params.protocolVersion }; break;
    case "ui/notifications/sandbox-proxy-ready": case "ui/notifications/request-teardown":
      show(await (await fetch("/view" + location.pathname)).text()); return;
    case "ui/notifications/sandbox-resource-ready": show(params.html ?? ""); return;
    case "ui/notifications/size-changed": frame.style.height = params.height + "px";
      frame.style.width = params.width + "px"; return;
    case "ui/request-display-mode": app.dataset.mode = params.mode; app.style = "position:fixed;inset:0"; result = {
      mode: params.mode }; break;
    case "ui/open-link": window.open(params.url); break;
    case "ui/download-file": for (const one of params.contents) Object.assign(document.createElement("a"),
      { href: one.uri ?? "data:text/plain,x", download: "x" }).click(); break;
    case "ui/message": draft.value = [params.content].flat().map((one) => one.text ?? one).join("");
      document.body.append(Object.assign(document.createElement("div"), { innerHTML: draft.value }));
      document.body.lastChild.dataset.testid = "user-message"; break;
    case "ui/update-model-context": result = {}; break;
    case "ping": break;
    case "resources/read": case "tools/call": default:
      if (id === undefined) return;
      result = await (await fetch("/call", { method: "POST", body: JSON.stringify({ method: String(method),
        params: all }) })).json();
  }
  if (id !== undefined) source?.postMessage({ jsonrpc: "2.0", id, result }, "*");
});
(async () => { const html = await (await fetch("/view" + location.pathname)).text();
  app.append(frame); if (BESIDE) { const other = document.createElement("iframe"); other.id = "other";
    other.srcdoc = `<script>window.forged = [];
  onmessage = ({ data }) => JSON.stringify(data).includes("forged") &&
    forged.push(data)<\\/script>`; document.body.append(other); }
  show(html); })();
</script>"""


class NaiveHost:
    """Serves the page, on an origin where there is something to be had."""

    def __init__(self, calls: Path, elsewhere: str) -> None:
        self._server = _Server(calls, elsewhere)
        self.url = self._server.url
        self.log = ""

    def open(self, page: Page, view: HostileView) -> Frame:
        self._server.kept("hostile", "tools/call", {"name": view.tool})
        page.goto(f"{self.url}/a")
        page.goto(f"{self.url}/{view.name}")
        expect(page.get_by_test_id("mcp-app").locator("iframe")).to_be_visible()
        frame = page.locator("iframe").first.element_handle().content_frame()
        assert frame is not None
        return frame

    def agents(self) -> int:
        return self._server.agents


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, calls: Path, elsewhere: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls, self.elsewhere, self.agents = calls, elsewhere, 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self._writing = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: pages go in the middle of an answer."""

    def kept(self, server: str, method: str, params: dict, *, ended: bool = False) -> None:
        arguments = params.get("arguments")
        line = {
            "server": server,
            "method": method,
            "name": str(params.get("name", params.get("uri", ""))),
            "word": str(arguments.get("word", "")) if isinstance(arguments, dict) else "",
            "at": time.time(),
            "ended": ended,
        }
        with self._writing, self.calls.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/sw.js":
            return self._send("onconnect = ({ ports }) => ports[0].postMessage(1);", "text/javascript")
        if path.startswith("/view/"):
            view = next((one for one in VIEWS if one.name == path[6:]), None)
            return self._send(view.document(elsewhere=self.server.elsewhere, app=self.server.url) if view else "")
        beside = any(one.beside for one in VIEWS if f"/{one.name}" == path)
        return self._send(PAGE.replace("BESIDE", json.dumps(beside)))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.path != "/call":
            self.server.agents += 1
            return self._send("{}")
        asked = json.loads(body)
        params = asked["params"] if isinstance(asked["params"], dict) else {}
        server = "victim" if "other" in str(params) or "victim" in str(params) else "hostile"
        self.server.kept(server, asked["method"], params)
        time.sleep(0.4 * (params.get("name") == "slow"))
        self.server.kept(server, asked["method"], params, ended=True)
        if asked["method"] == "resources/read" and str(params.get("uri")).startswith("http"):
            urlopen(params["uri"]).close()
        return self._send(json.dumps({"content": [{"type": "text", "text": f"{params.get('name')} did it"}]}))

    def _send(self, body: str, kind: str = "text/html") -> None:
        data = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def naive_host(calls: Path, elsewhere: str) -> Iterator[NaiveHost]:
    host = NaiveHost(calls, elsewhere)
    try:
        yield host
    finally:
        host._server.shutdown()
        host._server.server_close()
