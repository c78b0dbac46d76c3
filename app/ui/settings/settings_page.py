"""What is set for the whole app, in sections with an index; and what the app is made of."""

import asyncio
import platform
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import Distribution, distributions

from nicegui import PageArguments, ui

from app.domain.settings import Theme
from app.store.keys.sign_ins import LIFETIME_DAYS, SIGN_OUT
from app.ui.elements.buttons import button
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.questions import agreed
from app.ui.settings.collector import CollectorSection
from app.ui.settings.data import data_section
from app.ui.settings.general import (
    AppearanceSection,
    DefaultModelSection,
    attachments_section,
    budgets_section,
    tool_share_section,
)
from app.ui.settings.providers import ProvidersSection
from app.workbench import Workbench

SECTIONS: dict[str, tuple[str, str]] = {
    "providers": ("Providers", "cloud"),
    "model": ("Default model", "memory"),
    "budgets": ("Budgets", "savings"),
    "tools": ("Tools", "build"),
    "attachments": ("Attachments", "attach_file"),
    "collector": ("Sent on", "outbound"),
    "data": ("Data", "folder"),
    "browsers": ("Browsers", "devices"),
    "appearance": ("Appearance", "palette"),
    "about": ("About", "info"),
}
_GO_TO = """(name) => {
  const section = document.getElementById('settings-' + name);
  if (!section) return;  // the page was left meanwhile
  const go = () => section.scrollIntoView({block: 'start'});
  section.querySelector('h2').focus({preventScroll: true});
  go();
  const grown = new ResizeObserver(go);  // what is above it is still being filled
  grown.observe(section.parentElement);
  const stay = () => grown.disconnect();
  for (const act of ['wheel', 'pointerdown', 'keydown']) addEventListener(act, stay, {once: true});
  setTimeout(stay, 10000);
}"""
_GO = f"""(event) => {{
  const link = event.target.closest('[data-section]');
  if (!link) return;
  event.preventDefault();
  ({_GO_TO})(link.dataset.section);
}}"""


class SettingsPage:
    """`/settings`; `?provider=` opens that provider's card, `?section=` goes to that section."""

    def __init__(
        self,
        workbench: Workbench,
        arguments: PageArguments,
        *,
        set_theme: Callable[[Theme], Awaitable[None]],
        turn_sound: Callable[[], Awaitable[None]],
    ) -> None:
        wanted = arguments.query_parameters.get("section", "")
        ui.page_title("Settings · Agent Playground")
        with ui.element("div").classes("page settings-page"):
            ui.html(tag("h1", "Settings", cls="page-title"), sanitize=False, tag="header")
            ui.html(index(), sanitize=False, tag="nav").classes("settings-index").props('aria-label="Sections"').on(
                "click", js_handler=_GO
            )
            with ui.element("div").classes("settings-sections"):
                with section("providers"):
                    self._providers = ProvidersSection(workbench, arguments.query_parameters.get("provider", ""))
                self._others: list[tuple[ui.element, Callable[[], object]]] = []
                for name, build in _others(workbench, set_theme, turn_sound).items():
                    with section(name) as place:
                        self._others.append((place, build))
        if wanted in SECTIONS:
            self._build_others()
            ui.run_javascript(f"({_GO_TO})('{wanted}')")
        else:
            ui.timer(0, self._build_others, once=True)

    async def fill(self) -> None:
        """Show what the page is opened for most; sections that nobody asked for come once that is seen."""
        await self._providers.fill()

    def _build_others(self) -> None:
        for place, build in self._others:
            with place:
                build()


def _others(
    workbench: Workbench, set_theme: Callable[[Theme], Awaitable[None]], turn_sound: Callable[[], Awaitable[None]]
) -> dict[str, Callable[[], object]]:
    """What builds each section below the providers."""
    preferences = workbench.preferences
    return {
        "model": partial(DefaultModelSection, workbench),
        "budgets": partial(budgets_section, workbench),
        "tools": partial(tool_share_section, workbench),
        "attachments": partial(attachments_section, workbench),
        "collector": partial(CollectorSection, workbench),
        "data": partial(data_section, workbench),
        "browsers": partial(BrowsersSection, workbench),
        "appearance": partial(AppearanceSection, preferences, set_theme=set_theme, turn_sound=turn_sound),
        "about": partial(AboutSection, workbench.version),
    }


@contextmanager
def section(name: str) -> Iterator[ui.element]:
    """A part of the page with its title."""
    title = SECTIONS[name][0]
    with ui.element("section").classes("panel settings-section") as place:
        place.props(f'id=settings-{name} aria-label="{title}" data-testid=settings-{name}')
        ui.html(title, sanitize=False, tag="h2").classes("section-title").props("tabindex=-1")
        yield place


def index() -> Html:
    return joined(
        *(
            tag("a", icon(symbol), title, href=f"#settings-{name}", data_section=name)
            for name, (title, symbol) in SECTIONS.items()
        )
    )


_SIGN_OUT_WORDS = (
    "Every other browser has to be opened anew, by the address that the app prints when it starts. This one goes on "
    "with a sign-in of its own. API keys stay as they are: revoke them in Integrations."
)
_SIGN_OUT = f"""(async () => {{
  const answer = await fetch('{SIGN_OUT}', {{method: 'POST'}});
  if (answer.ok) location.reload();
  else Quasar.Notify.create({{message: await answer.text(), type: 'negative', timeout: 0, closeBtn: 'Close'}});
}})()"""


class BrowsersSection:
    def __init__(self, workbench: Workbench) -> None:
        number = plural(workbench.sign_ins.number, "browser")
        words = f"{number} signed in. One that is not used for {LIFETIME_DAYS} days is signed out."
        ui.html(tag("p", words, cls="set-note", data_testid="signed-in-browsers"), sanitize=False)
        button("Sign everyone out…", self._ask, icon="logout", testid="sign-everyone-out")

    async def _ask(self) -> None:
        if await agreed("Sign everyone out?", _SIGN_OUT_WORDS, confirm="Sign everyone out"):
            ui.run_javascript(_SIGN_OUT)


_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Library:
    name: str
    version: str
    licence: str


KATEX = Library("KaTeX", "0.19.1", "MIT")
"""The only one that is no package of Python's: its files are among the assets."""


class AboutSection:
    def __init__(self, version: str) -> None:
        facts = (
            ("Version", version),
            ("Licence", "MIT"),
            ("Python", platform.python_version()),
            ("System", f"{platform.system()} {platform.release()} ({platform.machine()})"),
        )
        rows = (tag("div", tag("dt", name), tag("dd", value)) for name, value in facts)
        ui.html(tag("dl", *rows, cls="set-facts"), sanitize=False).props("data-testid=about")
        self._button = button("Show the libraries and their licences", self._show, testid="show-licences")
        self._libraries = ui.html(sanitize=False).props("role=status")

    async def _show(self) -> None:
        self._button.set_enabled(False)
        self._libraries.set_content(tag("p", "Looking…", cls="set-note"))
        found = await asyncio.to_thread(libraries)
        self._libraries.set_content(libraries_view(found))
        self._button.visible = False


def libraries() -> list[Library]:
    """All that comes along, by name; reading it takes a while."""
    found = {one.name.lower(): one for one in distributions() if one.name}
    return [*(Library(one.name, one.version, _licence(one)) for _, one in sorted(found.items())), KATEX]


def _licence(one: Distribution) -> str:
    """As its metadata says, in a few words."""
    about = one.metadata.json
    classifiers = about.get("classifier") or ()
    named = [line.rpartition("::")[2].strip() for line in classifiers if "License ::" in line]
    written = str(about.get("license_expression") or ", ".join(named) or about.get("license") or "")
    short = written.strip().split("\n")[0]
    return short if len(short) <= _LONGEST else short[: _LONGEST - 1] + "…"


def libraries_view(found: list[Library]) -> Html:
    if not found:
        return tag("p", "What they are is not known in this package of the app.", cls="set-note")
    rows = (
        tag("tr", tag("th", one.name, scope="row"), tag("td", one.version), tag("td", one.licence or "not named"))
        for one in found
    )
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in ("Library", "Version", "Licence"))))
    table = tag("table", head, tag("tbody", *rows), cls="licences", data_testid="licences")
    label = f"{len(found)} libraries with their licences"
    return tag("div", table, tabindex="0", role="region", aria_label=label, data_testid="licence-list")
