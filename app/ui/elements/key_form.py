"""Takes a provider's key, and checks it at once: in the Setup guide, and where a model is chosen that needs one."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from nicegui import events, ui
from pydantic import TypeAdapter

from app.domain.errors import WorkbenchError
from app.llm.providers.provider_desk import ProviderEntry, ProviderState
from app.ui.elements.addresses import provider_address
from app.ui.elements.buttons import button
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.provider_views import READ_FORM, places_view, short_form_view
from app.ui.elements.questions import answer_to, named_dialog
from app.workbench import Workbench

_FORM = TypeAdapter(dict[str, str])


class KeyForm:
    """`on_working` gets the provider's name once its key was accepted."""

    def __init__(self, workbench: Workbench, on_working: Callable[[str], Awaitable[object]]) -> None:
        self._workbench = workbench
        self._desk = workbench.provider_desk
        self._on_working = on_working
        self._name = ""
        self._checked: set[str] = set()
        """The providers whose keys are being checked."""
        self._form = ui.html(sanitize=False).on("submit", self._save, js_handler=READ_FORM)
        self._note = ui.html(sanitize=False).props("role=status aria-live=polite data-testid=setup-key-note")
        self._place = ui.html(sanitize=False).classes("set-place").props("data-testid=setup-key-place")
        ui.timer(0, self._say_where, once=True)

    def show(self, name: str) -> None:
        """Ask for the key of that provider."""
        self._name = name
        self._note.set_content("")
        self._form.set_content(short_form_view(self._desk.state(name)))

    async def _say_where(self) -> None:
        where = await self._workbench.data.provider_keys.where()
        if not self._place.is_deleted:
            self._place.set_content(places_view(where.words, where.why))

    async def _save(self, event: events.GenericEventArguments) -> None:
        """Store what was written and try it; a second press meanwhile does nothing."""
        if (name := self._name) in self._checked:
            return
        self._checked.add(name)
        try:
            await self._try(name, event)
        finally:
            self._checked.discard(name)

    async def _try(self, name: str, event: events.GenericEventArguments) -> None:
        written = _FORM.validate_python(event.args)
        keys = {field.removeprefix("key:"): value for field, value in written.items() if field.startswith("key:")}
        settings = {field: value for field, value in written.items() if not field.startswith("key:")}
        models = settings.pop("models", "")
        self._say("hourglass_empty", "Checking…")
        try:
            await self._desk.save(name, ProviderEntry(keys, settings, models))
        except WorkbenchError as problem:
            self._say("error_outline", str(problem), look="is-bad")
            return
        if name != self._name:  # another was chosen meanwhile
            return
        state = self._desk.state(name)
        if missing := still_missing(state):
            self._say("error_outline", missing, look="is-bad")
            return
        self._form.set_content(short_form_view(self._desk.state(name)))
        trouble = await (self._listing_trouble(name) if state.lists_models else self._calling_trouble(state))
        if self._note.is_deleted or name != self._name:
            return
        if trouble:
            why = tag("a", "Run the doctor in Settings", href=provider_address(name))
            self._say("error_outline", joined(f"It is saved, but does not work yet: {trouble} ", why), look="is-bad")
            return
        await self._on_working(name)

    async def _listing_trouble(self, name: str) -> str:
        """Why it does not tell its models; empty when it does, which shows that it takes the key."""
        try:
            await self._desk.list_models(name)
        except WorkbenchError as problem:
            return str(problem)
        return ""

    async def _calling_trouble(self, state: ProviderState) -> str:
        """Why a model does not answer; for providers that keep no list, where only a call tells about the key."""
        self._say("hourglass_empty", "Checking: one of its models is asked for a word. The first time takes longer.")
        await self._workbench.catalog.ready()
        model = self._workbench.catalog.inexpensive(state.name, state.settings.models)
        async with aclosing(self._workbench.doctor.examine(state.name, model)) as findings:
            async for finding in findings:
                if finding.outcome == "fails":
                    return f"{finding.text} {finding.fix}"
                if finding.step == "call":
                    break
        return ""

    def _say(self, symbol: str, words: str, *, look: str = "") -> None:
        self._note.set_content(tag("p", icon(symbol), tag("span", words), cls=f"set-said {look}".strip()))


def still_missing(state: ProviderState) -> str:
    """What has to be written before the provider can be asked; empty when nothing has."""
    if not (state.has_key or state.uses_profile):
        return f"Paste your key of {state.provider.title} first."
    if state.name == "azure" and not (state.address and state.settings.models):
        return "Azure needs its address, and the name of at least one deployment."
    return ""


async def key_given(workbench: Workbench, model: str) -> bool:
    """Whether the model may be chosen: it can be asked as it is, gets its key here, or shall wait for it."""
    try:
        state = workbench.provider_desk.state(workbench.catalog.resolve(model).partition("/")[0])
    except WorkbenchError:
        return True
    if not state.provider.needs_key or state.has_key or state.uses_profile:
        return True
    title = f"{state.provider.title} needs a key"
    with (
        named_dialog(title) as dialog,
        ui.card().classes("dialog-card dialog-small").props("data-testid=key-dialog"),
    ):
        ui.html(title, sanitize=False, tag="h2").classes("section-title")

        async def done(_name: str) -> None:
            dialog.submit(True)

        KeyForm(workbench, done).show(state.name)
        with ui.element("div").classes("row-line at-end"):
            button("Cancel", lambda: dialog.submit(False), look="quiet", testid="key-cancel")
            button("Choose it anyway", lambda: dialog.submit(True), testid="key-later")
    return await answer_to(dialog, bool) is True
