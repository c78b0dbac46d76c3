"""The settings beside the providers: the model of new agents, what may be spent, looks and sounds."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from app.domain.errors import WorkbenchError
from app.domain.settings import Theme
from app.store.records.tables import PreferencesStore
from app.ui.elements.addresses import RESOURCES, TOOL_SOURCES
from app.ui.elements.buttons import button
from app.ui.elements.choice import Choice
from app.ui.elements.editor_numbers import PreferenceForm, ceilings
from app.ui.elements.format import dollars
from app.ui.elements.markup import joined, tag
from app.ui.elements.model_options import card_words
from app.ui.elements.model_picker import ModelPicker
from app.ui.elements.modes import MODE_WORDS, ModeChoice
from app.ui.elements.notices import notify
from app.workbench import Workbench

DEMO = "demo/agent"
THEMES: tuple[tuple[Theme, str], ...] = (("light", "Light"), ("dark", "Dark"), ("system", "As the system"))


class DefaultModelSection:
    """What new agents ask; those there are keep theirs."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        chosen = workbench.preferences.get().default_model
        ui.label("What a new agent asks, until another model is chosen for it. Existing agents keep theirs.").classes(
            "set-note"
        )
        with ui.element("div").classes("row-line set-model"):
            self._picker = ModelPicker(
                *(workbench, chosen or DEMO, self._choose),
                reset=f"As its template says: {DEMO}",
                testid="default-model",
            )
            self._facts = ui.html(sanitize=False).classes("set-note").props("role=status")
        ui.timer(0, self._show, once=True)

    async def _choose(self, model: str | None) -> None:
        if await saved(self._workbench.preferences, default_model=model or ""):
            await self._show()

    async def _show(self) -> None:
        name = self._workbench.preferences.get().default_model or DEMO
        trouble = await self._workbench.choices.trouble(name)
        if self._facts.is_deleted:  # its page was left
            return
        self._picker.show(name, trouble=trouble)
        words = trouble or card_words(self._workbench.catalog.card(name))
        self._facts.set_content(tag("span", words, cls="is-warn" if trouble else None))


def budgets_section(workbench: Workbench) -> None:
    """The ceilings of a day and a month, and where the others are."""
    ceilings(workbench.preferences)
    spent = ui.html(sanitize=False).props("role=status data-testid=spent-today")

    def show_spent() -> None:
        ledger = workbench.runs.ledger
        words = f"Today's runs of all agents have cost {dollars(ledger.day_cost())}, this month's "
        link = tag("a", "what for", href=RESOURCES)
        spent.set_content(tag("p", f"{words}{dollars(ledger.month_cost())}: ", link, ".", cls="set-note"))

    ui.timer(0, show_spent, once=True)
    words = joined(
        "What a single run or session may cost is set with each agent. Which hosts tools may ask, and who searches the "
        "web, is set with the ",
        tag("a", "sources of tools", href=TOOL_SOURCES),
        ".",
    )
    ui.html(tag("p", words, cls="set-note"), sanitize=False)


ATTACHMENT_WORDS = (
    "How large one attached file may be, here and over the API. A model call shows 20 MiB of images together, the "
    "newest first; the others are files that tools open."
)


def attachments_section(workbench: Workbench) -> None:
    """How large a file may be."""
    PreferenceForm(
        workbench.preferences,
        *("attachment_mib", "Largest file", ATTACHMENT_WORDS),
        testid="attachment-mib",
        suffix="MiB",
    )


TOOL_WORDS = (
    "Of a model's context that the tools of an agent may fill. Above it the agent finds them as it needs them, unless "
    "its editor says otherwise."
)


def tool_share_section(workbench: Workbench) -> None:
    """When tools are too many to be sent at once."""
    PreferenceForm(
        workbench.preferences,
        *("tool_percent", "Tools at once", TOOL_WORDS),
        testid="tool-percent",
        suffix="%",
    )


class AppearanceSection:
    """Theme, mode and sound; each counts at once."""

    def __init__(
        self,
        preferences: PreferencesStore,
        *,
        set_theme: Callable[[Theme], Awaitable[None]],
        turn_sound: Callable[[], Awaitable[None]],
    ) -> None:
        self._preferences = preferences
        self._set_theme = set_theme
        self._turn_sound = turn_sound
        with ui.element("div").classes("set-choice"):
            ui.label("Theme").classes("set-title")
            self._themes = Choice(
                THEMES, self._theme_chosen, label="Theme", testid="settings-theme-{}", look="theme-switch"
            )
        with ui.element("div").classes("set-choice"):
            ui.label("Mode").classes("set-title")
            self._modes = ModeChoice(preferences, testid="settings-mode-{}")
            ui.label(MODE_WORDS).classes("set-note")
        with ui.element("div").classes("set-choice"):
            ui.label("Sound").classes("set-title")
            self._sound = button("", self._sound_turned, testid="settings-sound")
            ui.label("Whether a run that begins to wait for your decision is heard.").classes("set-note")
        self._show()

    async def _theme_chosen(self, theme: Theme) -> None:
        await self._set_theme(theme)
        self._show()

    async def _sound_turned(self) -> None:
        await self._turn_sound()
        self._show()

    def _show(self) -> None:
        preferences = self._preferences.get()
        self._themes.show(preferences.theme)
        self._modes.show(preferences.mode)
        self._sound.text = "Pause sound is on" if preferences.pause_sound else "Pause sound is off"


async def saved(preferences: PreferencesStore, **changed: str) -> bool:
    """Whether the preferences were stored with these changes; tells a person when they were not."""
    try:
        await preferences.save(preferences.get().model_copy(update=changed))
    except WorkbenchError as problem:
        notify(str(problem))
        return False
    return True
