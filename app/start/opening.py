"""Shows the app to the person who started it: in a window of its own, in a browser tab, or by the printed address."""

from pathlib import Path
from typing import Literal

from app.desktop import of_the_system, open_tab
from app.domain.errors import WorkbenchError
from app.late import late
from app.start.app_window import opened_window
from app.store.folder.lock import Announcement

with late():
    from app.start import already_running

Opening = Literal["window", "tab", "nothing"]

NO_WINDOW = "No Chrome, Edge or Chromium opened a window, so a browser tab is used."
NO_BROWSER = "No browser could be opened. Open the address above in one."
NOT_SEEN = "If your browser shows no page of the app, it may not read the file it was shown: open the address above."


def open_page(running: Announcement, how: Opening, data: Path) -> list[str]:
    """Show the app that runs; sentences for the terminal where that went another way than was asked for."""
    if how == "nothing":
        return []
    try:
        address = already_running.launch_page(running).as_uri()
    except WorkbenchError as problem:
        return [str(problem), NO_BROWSER]
    with of_the_system():
        if how == "window" and opened_window(address, data / "window"):
            return []
        words = [NO_WINDOW] if how == "window" else []
        return words if open_tab(address) else [*words, NO_BROWSER]
