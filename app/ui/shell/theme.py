"""The looks of all pages: one style sheet, and the choice of light, dark or the system's."""

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


def apply(theme: Theme) -> ui.dark_mode:
    """Dress the page that is being built; the element that changes its theme later."""
    context.client.page.dark = DARK[theme]  # so that the very first paint is right
    ui.add_head_html(f"<style>{_styles()}</style>")
    return ui.dark_mode(DARK[theme])


@cache
def _styles() -> str:
    rooms = Path(__file__).parent.parent
    return "\n".join((rooms / name).read_text(encoding="utf-8") for name in SHEETS)
