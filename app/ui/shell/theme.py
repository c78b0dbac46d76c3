"""The looks of all pages: one style sheet, and the choice of light, dark or the system's."""

import json
import re
from functools import cache
from pathlib import Path

from nicegui import context, ui

from app.domain.settings import Theme

DARK: dict[Theme, bool | None] = {"light": False, "dark": True, "system": None}
"""What NiceGUI calls each theme."""
SHEETS = (
    "shell/theme.css",
    "charts/charts.css",
    "run/trace.css",
    "run/run.css",
    "overview/overview.css",
    "playground/panel.css",
    "playground/chat_list.css",
    "agents/agents.css",
    "build/build.css",
    "compare/compare.css",
    "evals/evals.css",
    "matrix/matrix.css",
    "review/review.css",
    "tools/tools.css",
    "conversation/attachments.css",
    "conversation/queue.css",
    "conversation/results.css",
    "apps/apps.css",
    "consent/consent.css",
    "runs/jobs.css",
    "monitoring/monitoring.css",
    "resources/resources.css",
    "runs/export.css",
    "integrations/integrations.css",
    "settings/settings.css",
    "setup/setup.css",
    "suggest/suggest.css",
    "markdown/code.css",
    "markdown/rich.css",
)


def apply(theme: Theme) -> None:
    """Dress the page that is being built.

    NiceGUI's own element for it says the theme again whenever it is drawn, and each time a browser styles all anew.
    """
    context.client.page.dark = DARK[theme]
    _dress_all_pages()


def change(theme: Theme) -> None:
    """Dress the page that is shown in another theme."""
    ui.run_javascript(f"setDark({json.dumps(DARK[theme])})")


@cache
def _dress_all_pages() -> None:
    """Once for all: each page would keep a copy of the style sheets for itself, of a quarter of a megabyte."""
    ui.add_head_html(f"<style>{styles()}</style>", shared=True)


def styles() -> str:
    """All style sheets, in ASCII: one sign beyond it, and each letter would take two bytes or four."""
    rooms = Path(__file__).parent.parent
    written = "\n".join((rooms / name).read_text(encoding="utf-8") for name in SHEETS)
    return re.sub(r"[^\x00-\x7f]", lambda sign: f"\\{ord(sign[0]):x} ", written)
