"""How much the pages show: User leaves out what is for developers, and one click brings it back."""

from nicegui import ui

from app.domain.settings import Mode
from app.store.records.tables import PreferencesStore
from app.ui.elements.addresses import SETTINGS
from app.ui.elements.buttons import button
from app.ui.elements.choice import Choice
from app.ui.elements.markup import icon, tag
from app.ui.elements.notices import problems_shown

MODES: tuple[tuple[Mode, str], ...] = (("user", "User"), ("developer", "Developer"))
MODE_WORDS = (
    "User keeps to what it takes to talk to agents and to write their prompts: no raw data, no technical names and "
    "limits. Developer shows all. Nothing is lost by changing it."
)
APPEARANCE = f"{SETTINGS}?section=appearance"
_SHOW = "document.documentElement.classList.toggle('mode-user', %s)"


async def choose_mode(preferences: PreferencesStore, mode: Mode) -> None:
    """Keep that mode and show this tab in it; tells a person where that could not be stored."""
    with problems_shown():
        await preferences.save(preferences.get().model_copy(update={"mode": mode}))
        ui.run_javascript(_SHOW % ("true" if mode == "user" else "false"))


class ModeChoice(Choice[Mode]):
    """The two of them beside one another."""

    def __init__(self, preferences: PreferencesStore, *, testid: str) -> None:
        super().__init__(MODES, self._chosen, label="Mode", testid=testid, look="theme-switch")
        self._preferences = preferences
        self.show(preferences.get().mode)

    async def _chosen(self, mode: Mode) -> None:
        await choose_mode(self._preferences, mode)
        self.show(self._preferences.get().mode)


def show_all_button(preferences: PreferencesStore, *, testid: str) -> None:
    """The way back to Developer; there in User mode only."""

    async def show_all() -> None:
        await choose_mode(preferences, "developer")
        ui.notify("Everything is shown now. Settings, Appearance leads back to User mode.", timeout=5000)

    made = button("Show all", show_all, look="quiet", icon="visibility", testid=testid)
    made.classes("show-all").props('title="User mode hides what is for developers: show it"')


def developer_note() -> None:
    """A line that only User mode shows, on a page that is opened by its address; what it stands above is shown too."""
    change = tag("a", "Change the mode in Settings", href=APPEARANCE)
    words = tag("span", "This is for developers, and User mode leaves it out of the navigation. ", change)
    ui.html(tag("p", icon("visibility_off"), words, cls="set-said"), sanitize=False).classes("user-only").props(
        "data-testid=developer-note"
    )
