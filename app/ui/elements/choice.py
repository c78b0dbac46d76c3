"""A few buttons beside one another, of which one is pressed; and a box, where there may be many to choose from."""

from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Generic, TypeVar

from nicegui import ui

from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import refocus
from app.ui.elements.markup import Html, joined, tag

MANY = 12
"""More than these in a box are searched by typing."""

Name = TypeVar("Name", bound=str)


class Choice(ui.html, Generic[Name]):
    """`on_choose` gets the name of the button that was clicked; it is pressed once `show` says so."""

    def __init__(
        self,
        choices: Sequence[tuple[Name, str]],
        on_choose: Callable[[Name], object],
        *,
        label: str,
        testid: str,
        look: str = "segmented",
    ) -> None:
        """Each choice is a name and its words; in `testid`, `{}` stands for the name."""
        super().__init__(sanitize=False)
        self.classes(look).props(f'role=group aria-label="{label}"')
        self._choices = tuple(choices)
        self._on_choose = on_choose
        self._testid = testid
        on_click_of(self, "choice", self._clicked)

    def show(self, chosen: Name) -> None:
        """Show that one as pressed."""
        self.set_content(choice_buttons(self._choices, chosen, testid=self._testid))

    async def _clicked(self, wanted: str) -> None:
        for name, _ in self._choices:
            if name == wanted:
                done = self._on_choose(name)
                if isawaitable(done):
                    await done
        if not self.is_deleted:
            refocus(self, "[aria-pressed=true]")


def choice_buttons(choices: Sequence[tuple[str, str]], chosen: str, *, testid: str) -> Html:
    """The buttons as markup: a click on one is heard as its `data-choice`."""
    return joined(
        *(
            tag(
                "button",
                words,
                data_choice=name,
                data_testid=testid.format(name),
                aria_pressed="true" if name == chosen else "false",
            )
            for name, words in choices
        )
    )


def choice_box(names: Mapping[str, str], chosen: str, *, label: str, testid: str, cls: str = "fill") -> ui.select:
    """A box with these names, each by the value that it has when that is chosen."""
    box = ui.select({}, label=label, with_input=len(names) > MANY).classes(cls)
    box.props(f"outlined dense options-dense data-testid={testid}")
    return box.set_options(dict(names), value=chosen)  # last: it goes through all whenever anything of it changes
