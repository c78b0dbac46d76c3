"""What a run's page stands in: it keeps nothing of its run that nobody sees."""

from nicegui import ui

from app.ui.elements.sub_pages import is_left
from app.ui.run.trace_growth import RunSoFar


class RunFrame(ui.element):
    """Lets go of the run once its browser has left: the parts of the page refer to each other, and would keep it."""

    def __init__(self, run: RunSoFar) -> None:
        super().__init__("div")
        self._run = run
        self.is_empty = False
        self.client.on_connect(self._come)
        self.client.on_disconnect(self._gone)

    def _come(self) -> None:
        if self.is_empty:  # by a step back to what the browser has kept of the page
            ui.navigate.reload()

    def _gone(self) -> None:
        if is_left(self.client):
            self._let_go()

    def _let_go(self) -> None:
        self.is_empty = True
        self._run.let_go()

    def _handle_delete(self) -> None:
        self.client.connect_handlers.remove(self._come)
        self.client.disconnect_handlers.remove(self._gone)
        self._let_go()
        super()._handle_delete()
