"""What this app is, and the libraries it is made of with their licences."""

import asyncio
import platform
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions

from nicegui import ui

from app.ui.elements.buttons import button
from app.ui.elements.markup import Html, tag

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Library:
    name: str
    version: str
    licence: str


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
    return [Library(one.name, one.version, _licence(one)) for _, one in sorted(found.items())]


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
