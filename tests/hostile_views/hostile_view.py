"""What a hostile view is: a script with what it tries, and the document around it that tells what it got."""

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

ELSEWHERE = "{{elsewhere}}"
"""In a script, markup or domain: another origin on this machine, which counts who comes."""
APP = "{{app}}"
"""In those: the app's own origin."""
PREPARED = """
const ELSEWHERE = "{{elsewhere}}", APP = "{{app}}", AGAIN = window.name === "again";
const won = window.won = [], heard = [], waiting = new Map();
window.tried = false;
let lastId = 0;
const got = (words) => { if (won.length < 40) won.push(String(words).slice(0, 300)); };
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const tell = (message, to = parent) => to.postMessage({ jsonrpc: "2.0", ...message }, "*");
const note = (method, params) => tell({ method, params });
const ask = (method, params, ms = 2500, id = ++lastId) => new Promise((done) => {
  waiting.set(id, done);
  setTimeout(() => done({ silent: true }), ms);
  tell({ id, method, params });
});
const call = (name, given = {}, ms) => ask("tools/call", { name, arguments: given }, ms);
const answered = (reply) => reply.result !== undefined && !reply.result?.isError;
const attempt = async (what, way) => {
  try { const found = await way(); if (found) got(`${what}: ${found}`); } catch { /* refused */ }
};
const soon = (promise, ms = 1500) => Promise.race([promise, rest(ms).then(() => undefined)]);
const add = (tag, having = {}) => document.body.appendChild(Object.assign(document.createElement(tag), having));
addEventListener("message", ({ data, source }) => {
  heard.push(data);
  if (source === parent && data && !data.method && waiting.has(data.id)) waiting.get(data.id)(data);
});
"""
RUNS = """
(async () => {
  const params = { appInfo: { name: "Hostile", version: "1" }, appCapabilities: {{capabilities}},
    protocolVersion: "2026-01-26" };
  window.welcome = await ask("ui/initialize", params, 20000);
  note("ui/notifications/initialized", {});
  if ({{clicked}}) await new Promise((done) => addEventListener("click", done, { once: true }));
  if ({{begins}}) await call("touch", { word: "begins" });
  try { await hostile(); } catch (error) { window.broke = `${error}`; }
  await rest({{settles}});
  window.tried = true;
})();
"""


@dataclass(frozen=True)
class HostileView:
    """A view, and what it tries. Its tool is `try_NAME`."""

    name: str
    tries: str
    script: str
    """The body of an async function; it says `got(…)`, or does what `Trial` sees from outside."""
    markup: str = ""
    """Before the script."""
    csp: Mapping[str, JsonValue] | None = None
    """`_meta.ui.csp` of its resource; all of it that the page offers is allowed."""
    capabilities: Mapping[str, JsonValue] = field(default_factory=dict)
    clicked: bool = False
    """It waits for a person's click."""
    leaves: bool = False
    """It may become another document, so it has tried once it runs."""
    hangs: bool = False
    """It is never done: it has tried as soon as it runs."""
    beside: bool = False
    """It needs the view of another server in the same conversation."""
    settles: int = 400
    """Milliseconds in which what it did can be seen."""
    guarded: bool = False
    """Whether a person looks at a question of its own while it is tried."""

    @property
    def tool(self) -> str:
        return f"try_{self.name}"

    @property
    def uri(self) -> str:
        return f"ui://hostile/{self.name}"

    def document(self, *, elsewhere: str, app: str) -> str:
        """Its HTML, with those addresses in it."""
        runs = RUNS.replace("{{capabilities}}", json.dumps(dict(self.capabilities)))
        runs = runs.replace("{{clicked}}", json.dumps(self.clicked)).replace("{{settles}}", str(self.settles))
        runs = runs.replace("{{begins}}", json.dumps(self.hangs or self.leaves))
        script = f"{PREPARED}\nconst hostile = async () => {{\n{self.script}\n}};\n{runs}"
        title = html.escape(self.tries)
        page = f"<!doctype html><meta charset=utf-8><title>{title}</title><body><p>{title}</p>{self.markup}"
        return addressed(f"{page}<script>{script}</script>", elsewhere=elsewhere, app=app)


def addressed(text: str, *, elsewhere: str, app: str) -> str:
    """With the two addresses in their places."""
    return text.replace(ELSEWHERE, elsewhere).replace(APP, app)
