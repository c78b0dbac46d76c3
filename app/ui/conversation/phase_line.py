"""What a run is doing right now: "thinking…", "calling calculator…", with its elapsed time."""

from datetime import datetime

from nicegui import ui

from app.domain.values import now


class PhaseLine(ui.element, component="phase_line.js"):
    """One line; its seconds are counted in the browser."""

    def show(self, text: str, since: datetime) -> None:
        """Say what goes on since then; nothing happens when that is said already."""
        if text == self._props.get("text"):
            return
        self._props["ms"] = (now() - since).total_seconds() * 1000
        self._props["text"] = text
        self.update()
