"""A long list of one-line steps beside the one that is looked at."""

from collections.abc import Callable

from nicegui import ui

from app.ui.run.trace_list import Line, TraceList


class ListAndPane:
    """Whatever the number of steps, the page holds the lines in view and one opened step."""

    def __init__(
        self,
        count: int,
        line: Callable[[int], Line],
        build: Callable[[int], None],
        *,
        chosen: int,
        on_choose: Callable[[int], None],
        label: str,
        testid: str,
    ) -> None:
        """`build` makes the opened step with that index; `on_choose` is told when somebody opens another one."""
        self._build = build
        self._on_choose = on_choose
        self.chosen = chosen
        with ui.element("div").classes("trace-split"):
            self._list = TraceList(count, line, chosen=chosen, on_choose=self._choose, label=label, testid=testid)
            self._pane = ui.element("section").classes("trace-pane").props('aria-label="The chosen step" tabindex=0')
            self._pane.props(f"data-testid={testid}-detail")
        self.show_chosen()

    def grow(self, count: int, *, follow: bool) -> None:
        """There are more steps now, and those in view may have changed; `follow`: the end of the list is followed."""
        self._list.grow(count, follow=follow)
        self._list.refresh()

    def show_chosen(self) -> None:
        """Build the opened step anew."""
        self._pane.clear()
        with self._pane:
            self._build(self.chosen)

    def go(self, index: int) -> None:
        """Open the step with that index; `on_choose` is not told."""
        self._list.show(index)
        if index != self.chosen:
            self.chosen = index
            self.show_chosen()

    @property
    def list_id(self) -> int:
        """The list's element, for what points at its lines in the browser."""
        return self._list.id

    def _choose(self, index: int) -> None:
        if index != self.chosen:
            self.chosen = index
            self.show_chosen()
            self._on_choose(index)
