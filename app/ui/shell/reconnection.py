"""A page that stood open for long: its browser was away, was signed out, or has pictures whose address expired."""

import json
import re

from nicegui import Client, events, ui

from app.workbench import Workbench

SIGNED_OUT = """<script>window.addEventListener("load", () => window.socket.on("connect_error", async () => {
  const answer = await fetch("/favicon.ico", {cache: "no-store"}).catch(() => null);
  if (answer?.status === 401) location.reload();  // to be told, where it would try to connect for ever
}));</script>"""
CUT_OFF = """<script>window.addEventListener("load", () => {
  const popup = document.getElementById("popup"); // NiceGUI's, which says that the connection is lost
  const tell = () => document.documentElement.classList.toggle("is-cut-off", popup.ariaHidden === "false");
  new MutationObserver(tell).observe(popup, { attributeFilter: ["aria-hidden"] });
  tell();
});</script>"""
# What is done before there is a connection would be tried every 10 ms, each event by itself and so in any order: the
# socket keeps it in its own. A page that was fetched ahead is not known to the app when it is connected, and waits.
IN_ORDER = """<script>{
  let shaken = false;
  Object.defineProperty(window, "did_handshake", {
    get: () => shaken || window.socket?.io.opts.query.implicit_handshake === true,
    set: (done) => { shaken = done; },
  });
}</script>"""
_SIGNED = re.compile(r"http://127\.0\.0\.1:\d+/[\w-]{43}/\d+/([0-9a-f]{64})")
# What an image says when it does not come rises no further than the image itself, so it is heard on its way down.
_ASK = """<script>document.addEventListener("error", ({ target }) => {
  if (target instanceof HTMLImageElement && /^http:\\/\\/127\\.0\\.0\\.1:/.test(target.src)) {
    emitEvent("picture_lost", target.src);
  }
}, true);</script>"""
_REPLACE = "document.querySelectorAll('img').forEach((one) => {{ if (one.src === {lost}) one.src = {fresh}; }})"


def newest_wins(client: Client) -> None:
    """Take out of what is repeated whatever is on its way anew; to be called whenever the browser is back.

    NiceGUI sends what changed meanwhile first and repeats what got lost after it, so that of an element in both the
    older state would stay. What is to be done with an element once it is changed is done with the newer state.
    """
    for _, kind, said in client.outbox.messages:
        if kind == "update":
            for element_id, element in client.outbox.updates.items():
                repeated = said.pop(element_id, None)
                if repeated and isinstance(element, ui.element):
                    element._update_method = repeated.get("update_method") or element._update_method


def renew_pictures(workbench: Workbench) -> None:
    """Give a picture of this tab that does not come any more a fresh address, unless it has the freshest already."""

    def renew(event: events.GenericEventArguments) -> None:
        lost = str(event.args)
        signed = _SIGNED.fullmatch(lost)
        if signed and (fresh := workbench.contents.picture(signed[1])) != lost:
            ui.run_javascript(_REPLACE.format(lost=json.dumps(lost), fresh=json.dumps(fresh)))

    ui.add_body_html(_ASK)
    ui.on("picture_lost", renew)
