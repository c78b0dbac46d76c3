"""The command palette: pages, agents, sessions and actions behind one key, and all that was said in sessions."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from nicegui import events, ui

from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import keep_in_view
from app.ui.elements.markup import Html, icon, joined, tag

SHOWN = 40
BESIDE_FOUND = 12
SEARCH_SECONDS = 0.06
"""Rest of the typing before it is searched in what was said; titles are looked through at each letter."""
SHORTEST_SEARCHED = 2
"""Characters from which on it is searched in what was said."""


@dataclass(frozen=True)
class Command:
    group: str
    title: str
    icon: str
    run: Callable[[], object] | Callable[[], Awaitable[object]]
    hint: str = ""
    below: Html | None = None
    """What stands under its title, such as the words that were found."""
    key: str = ""
    """The same for two commands of a group that lead to the same thing; needed where two may have the same title."""

    @property
    def name(self) -> str:
        """What it is told apart by."""
        return f"{self.group}/{self.key or self.title}"


Found = Callable[[str], Awaitable[Sequence[Command]]]


def score(query: str, text: str) -> int | None:
    """How well `text` fits what was typed, smaller is better; `None` when the letters do not occur in this order."""
    wanted, given = query.casefold().strip(), text.casefold()
    if not wanted:
        return 0
    if (place := given.find(wanted)) >= 0:
        starts_word = place == 0 or not given[place - 1].isalnum()
        return place if starts_word else 50 + place
    gaps, place = 0, -1
    for letter in wanted.replace(" ", ""):
        found = given.find(letter, place + 1)
        if found < 0:
            return None
        gaps += found - place - 1
        place = found
    return 200 + gaps


def matching(commands: Sequence[Command], query: str, found: Sequence[Command] = ()) -> list[Command]:
    """The commands that fit best, by groups, the best group and in each the best first; without a query the first.

    Behind them those that a search has `found`; then the others are only the few that have what was typed in a piece.
    """
    if found:
        known = {command.key for command in found}
        commands = [
            one for one in commands if one.key not in known and query.casefold().strip() in one.title.casefold()
        ]
        return [*matching(commands, query)[:BESIDE_FOUND], *found]
    scored = [(score(query, command.title), index) for index, command in enumerate(commands)]
    best = sorted((value, index) for value, index in scored if value is not None)[:SHOWN]
    fitting = [commands[index] for _, index in best]
    groups = list(dict.fromkeys(command.group for command in fitting))
    return sorted(fitting, key=lambda command: groups.index(command.group))


class Palette:
    """A dialog over the page; a new one each time it is opened.

    So it knows the newest sessions, and one that still closes neither keeps the next one shut nor takes it along.
    """

    def __init__(self, commands: Callable[[], Sequence[Command]], search: Found) -> None:
        """`search` gives what is found in more than the titles."""
        self._commands = commands
        self._all: Sequence[Command] = ()
        self._search = search
        self._found: list[Command] = []
        self._chosen = 0
        self._query = ""
        self._place = ui.element().classes("hidden")
        self._dialog: ui.dialog | None = None
        self._list: ui.html | None = None

    def open(self) -> None:
        """Show it, or hide it when it is shown."""
        if self._dialog is not None and self._dialog.value:
            self._dialog.close()
            return
        self._gone()
        self._all = self._commands()
        with self._place, ui.dialog(value=True) as dialog:
            dialog.props('position=top transition-duration=80 no-route-dismiss aria-label="Search or jump to"')
            dialog.on("hide", self._gone)
            with ui.card().classes("palette").props("data-testid=command-palette") as card:
                card.on("vnodeMounted", js_handler=_FOCUS_ITS_BOX)
                self._build()
        self._dialog = dialog

    def _gone(self) -> None:
        if self._dialog is not None and not self._dialog.is_deleted:
            self._dialog.delete()
        self._dialog = None
        self._place.clear()

    def _build(self) -> None:
        box = ui.input(placeholder="Search pages, agents, actions and all that was said…", on_change=self._filter)
        box.props('borderless autofocus aria-label="Search or jump to" data-testid=palette-input')
        box.on("keydown", self._key, js_handler=_EMIT_KEY)
        self._list = (
            ui.html(sanitize=False).classes("palette-list").props('role=listbox tabindex=0 aria-label="Commands"')
        )
        on_click_of(self._list, "command", self._clicked)
        self._show("")

    async def _filter(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        if (query := event.value or "") != self._query:
            self._show(query)
            await asyncio.sleep(SEARCH_SECONDS)
            await self._show_found(query)

    async def _key(self, event: events.GenericEventArguments) -> None:
        """A key brings what is in the box: it may be pressed before the filter heard of the last letters."""
        key, query = (str(one) for one in event.args)
        if query != self._query:
            self._show(query)
        match key:
            case "ArrowDown":
                self._move(1)
            case "ArrowUp":
                self._move(-1)
            case _:
                if not self._found:
                    await self._show_found(query)
                await self._run_chosen()

    def _show(self, query: str) -> None:
        self._query = query
        self._found = matching(self._all, query)
        self._chosen = 0
        self._draw()

    async def _show_found(self, query: str) -> None:
        """Add what was said; the chosen command stays so."""
        if len(query.strip()) < SHORTEST_SEARCHED or query != self._query:
            return
        found = await self._search(query)
        if query != self._query or not found or self._dialog is None:
            return
        chosen = self._found[self._chosen] if self._chosen else None
        self._found = matching(self._all, query, found)
        self._chosen = next((place for place, one in enumerate(self._found) if chosen and one.name == chosen.name), 0)
        self._draw()

    def _move(self, by: int) -> None:
        if self._found:
            self._chosen = (self._chosen + by) % len(self._found)
            self._draw()
            if self._list is not None:
                keep_in_view(self._list, "[aria-selected=true]")

    def _draw(self) -> None:
        if self._list is not None:
            self._list.set_content(listed(self._found, self._chosen))

    async def _clicked(self, name: str) -> None:
        """By its name: the list may be another one by now than that which was clicked."""
        command = next((one for one in (*self._found, *self._all) if one.name == name), None)
        if command is not None:
            await self._run(command)

    async def _run_chosen(self) -> None:
        if self._found:
            await self._run(self._found[self._chosen])

    async def _run(self, command: Command) -> None:
        if self._dialog is not None:
            self._dialog.close()
        with self._place:  # what was clicked in it is gone once it has closed, however long the command takes
            outcome = command.run()
            if isinstance(outcome, Awaitable):
                await outcome


_FOCUS_ITS_BOX = "(card) => card.el.querySelector('input').focus({ preventScroll: true })"
"""As soon as it is drawn: a dialog focuses what is in it when it has come to rest, and until then letters are lost."""
_EMIT_KEY = """(event) => {
  if (event.isComposing || !["ArrowDown", "ArrowUp", "Enter"].includes(event.key)) return;
  event.preventDefault();
  emit([event.key, event.target.value]);
}"""


def listed(commands: Sequence[Command], chosen: int) -> Html:
    """The commands as a list, each group under its name."""
    if not commands:
        return tag("p", "Nothing fits. Try fewer letters.", cls="palette-item faint")
    parts: list[Html] = []
    group = ""
    for index, command in enumerate(commands):
        if command.group != group:
            group = command.group
            parts.append(tag("h3", group, role="presentation"))
        parts.append(_item(command, chosen=index == chosen))
    return joined(*parts)


def _item(command: Command, *, chosen: bool) -> Html:
    words = tag("span", command.below, cls="palette-found") if command.below else ""
    return tag(
        "div",
        icon(command.icon),
        tag("span", tag("span", command.title, cls="truncate"), words, cls="palette-words"),
        tag("span", command.hint, cls="faint"),
        cls="palette-item",
        role="option",
        data_command=command.name,
        aria_selected="true" if chosen else "false",
    )
