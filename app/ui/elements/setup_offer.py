"""What leads to the Setup guide from other pages: a panel on the Overview, a line in the sessions it began."""

from nicegui import ui

from app.domain.errors import WorkbenchError
from app.domain.settings import SetupProgress, SetupStep
from app.store.records.tables import PreferencesStore
from app.ui.elements.addresses import SETUP
from app.ui.elements.buttons import icon_button
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import notify

BEGINNINGS: dict[str, tuple[str, str, str]] = {
    "demo": ("science", "Try the demo now", "No key, no network: a scripted model that calls real tools."),
    "key": ("key", "Add a key", "OpenAI, Anthropic, Google and more. It is checked at once."),
    "server": ("dns", "Use a model server on this machine", "Ollama, LM Studio, llama.cpp, or any address."),
}
"""The ways to begin: symbol, title and words of each."""
STEPS: dict[SetupStep, str] = {
    "begin": "How do you want to begin?",
    "choose": "Choose a model and an agent",
    "ask": "Ask the first question",
    "tour": "When things go wrong: a tour",
}


def setup_offer(preferences: PreferencesStore) -> None:
    """The way into the guide, or back to where it was left; nothing once it is done or hidden."""
    progress = preferences.get().setup
    if not progress.offered:
        return
    with ui.element("section").classes("panel setup-offer").props('aria-label="Setup guide"') as place:
        place.props("data-testid=setup-offer")
        ui.html(offer_view(progress), sanitize=False)

        async def hide() -> None:
            if await setup_saved(preferences, offered=False):
                place.delete()

        icon_button("close", "Hide this; the guide stays in the navigation", hide, testid="setup-hide")


def offer_view(progress: SetupProgress) -> Html:
    """The three ways to begin, or the way back."""
    if progress.step == "begin":
        return joined(
            tag("h2", "New here? Your first answer takes less than a minute.", cls="section-title"),
            tag("div", *(_way(name) for name in BEGINNINGS), cls="setup-ways"),
        )
    words = f"You were at “{STEPS[progress.step]}”."
    back = tag("a", "Go on with the Setup guide", icon("arrow_forward"), href=SETUP, data_testid="setup-resume")
    return joined(
        tag("h2", "Setup guide", cls="section-title"),
        tag("p", f"{words} ", back, cls="setup-back"),
    )


def _way(name: str) -> Html:
    symbol, title, words = BEGINNINGS[name]
    inside = way_view(symbol, title, words)
    return tag("a", inside, href=f"{SETUP}?begin={name}", cls="setup-way", data_testid=f"offer-{name}")


def way_view(symbol: str, title: str, words: str) -> Html:
    """What stands on a way to begin."""
    return joined(
        tag("span", icon(symbol), cls="agent-icon"), tag("span", tag("strong", title), tag("span", words, cls="muted"))
    )


def setup_strip(preferences: PreferencesStore, session_id: str) -> None:
    """The way back to the guide, in the session that it began last."""
    if preferences.get().setup.session != session_id:
        return
    with ui.element("div").classes("setup-strip").props("data-testid=setup-strip") as place:
        words = "Try its buttons. " if preferences.get().setup.toured else "This is what an agent does. "
        link = tag("a", "Go on with the tour", icon("arrow_forward"), href=SETUP, data_testid="setup-next")
        ui.html(joined(icon("rocket_launch"), tag("span", words, link)), sanitize=False)

        async def close() -> None:
            if await setup_saved(preferences, session=""):
                place.delete()

        icon_button("close", "Close this line", close, testid="setup-strip-close")


async def setup_saved(preferences: PreferencesStore, **changes: str | bool | tuple[str, ...]) -> bool:
    """Whether the guide's progress was stored with these changes; tells a person when it was not."""
    before = preferences.get()
    after = SetupProgress.model_validate(before.setup.model_dump() | changes)
    try:
        await preferences.save(before.model_copy(update={"setup": after}))
    except WorkbenchError as problem:
        notify(str(problem))
        return False
    return True
