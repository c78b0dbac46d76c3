"""A list of any length, of which the browser holds the lines in view only, also beside the one that is looked at."""

from collections.abc import Callable
from typing import TypedDict

from nicegui import events, ui

WINDOW = 80
"""Lines that are sent along before anybody scrolls."""


class Line(TypedDict):
    """One line of the list; all of it is shown as text."""

    type: str
    """A class of the line: `step-<type>`, and its `data-step-type`."""
    tone: str
    """`failed`, or nothing."""
    number: str
    label: str
    text: str
    note: str


class TraceList(ui.element, component="trace_list.js"):
    def __init__(
        self,
        count: int,
        line: Callable[[int], Line],
        *,
        chosen: int,
        on_choose: Callable[[int], None],
        label: str,
        testid: str,
    ) -> None:
        """`line` makes the line with that index; `chosen` is in view from the start."""
        super().__init__()
        self._count = count
        self._line = line
        self._on_choose = on_choose
        start = max(0, min(chosen - WINDOW // 2, count - WINDOW))
        self._props["count"] = count
        self._props["start"] = start
        self._props["window"] = self._lines(start, start + WINDOW)
        self._props["selected"] = chosen
        self._props["label"] = label
        self._props["testid"] = testid
        self.on("need", self._send)
        self.on("choose", self._chosen)

    def grow(self, count: int, *, follow: bool) -> None:
        """The list has become longer; `follow`: whoever stands at its end is taken along."""
        if count != self._count:
            self._count = self._props["count"] = count
            self.run_method("grow", count, follow)

    def show(self, index: int) -> None:
        """Mark that line as the chosen one, and bring it into view; `on_choose` is not told."""
        self._props["selected"] = index
        self.run_method("show", index)

    def refresh(self) -> None:
        """The lines in view may have changed."""
        self.run_method("refresh")

    def _send(self, event: events.GenericEventArguments) -> None:
        start, end = (max(0, min(int(bound), self._count)) for bound in event.args)
        self.run_method("put", start, self._lines(start, min(end, start + 500)))

    def _chosen(self, event: events.GenericEventArguments) -> None:
        index = int(event.args)
        if 0 <= index < self._count:
            self._on_choose(index)

    def _lines(self, start: int, end: int) -> list[Line]:
        return [self._line(index) for index in range(start, min(end, self._count))]


class ListAndPane:
    """Whatever the number of steps, the page holds the lines in view and one opened step."""

    def __init__(
        self,
        count: int,
        line: Callable[[int], Line],
        build: Callable[[int], object],
        *,
        chosen: int,
        on_choose: Callable[[int], None],
        label: str,
        testid: str,
        looks: Callable[[int], object] = lambda _: None,
    ) -> None:
        """`build` makes the opened step with that index; `on_choose` is told when somebody opens another one.

        `looks`: what may still change of the opened step; it is built anew when that is other than it was.
        """
        self._build, self._looks = build, looks
        self._on_choose = on_choose
        self.chosen = chosen
        with ui.element("div").classes("trace-split"):
            self._list = TraceList(count, line, chosen=chosen, on_choose=self._choose, label=label, testid=testid)
            self._pane = ui.element("section").classes("trace-pane").props('aria-label="The chosen step" tabindex=0')
            self._pane.props(f"data-testid={testid}-detail")
        self._show_chosen()

    def grow(self, count: int, *, follow: bool) -> None:
        """There are more steps now, and those in view may have changed; `follow`: the end of the list is followed."""
        self._list.grow(count, follow=follow)
        self._list.refresh()
        if self._looks(self.chosen) != self._looked:
            self._show_chosen()

    def _show_chosen(self) -> None:
        self._looked = self._looks(self.chosen)
        self._pane.clear()
        with self._pane:
            self._build(self.chosen)

    def go(self, index: int) -> None:
        """Open the step with that index; `on_choose` is not told."""
        self._list.show(index)
        if index != self.chosen:
            self.chosen = index
            self._show_chosen()

    @property
    def list_id(self) -> int:
        """The list's element, for what points at its lines in the browser."""
        return self._list.id

    def _choose(self, index: int) -> None:
        if index != self.chosen:
            self.chosen = index
            self._show_chosen()
            self._on_choose(index)
