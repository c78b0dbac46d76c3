"""The looks of all pages: one style sheet, and the choice of light, dark or the system's."""

from functools import cache
from pathlib import Path

from nicegui import context, ui

from app.domain.settings import Theme

DARK: dict[Theme, bool | None] = {"light": False, "dark": True, "system": None}
"""What NiceGUI calls each theme."""
SHEETS = (
    "theme.css",
    "trace.css",
    "run.css",
    "panel.css",
    "agents.css",
    "compare.css",
    "tools.css",
    "attachments.css",
    "queue.css",
    "jobs.css",
    "export.css",
    "integrations.css",
    "settings.css",
    "setup.css",
    "code.css",
)


def apply(theme: Theme) -> ui.dark_mode:
    """Dress the page that is being built; the element that changes its theme later."""
    context.client.page.dark = DARK[theme]  # so that the very first paint is right
    ui.add_head_html(f"<style>{_styles()}</style>")
    return ui.dark_mode(DARK[theme])


@cache
def _styles() -> str:
    return "\n".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in SHEETS)
