"""Which model answers: a button that opens a list to search, the models that can be asked now first."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby

from nicegui import events, ui

from app.domain.agents import NODES_MODELS
from app.llm.providers.choices import ProviderChoice
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of, on_enter
from app.ui.elements.focus import point_at
from app.ui.elements.key_form import key_given
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.model_options import Option, card_words, options_of, recent_models
from app.workbench import Workbench

SHOWN = 60
Chosen = Callable[[str | None], Awaitable[object]]


class ModelPicker(ui.element):
    """Shows `model`; `on_choose` gets `provider/model`, or `None` for `reset`, a way back with these words.

    `None` stands for the models of a workflow's nodes, of which none is chosen here.
    A model whose key is missing is chosen once its key was asked for, where it `will_ask` the model anything.
    """

    def __init__(
        self,
        workbench: Workbench,
        model: str | None,
        on_choose: Chosen,
        *,
        reset: str = "",
        testid: str = "model-select",
        will_ask: bool = True,
    ) -> None:
        super().__init__()
        self.classes("model-picker")
        self._workbench = workbench
        self._on_choose = on_choose
        self.reset = reset
        """The words of the way back; empty for none."""
        self._will_ask = will_ask
        self._choices: list[ProviderChoice] = []
        self._recent: list[str] = []
        self._options: list[Option] = []
        self._marked = 0
        self._model = ""
        self._shown = ("", "")
        self._list: ui.html | None = None
        self._query = ""
        with self:
            self._button = button("", self.open, icon="expand_more", testid=testid).classes("picker-button")
            self._button.props('aria-haspopup="listbox"')
            self._dialog = ui.dialog().props('position=top transition-duration=80 aria-label="Choose a model"')
            self._dialog.on("hide", self._dialog.clear)
        self.show(model)

    @property
    def model(self) -> str:
        """What is shown as chosen."""
        return self._model

    def show(self, model: str | None, *, trouble: str = "") -> None:
        """Show another model as the chosen one, marked when `trouble` says what is wrong with it."""
        self._button.set_enabled(model is not None)
        model = NODES_MODELS if model is None else model
        if (model, trouble) == self._shown:
            return
        self._shown = (model, trouble)
        self._model = model
        self._button.text = model
        self._button.props["aria-label"] = f"Model: {model}. {trouble}".strip()
        self._button.props["title"] = trouble or f"Model: {model}"
        self._button.classes(add="is-trouble" if trouble else "", remove="" if trouble else "is-trouble")

    async def open(self) -> None:
        """Show the list, where there is something to choose."""
        if not self._button.enabled:
            return
        self._dialog.clear()
        self._query, self._marked = "", 0
        with self._dialog, ui.card().classes("palette").props("data-testid=model-list"):
            box = ui.input(placeholder="Search models, or write provider/model", on_change=self._typed)
            box.props('borderless autofocus debounce=60 aria-label="Search models" data-testid=model-search')
            box.on("keydown.down.prevent", lambda: self._move(1))
            box.on("keydown.up.prevent", lambda: self._move(-1))
            on_enter(box, self._take_marked)
            self._list = ui.html(tag("p", "Looking for models…", cls="picker-note"), sanitize=False)
            self._list.classes("palette-list").props('role=listbox tabindex=0 aria-label="Models"')
            on_click_of(self._list, "model", self._clicked)
            box.props(f"aria-autocomplete=list aria-controls={self._list.html_id}")
        self._dialog.open()
        self._choices = await self._workbench.choices.all()
        self._recent = recent_models(self._workbench)
        self._show_options()

    def _typed(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        self._query, self._marked = (event.value or "").strip(), 0
        self._show_options()

    def _move(self, step: int) -> None:
        if self._options:
            self._marked = (self._marked + step) % min(len(self._options), SHOWN)
            self._show_options()

    def _show_options(self) -> None:
        options = options_of(self._choices, self._query, self._recent)
        if self.reset and not self._query:
            options.insert(0, Option(None, self.reset, "Default"))
        if "/" in self._query and all(option.model != self._query for option in options):
            options.append(Option(self._query, f"Use {self._query}", "As written"))
        self._options = options
        if self._list is not None:
            self._list.set_content(_listed(options, self._marked, self._model))
            point_at(self._list, "[aria-selected=true]")

    async def _clicked(self, model: str) -> None:
        """By its name: the list may be another one by now than that which was clicked."""
        await self._take(model or None)

    async def _take_marked(self) -> None:
        if self._options:
            await self._take(self._options[min(self._marked, len(self._options) - 1)].model)

    async def _take(self, model: str | None) -> None:
        self._dialog.close()
        with self:
            if model is None or not self._will_ask or await key_given(self._workbench, model):
                await self._on_choose(model)


def _listed(options: Sequence[Option], marked: int, chosen: str) -> Html:
    if not options:
        return tag("p", "No model fits. Write provider/model to use one that is not in the list.", cls="picker-note")
    shown = list(enumerate(options[:SHOWN]))
    groups: list[Html] = []
    is_apart = False
    for title, members in groupby(shown, key=lambda one: one[1].group):
        group = list(members)
        rows = [_row(one, place, is_marked=place == marked, is_chosen=one.model == chosen) for place, one in group]
        last = group[-1][1]
        if last.needs_key and not is_apart:
            is_apart = True
            groups.append(tag("p", icon("lock"), NEED_A_KEY, cls="picker-note picker-apart", role="presentation"))
        groups.append(_group(title, last, rows))
    if len(options) > SHOWN:
        words = f"{len(options) - SHOWN:,} more. Type to narrow the list."
        groups.append(tag("p", words, cls="picker-note", role="presentation"))
    return joined(*groups)


NEED_A_KEY = "These need a key. Choosing one asks for it."


def _group(title: str, last: Option, rows: Sequence[Html]) -> Html:
    """A provider's rows under its name, with what stands in their way and how many more there are."""
    needs = "needs a key" if last.needs_key else last.needs
    head = tag("h3", title, tag("span", f" · {needs}" if needs else "", cls="picker-needs"), role="presentation")
    words = f"and {last.more:,} more: type to find them" if last.more else ""
    more = tag("p", words, cls="picker-note picker-more", role="presentation") if words else ""
    return tag("div", head, *rows, more, role="group", aria_label=f"{title} {needs}".strip())


def _row(option: Option, place: int, *, is_marked: bool, is_chosen: bool) -> Html:
    facts = card_words(option.card) if option.card or option.group == "As written" else ""
    mark = icon("check" if is_chosen else "lock" if option.needs else "memory")
    return tag(
        "div",
        mark,
        tag("span", tag("span", option.title, cls="picker-title"), tag("span", facts, cls="faint"), cls="picker-lines"),
        role="option",
        id=f"model-option-{place}",
        cls="palette-item picker-item is-locked" if option.needs else "palette-item picker-item",
        aria_selected="true" if is_marked else "false",
        data_model=option.model or "",
        data_testid="model-option",
    )
