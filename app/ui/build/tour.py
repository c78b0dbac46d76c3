"""The tour of Build: five things to do with one's own workflow, each told in a strip above it until it was done."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from nicegui import ui

from app.domain.errors import WorkbenchError
from app.domain.settings import TOUR_STEPS, TourProgress, TourStep
from app.domain.workflows.document import Workflow
from app.store.records.tables import PreferencesStore
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import notify

LOOK_SECONDS = 0.5


WORDS: dict[TourStep, tuple[str, str]] = {
    "offered": ("New here?", "A tour takes two minutes: you build, run and save a small workflow."),
    "choose": (
        "Choose a node.",
        "Press one on the canvas, or its settings in the list. By keyboard: arrows on the canvas. See what it does.",
    ),
    "add": (
        "Add a node.",
        "Press Add, or A on the canvas, and choose Transform. It comes after the node that is chosen.",
    ),
    "mend": (
        "Leave no fault.",
        "Faults are listed below, and each leads to its box. Write what the node makes, such as input.text, or undo.",
    ),
    "run": ("Run it.", "Press Run, write a message, and send it. Nothing has to be saved before."),
    "save": ("Save it.", "Press Save as variant. The one before stays, and you can go back to it under Variants."),
    "over": ("That was all.", "Templates under New workflow show branch, map, loop, join and approval at work."),
}


class Doings(NamedTuple):
    """What somebody has done so far, as the editor and the workbench know it."""

    workflow: Workflow
    chosen: str
    """The id of the one node that is chosen, if one is."""
    faulty: bool
    tries: int
    """Messages that were sent in Try it."""
    variants: int


class Tour(ui.element):
    """`doings` is asked twice a second while a step waits to be done."""

    def __init__(self, preferences: PreferencesStore, doings: Callable[[], Doings]) -> None:
        super().__init__("section")
        self.classes("build-tour").props('aria-label="Tour of Build" data-testid=build-tour')
        self._preferences, self._doings = preferences, doings
        with self:
            self._words = ui.html(sanitize=False).classes("grow").props("role=status")
            self._next = button("Skip", self._go_on, testid="tour-next")
            closing = "Close the tour; the compass above the canvas opens it again"
            icon_button("close", closing, self._close, testid="tour-close")
            self._timer = ui.timer(LOOK_SECONDS, self._look)
        self._show()

    async def open(self) -> None:
        """Go on where it was left; from the beginning once it is over."""
        step = self._progress.step
        await self._keep(TourProgress(step=TOUR_STEPS[1] if step in ("offered", "over") else step))

    @property
    def _progress(self) -> TourProgress:
        return self._preferences.get().tour

    async def _look(self) -> None:
        if self._progress != self._shown:  # another tab went on
            self._show()
        elif done(self._progress.step, self._before, self._doings()):
            await self._go_on()

    async def _go_on(self) -> None:
        step = self._progress.step
        if step == "over":
            await self._close()
        else:
            following = TOUR_STEPS[TOUR_STEPS.index(step) + 1]
            nothing_to_mend = following == "mend" and not self._doings().faulty
            await self._keep(TourProgress(step="run" if nothing_to_mend else following))

    async def _close(self) -> None:
        await self._keep(self._progress.model_copy(update={"closed": True}))

    async def _keep(self, progress: TourProgress) -> None:
        await tour_saved(self._preferences, progress)
        self._show()

    def _show(self) -> None:
        self._shown = progress = self._progress
        self._before = self._doings()
        self.visible = self._timer.active = progress.step != "offered" and not progress.closed
        self.props(f"data-step={progress.step}")
        self._next.text = "Done" if progress.step == "over" else "Skip"
        self._words.set_content(_told(progress.step))


def tour_offer(preferences: PreferencesStore, begin: Callable[[], Awaitable[object]]) -> None:
    """The way into the tour; nothing once it was begun or closed. `begin` opens a workflow for it."""
    if preferences.get().tour != TourProgress():
        return
    with (
        ui.element("section").classes("build-tour").props('aria-label="Tour of Build" data-testid=tour-offer') as place
    ):
        ui.html(_told("offered"), sanitize=False).classes("grow")

        async def start() -> None:
            if await tour_saved(preferences, TourProgress(step="choose")):
                await begin()

        async def close() -> None:
            if await tour_saved(preferences, TourProgress(closed=True)):
                place.delete()

        button("Take the tour", start, look="primary", testid="tour-start")
        icon_button("close", "Hide this; the compass above a canvas begins the tour too", close, testid="tour-hide")


async def tour_saved(preferences: PreferencesStore, progress: TourProgress) -> bool:
    """Whether it was stored; tells a person when it was not."""
    try:
        await preferences.save(preferences.get().model_copy(update={"tour": progress}))
    except WorkbenchError as problem:
        notify(str(problem))
        return False
    return True


def done(step: TourStep, before: Doings, now: Doings) -> bool:
    """Whether what the step asks for was done since it began."""
    match step:
        case "choose":
            return now.chosen not in ("", before.chosen)
        case "add":
            return bool(now.workflow.by_id().keys() - before.workflow.by_id().keys())
        case "mend":
            return not now.faulty and now.workflow != before.workflow
        case "run":
            return now.tries > before.tries
        case "save":
            return now.variants > before.variants
        case "offered" | "over":
            return False


def _told(step: TourStep) -> Html:
    title, words = WORDS[step]
    place = TOUR_STEPS.index(step)
    count = f"{place} of {len(TOUR_STEPS) - 2} · " if 0 < place < len(TOUR_STEPS) - 1 else ""
    return joined(icon("explore"), tag("p", count, tag("strong", title), f" {words}"))
