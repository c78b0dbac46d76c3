"""What is set for the whole app, in sections with an index."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from nicegui import PageArguments, ui

from app.domain.settings import Theme
from app.ui.components.settings_about import AboutSection
from app.ui.components.settings_data import data_section
from app.ui.components.settings_general import AppearanceSection, DefaultModelSection, budgets_section
from app.ui.components.settings_providers import ProvidersSection
from app.ui.markup import Html, icon, joined, tag
from app.workbench import Workbench

SECTIONS: dict[str, tuple[str, str]] = {
    "providers": ("Providers", "cloud"),
    "model": ("Default model", "memory"),
    "budgets": ("Budgets", "savings"),
    "data": ("Data", "folder"),
    "appearance": ("Appearance", "palette"),
    "about": ("About", "info"),
}
_GO = """(event) => {
  const link = event.target.closest('[data-section]');
  if (!link) return;
  event.preventDefault();
  const section = document.getElementById('settings-' + link.dataset.section);
  section.scrollIntoView({block: 'start'});
  section.querySelector('h2').focus({preventScroll: true});
}"""


class SettingsPage:
    """`/settings`; `?provider=` opens that provider's card."""

    def __init__(
        self,
        workbench: Workbench,
        arguments: PageArguments,
        *,
        set_theme: Callable[[Theme], Awaitable[None]],
        turn_sound: Callable[[], Awaitable[None]],
    ) -> None:
        ui.page_title("Settings · Agent Playground")
        with ui.element("div").classes("page settings-page"):
            ui.html(tag("h1", "Settings", cls="page-title"), sanitize=False, tag="header")
            ui.html(index(), sanitize=False, tag="nav").classes("settings-index").props('aria-label="Sections"').on(
                "click", js_handler=_GO
            )
            with ui.element("div").classes("settings-sections"):
                with section("providers"):
                    ProvidersSection(workbench, arguments.query_parameters.get("provider", ""))
                with section("model"):
                    DefaultModelSection(workbench)
                with section("budgets"):
                    budgets_section(workbench)
                with section("data"):
                    data_section(workbench)
                with section("appearance"):
                    AppearanceSection(workbench.preferences, set_theme=set_theme, turn_sound=turn_sound)
                with section("about"):
                    AboutSection(workbench.version)


@contextmanager
def section(name: str) -> Iterator[None]:
    """A part of the page with its title."""
    title = SECTIONS[name][0]
    with ui.element("section").classes("panel settings-section") as place:
        place.props(f'id=settings-{name} aria-label="{title}" data-testid=settings-{name}')
        ui.html(title, sanitize=False, tag="h2").classes("section-title").props("tabindex=-1")
        yield


def index() -> Html:
    return joined(
        *(
            tag("a", icon(symbol), title, href=f"#settings-{name}", data_section=name)
            for name, (title, symbol) in SECTIONS.items()
        )
    )
