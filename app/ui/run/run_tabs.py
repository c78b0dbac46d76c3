"""The ways to look at a run, each built when somebody first turns to it."""

from collections.abc import Callable
from typing import Literal, Protocol, get_args

from nicegui import events, ui

from app.domain.trace import Step
from app.ui.run import raw_view, requests_view, review_view, waterfall_view
from app.ui.run.card_context import CardContext
from app.ui.run.child_run import Parts
from app.ui.run.timeline import Timeline
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trajectory import Trajectory

View = Literal["timeline", "trajectory", "waterfall", "messages", "review", "raw"]
VIEWS: tuple[View, ...] = get_args(View)
TABS: dict[View, tuple[str, str]] = {
    "timeline": ("Timeline", "view_timeline"),
    "trajectory": ("Trajectory", "alt_route"),
    "waterfall": ("Waterfall", "waterfall_chart"),
    "messages": ("Messages", "forum"),
    "review": ("Review", "article"),
    "raw": ("Raw", "data_object"),
}
SHOWS_STEPS: tuple[View, ...] = ("timeline", "trajectory", "waterfall")


class Tab(Protocol):
    async def show(self, *, alive: bool) -> None:
        """Show the run as it is now."""
        ...

    def go(self, index: int) -> None:
        """Open what belongs to the step with that index."""
        ...


class RunTabs:
    def __init__(
        self,
        run: RunSoFar,
        context: CardContext,
        parts: Parts,
        *,
        view: View,
        wanted: int | None,
        on_turn: Callable[[View], None],
        on_choose: Callable[[Step], None],
    ) -> None:
        """`wanted`: the index of the step that is opened first; `on_choose` is told of each one opened in a tab."""
        self.view = view
        self._run = run
        self._context = context
        self._parts = parts
        self._wanted = wanted
        self._alive = False
        self._on_turn = on_turn
        self._on_choose = on_choose
        self._tabs: dict[View, Tab] = {}
        self._places: dict[View, ui.tab_panel] = {}
        with ui.tabs().props("dense align=left no-caps inline-label").classes("run-tabs") as self._bar:
            for name in VIEWS:
                ui.tab(name, *TABS[name]).props(f"data-testid=tab-{name}")
        with ui.tab_panels(self._bar, animated=False, value=view).classes("run-panels"):
            for name in VIEWS:
                with ui.tab_panel(name).classes(f"run-panel-{name}") as self._places[name]:
                    pass
        with self._places["timeline"]:
            self._timeline = Timeline(run, context, wanted=wanted, on_choose=self._chosen)
        self._bar.on_value_change(self._turned)

    def show_opening(self) -> None:
        """Show the first steps while the others are still read."""
        self._timeline.show(alive=False, reading=True)

    async def show(self, *, alive: bool) -> None:
        """Show the run as it is now in the tab that is looked at."""
        self._alive = alive
        if self.view == "timeline":
            self._timeline.show(alive=alive)
            return
        await self._tab(self.view).show(alive=alive)

    async def go(self, index: int) -> None:
        """Open the step with that index, where steps are shown: in the tab that is looked at, or the timeline."""
        self._wanted = index
        if self.view not in SHOWS_STEPS:
            self._bar.set_value("timeline")
            self.view = "timeline"
        if self.view == "timeline":
            self._timeline.show(alive=self._alive)
            self._timeline.go(index)
        else:
            await self._tab(self.view).show(alive=self._alive)
            self._tab(self.view).go(index)

    def open(self, view: View, index: int) -> None:
        """Turn to that tab, with what belongs to the step with that index opened."""
        self._wanted = index
        self._bar.set_value(view)

    async def _turned(self, event: events.ValueChangeEventArguments[str | ui.tab | ui.tab_panel | None]) -> None:
        self.view = view_of(str(event.value))
        self._on_turn(self.view)
        is_new = self.view not in self._tabs
        await self.show(alive=self._alive)
        if not is_new and self._wanted is not None and self.view != "timeline":
            self._tabs[self.view].go(self._wanted)

    def _tab(self, view: View) -> Tab:
        if view not in self._tabs:
            with self._places[view]:
                self._tabs[view] = self._built(view)
        return self._tabs[view]

    def _built(self, view: View) -> Tab:
        seq = self._run.steps[self._wanted].seq if self._wanted is not None else None
        match view:
            case "trajectory" | "timeline":
                return Trajectory(self._run, self._context)
            case "waterfall":
                chosen = self._wanted or 0
                return waterfall_view.Waterfall(
                    self._run,
                    self._context,
                    self._parts,
                    chosen=chosen,
                    alive=self._alive,
                    on_choose=self._index_chosen,
                )
            case "messages":
                return requests_view.Requests(self._run, seq=seq)
            case "review":
                return review_view.ReviewView(self._run, self._context.contents)
            case "raw":
                return raw_view.Raw(self._run, seq=seq)

    def _index_chosen(self, index: int) -> None:
        self._chosen(self._run.steps[index])

    def _chosen(self, step: Step) -> None:
        self._wanted = self._run.place(step.seq)
        self._on_choose(step)


def view_of(text: str) -> View:
    """The view of that name; the timeline for any other."""
    return next((view for view in VIEWS if view == text), "timeline")
