"""An MCP server over stdio, without the MCP library: it brings the hostile views, or is their victim.

`python -m tests.hostile_views.server hostile|victim`, with `ELSEWHERE`, `APP_URL` and `CALLS`, the file where each
request that reaches it becomes a line of JSON, in its environment.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

from tests.hostile_views import VIEWS

MIME = "text/html;profile=mcp-app"
CALLS = Path(os.environ["CALLS"])
WORD = {"type": "object", "properties": {"word": {"type": "string"}}}
NOTICE = """<!doctype html><meta charset=utf-8><title>Notice</title><body><p id=said>waiting</p><script>
window.heard = []; window.forged = [];
addEventListener("message", ({ data, source }) => {
  if (source !== parent) return;  // as the views' own library does
  heard.push(data);
  if (JSON.stringify(data).includes("forged")) forged.push(data);
  if (data.method === "ui/notifications/tool-result") document.querySelector("#said").textContent = "shown";
  if (data.id === 1) parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/initialized", params: {} }, "*");
});
new BroadcastChannel("views").postMessage("a word of the other view");
parent.postMessage({ jsonrpc: "2.0", id: 1, method: "ui/initialize", params: { appInfo: { name: "Notice",
  version: "1" },
  appCapabilities: {}, protocolVersion: "2026-01-26" } }, "*");
</script>"""

writing = threading.Lock()


def tool(name: str, uri: str = "", *visibility: str) -> dict:
    ui = ({"resourceUri": uri} if uri else {}) | ({"visibility": list(visibility)} if visibility else {})
    return {"name": name, "description": f"Does {name}.", "inputSchema": WORD} | ({"_meta": {"ui": ui}} if ui else {})


def hostile_tools() -> list[dict]:
    plain = [tool(name) for name in ("touch", "guarded", "switched_off", "slow")]
    hidden = [tool("model_only", "", "model"), tool("app_only", "", "app")]
    return [*plain, *hidden, *(tool(view.tool, view.uri) for view in VIEWS)]


def victim_tools() -> list[dict]:
    return [tool("touch_other"), tool("notice", "ui://victim/notice"), tool("app_touch", "", "app")]


def content_of(uri: str) -> dict | None:
    if uri == "ui://victim/notice" and sys.argv[1] == "victim":
        return {"uri": uri, "mimeType": MIME, "text": NOTICE}
    for view in VIEWS:
        if view.uri == uri and sys.argv[1] == "hostile":
            text = view.document(elsewhere=os.environ["ELSEWHERE"], app=os.environ["APP_URL"])
            csp = json.loads(
                json.dumps(view.csp or {})
                .replace("{{elsewhere}}", os.environ["ELSEWHERE"])
                .replace("{{app}}", os.environ["APP_URL"])
            )
            meta = {"_meta": {"ui": {"csp": csp}}} if view.csp else {}
            return {"uri": uri, "mimeType": MIME, "text": text} | meta
    return None


def called(name: str, given: dict) -> dict:
    if name == "slow":
        time.sleep(0.4)
    text = f"{name} did {str(given.get('word', ''))[:100]}"
    dirty = json.loads('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}')
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"said": text, **dirty}, "_meta": dirty}


def kept(server: str, method: str, params: dict, *, ended: bool = False) -> None:
    line = {
        "server": server,
        "method": method,
        "name": str(params.get("name") or params.get("uri") or "")[:200],
        "word": str((params.get("arguments") or {}).get("word", ""))[:200] if method == "tools/call" else "",
        "at": time.time(),
        "ended": ended,
    }
    with writing, CALLS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def answer(request: dict) -> None:
    method, params = request["method"], request.get("params") or {}
    kept(sys.argv[1], method, params)
    reply: dict = {}
    match method:
        case "initialize":
            info = {"name": sys.argv[1], "version": "1"}
            reply = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": info,
            }
        case "tools/list":
            reply = {"tools": hostile_tools() if sys.argv[1] == "hostile" else victim_tools()}
        case "tools/call":
            reply = called(params["name"], params.get("arguments") or {})
        case "resources/list":
            reply = {"resources": []}
        case "resources/read":
            content = content_of(params["uri"])
            if content is None:
                send({"id": request["id"], "error": {"code": -32002, "message": "There is no such resource"}})
                return
            reply = {"contents": [content]}
    send({"id": request["id"], "result": reply})
    kept(sys.argv[1], method, params, ended=True)


def send(message: dict) -> None:
    with writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            threading.Thread(target=answer, args=(request,), daemon=True).start()
