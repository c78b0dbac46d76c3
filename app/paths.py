"""Where the app's data and assets are, from source or frozen."""

import os
import sys
from pathlib import Path

import platformdirs

DATA_VARIABLE = "AGENT_PLAYGROUND_DATA"


def assets() -> Path:
    """The folder of the files that come with the app."""
    return (_unpacked() or Path(__file__).parent.parent) / "assets"


def bundled_program(name: str) -> Path | None:
    """A program that comes with the executable; `None` from source, where its package knows where it is."""
    unpacked = _unpacked()
    return unpacked / (f"{name}.exe" if os.name == "nt" else name) if unpacked else None


def data_folder(chosen: str | None = None) -> Path:
    """What was chosen, else what the environment says, else the platform's folder for a user's data."""
    folder = chosen or os.environ.get(DATA_VARIABLE) or platformdirs.user_data_dir("agent-playground", appauthor=False)
    return Path(folder).expanduser().absolute()


def _unpacked() -> Path | None:
    """The folder of what the executable carries; `None` from source."""
    frozen = getattr(sys, "_MEIPASS", None)
    return Path(frozen) if frozen else None
