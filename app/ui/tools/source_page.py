"""What the pages of a server and of a tool file share: the way back, what can be done, and words once it is gone."""

from nicegui import ui

from app.domain.errors import NotFound
from app.ui.elements.addresses import TOOL_SOURCES
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, tag

LOOK_SECONDS = 0.5


class SourcePage(ui.element):
    """Shows the source anew twice a second; subclasses know it before this is called, and say what stands where."""

    def __init__(self) -> None:
        super().__init__("div")
        self.classes("tool-detail")
        with self:
            self._build_head()
            self._gone = LiveHtml()
            with ui.element("div").classes("tool-columns") as self._columns:
                with ui.element("div").classes("tool-column"):
                    self.build_state()
                with ui.element("div").classes("tool-column"):
                    self.build_aside()
            ui.timer(LOOK_SECONDS, self.look)
        self.look()

    def _build_head(self) -> None:
        with ui.element("header").classes("tool-head-panel"):
            ui.html(tag("a", icon("arrow_back"), "All sources", href=TOOL_SOURCES, cls="source-back"), sanitize=False)
            with ui.element("div").classes("row-line source-heading"):
                self.heading = LiveHtml().classes("grow tool-heading-words")
                with ui.element("div").classes("source-actions"):
                    self.build_actions()

    def look(self) -> None:
        """Show the source as it is now."""
        try:
            self.show()
        except NotFound as problem:
            self._gone.show(tag("p", icon("warning"), str(problem), cls="mark mark-warn", role="alert"))
            self._columns.visible = False
            return
        self._gone.show(Html(""))
        self._columns.visible = True

    def build_actions(self) -> None:
        """Put what can be done with the source beside its name."""
        raise NotImplementedError

    def build_state(self) -> None:
        """Fill the first column: how the source is doing, and its tools."""
        raise NotImplementedError

    def build_aside(self) -> None:
        """Fill the second column."""
        raise NotImplementedError

    def show(self) -> None:
        """Show how the source is doing; raises `NotFound` once there is none."""
        raise NotImplementedError


def tools_section() -> LiveHtml:
    """A panel for the tools of the source, to be shown in what is given back."""
    with ui.element("section").classes("panel tool-section").props('aria-label="Its tools"'):
        ui.html("Its tools", sanitize=False, tag="h2").classes("section-title")
        return LiveHtml()
