"""The page of the second origin that shows the view of an MCP App, and hears what its policy kept it from.

Between our page and the view stands this one: it hands on what both say, and adds only that Escape was pressed. The
view is in a frame of no origin inside, so it can read neither this page nor what any other view has stored. `srcdoc`
inherits the policy.
"""

import json
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.store.contents.sandboxes import Sandbox

LARGEST_REPORT = 16 * 1024
"""Bytes."""
MOST_MESSAGES = 300
"""That the view may send in a second; more are dropped here, before they reach our page."""

FIRST = """<script>addEventListener("keydown", (event) => {
  if (event.isTrusted && event.key === "Escape" && !event.isComposing) parent.postMessage("escape", "*");
}, true);
document.currentScript.remove();</script>"""
"""What each view begins with: no page hears the keys of a frame, and Escape is everybody's way out of one."""

PAGE = """<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>App</title>
<style>:root{color-scheme:light dark}
html,body,iframe{border:0;display:block;height:100%%;margin:0;width:100%%}body{overflow:hidden}</style>
<body><script>{
const PAGE = %(page)s, MOST = %(most)d, FIRST = %(first)s;
let view, second = 0, said = 0;
addEventListener("message", (event) => {
  if (event.source === parent && event.origin === PAGE) {
    const told = event.data;
    if (told.method !== "ui/notifications/sandbox-resource-ready") view?.contentWindow.postMessage(told, "*");
    else if (!view) show(told.params.html);
  } else if (view && event.source === view.contentWindow) {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) [second, said] = [now, 0];
    if ((said += 1) > MOST) return;
    const told = event.data;
    if (told === "escape") parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-escape" }, PAGE);
    if (told?.jsonrpc !== "2.0" || String(told.method ?? "").startsWith("ui/notifications/sandbox-")) return;
    parent.postMessage(told, PAGE);
  }
});
const show = (html) => {
  view = document.createElement("iframe");
  view.setAttribute("sandbox", "allow-scripts allow-forms");
  view.setAttribute("allow", %(allow)s);
  view.title = "App";
  view.srcdoc = FIRST + html; // which no doctype has to begin
  document.body.append(view);
};
parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, PAGE);
}</script>"""


def sandbox_page(sandbox: Sandbox) -> Response:
    """The page, under the policy of its view."""
    values = {
        "page": json.dumps(sandbox.page),
        "most": MOST_MESSAGES,
        "first": json.dumps(FIRST).replace("</", "<\\/"),
        "allow": json.dumps("clipboard-write *" if sandbox.clipboard else ""),
    }
    headers = {
        "Content-Security-Policy": sandbox.policy,
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-DNS-Prefetch-Control": "off",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), display-capture=(), payment=(), usb=()",
        "Cache-Control": "private, no-store",
    }
    return HTMLResponse(PAGE % values, headers=headers)


async def reported(request: Request) -> str:
    """What the browser says that the policy kept the view from, in words; empty for what is no such report."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_REPORT:
            return ""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    report = said.get("csp-report") if isinstance(said, dict) else None
    return _in_words(report) if isinstance(report, dict) else ""


def _in_words(report: Mapping[str, object]) -> str:
    blocked, rule = str(report.get("blocked-uri", ""))[:120], str(report.get("effective-directive", ""))[:40]
    return f"{blocked or 'something'} ({rule})"
