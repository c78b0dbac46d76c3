"""Where the spans of runs are sent on to, what goes along, and what no collector took."""

from collections.abc import Callable
from functools import partial

from nicegui import events, ui

from app.domain.collectors import trouble_of
from app.late import late
from app.ui.elements.buttons import button, loading
from app.ui.elements.format import plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import agreed
from app.ui.elements.undo_bar import UndoBar
from app.workbench import Workbench

with late():
    import app.export.collector.sending

WORDS = (
    "Each run that ends can be sent on as spans of OpenTelemetry, by OTLP over HTTP, to Phoenix, Langfuse, Jaeger, "
    "Grafana or any other collector. Nothing is sent before there is an address here, or you agree to the one that "
    "the environment names."
)
CONTENT_WORDS = (
    "Off: which agent, model and tools ran, when, how it ended and what it cost. On: messages, arguments and results "
    "too. Keys are taken out of both."
)
LOOK_SECONDS = 1.0


class CollectorSection:
    def __init__(self, workbench: Workbench) -> None:
        self._collector = workbench.collector
        settings = self._collector.settings
        ui.label(WORDS).classes("set-note")
        self._state = LiveHtml().props("role=status data-testid=collector-state")
        with ui.element("div").classes("row-line collector-line"):
            self._address = ui.input("Address of a collector", value=settings.address)
            self._address.props('outlined dense placeholder="http://127.0.0.1:4318" data-testid=collector-address')
            self._address.on("keydown.enter", self._save)
            button("Save", self._save, testid="collector-save")
            self._by_environment = button("", self._turn_environment, testid="collector-environment")
            self._test = button("Send a test span", self._try, icon="outbound", testid="collector-test")
        self._tested = LiveHtml().props("role=status aria-live=polite data-testid=collector-tested")
        content = ui.switch("Send what was said, too", value=settings.content, on_change=self._turn_content)
        content.props("dense data-testid=collector-content")
        ui.label(CONTENT_WORDS).classes("set-note")
        self._headers = _Headers(workbench)
        self._unsent = _Unsent(workbench)
        ui.timer(0, self._headers.show, once=True)
        ui.timer(LOOK_SECONDS, self._unsent.look)
        self._show()

    async def _save(self) -> None:
        with problems_shown():
            await self._collector.set_address(str(self._address.value or ""))
            ui.notify("Saved.", type="positive")
        self._tested.show(Html(""))
        self._show()

    async def _turn_environment(self) -> None:
        if (to := self._collector.destination) is not None:
            with problems_shown():
                await self._collector.answer(to.address, agreed=not to.agreed)
        self._show()

    async def _turn_content(self, event: events.ValueChangeEventArguments[bool | None]) -> None:
        with problems_shown():
            await self._collector.set_content(content=bool(event.value))
        self._show()

    async def _try(self) -> None:
        with loading(self._test):
            receipt = await self._collector.test()
        if self._tested.is_deleted:  # its page was left
            return
        good = receipt.outcome == "taken"
        words = "The collector took the test span." if good else receipt.words
        self._tested.show(_said(words, good=good))

    def _show(self) -> None:
        to = self._collector.destination
        self._by_environment.visible = to is not None and to.by_environment
        if to is not None:
            self._by_environment.text = "Stop sending there" if to.agreed else f"Send to {to.place}"
        self._test.set_enabled(bool(to and to.agreed))
        self._state.show(_state(self._collector.named, self._collector.place))


def _state(named: str, place: str) -> Html:
    """Where spans go; `named` is the address that the environment has for them."""
    if place:
        return _said(f"The spans of runs that end go to {place}.", good=True)
    if not named:
        return tag("p", "Nothing is sent.", cls="set-note")
    if trouble := trouble_of(named):
        return _said(f"Nothing is sent. The address that the environment names cannot be used. {trouble}", good=False)
    return tag("p", f"Nothing is sent. The environment names {named}.", cls="set-note")


def _said(words: str, *, good: bool) -> Html:
    symbol = "check_circle" if good else "error_outline"
    return tag("p", icon(symbol), tag("span", words), cls=f"set-said {'is-good' if good else 'is-bad'}")


class _Headers:
    """What goes along with each request to the address above; of a saved value no page shows anything."""

    def __init__(self, workbench: Workbench) -> None:
        self._collector = workbench.collector
        ui.label("Headers").classes("set-title")
        ui.label("Such as authorization. Their values are kept where keys are, and go to the address above.").classes(
            "set-note"
        )
        self._list = ui.element("div").classes("collector-headers").props("data-testid=collector-headers")
        with ui.element("div").classes("row-line collector-line"):
            self._name = ui.input("Name").props("outlined dense data-testid=collector-header-name")
            self._value = ui.input("Value", password=True).props(
                "outlined dense autocomplete=off data-testid=collector-header-value"
            )
            self._value.on("keydown.enter", self._add)
            button("Add the header", self._add, testid="collector-header-add")
        self._undo = UndoBar()
        self._removed = ""
        self._take_offer_away: Callable[[], None] = lambda: None

    async def show(self) -> None:
        names = sorted(await self._collector.headers())
        if self._list.is_deleted:
            return
        self._list.clear()
        with self._list:
            for name in names:
                with ui.element("div").classes("row-line"):
                    ui.label(name).classes("mono truncate")
                    remove = button("Remove", partial(self._remove, name), look="quiet")
                    remove.props["aria-label"] = f"Remove the header {name}"

    async def _add(self) -> None:
        name = str(self._name.value or "").strip().lower()
        with problems_shown():
            await self._collector.keep_header(name, str(self._value.value or ""))
            if name == self._removed:  # whose value from before would take the place of this one
                self._take_offer_away()
            self._name.value = self._value.value = ""
        await self.show()

    async def _remove(self, name: str) -> None:
        value = (await self._collector.headers()).get(name, "")
        with problems_shown():
            await self._collector.forget_header(name)
            bring_back = partial(self._collector.keep_header, name, value)
            self._take_offer_away = self._undo.show(f"The header {name} was removed", bring_back, self.show)
            self._removed = name
        await self.show()


class _Unsent:
    """The runs that wait, and those that were given up."""

    def __init__(self, workbench: Workbench) -> None:
        self._collector = workbench.collector
        self._words = LiveHtml().props("role=status data-testid=collector-unsent")
        with ui.element("div").classes("row-line") as self._buttons:
            button("Send again", self._again, icon="sync", testid="collector-again")
            button("Forget", self._forget, look="danger", testid="collector-forget")
        self._buttons.visible = False

    async def look(self) -> None:
        if self._collector.knows_no_run:  # to ask what sends would read its libraries, of eight megabytes
            return
        sending = await self._collector.made()
        if self._words.is_deleted:  # its page was left
            return
        self._words.show(joined(*(tag("p", words, cls="set-note") for words in unsent_words(sending))))
        self._buttons.visible = bool(sending.waiting or sending.refused())

    async def _again(self) -> None:
        with problems_shown():
            await self._collector.sending.again()
        await self.look()

    async def _forget(self) -> None:
        words = "These runs are never sent on. They stay among your runs."
        if await agreed("Forget what was not sent?", words, confirm="Forget"):
            with problems_shown():
                await self._collector.sending.forget()
            await self.look()


def unsent_words(sending: "app.export.collector.sending.Sending") -> list[str]:
    """What was not sent, in sentences; nothing where all was."""
    words = []
    if sending.waiting:
        why = f" {sending.trouble} It is tried again." if sending.trouble else ""
        words.append(f"{plural(sending.waiting, 'run')} to be sent.{why}")
    words.extend(f"{plural(count, 'run')} not sent. {reason}" for reason, count in sending.refused().most_common(5))
    if sending.left_out:
        words.append(f"{plural(sending.left_out, 'run')} left out since the start: the queue or the disk was full.")
    return words
