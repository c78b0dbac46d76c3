"""Pictures whose address has expired while their page stood open."""

import json
import re

from nicegui import events, ui

from app.workbench import Workbench

_SIGNED = re.compile(r"http://127\.0\.0\.1:\d+/[\w-]{43}/\d+/([0-9a-f]{64})")
# What an image says when it does not come rises no further than the image itself, so it is heard on its way down.
_ASK = """<script>document.addEventListener("error", ({ target }) => {
  if (target instanceof HTMLImageElement && /^http:\\/\\/127\\.0\\.0\\.1:/.test(target.src)) {
    emitEvent("picture_lost", target.src);
  }
}, true);</script>"""
_REPLACE = "document.querySelectorAll('img').forEach((one) => {{ if (one.src === {lost}) one.src = {fresh}; }})"


def renew_pictures(workbench: Workbench) -> None:
    """Give a picture of this tab that does not come any more a fresh address, unless it has the freshest already."""

    def renew(event: events.GenericEventArguments) -> None:
        lost = str(event.args)
        signed = _SIGNED.fullmatch(lost)
        if signed and (fresh := workbench.contents.picture(signed[1])) != lost:
            ui.run_javascript(_REPLACE.format(lost=json.dumps(lost), fresh=json.dumps(fresh)))

    ui.add_body_html(_ASK)
    ui.on("picture_lost", renew)
