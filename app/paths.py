"""Where the app's data and assets are, from source or frozen."""

import os
import sys
from pathlib import Path

import platformdirs

DATA_VARIABLE = "AGENT_PLAYGROUND_DATA"


def assets() -> Path:
    """The folder of the files that come with the app."""
    frozen = getattr(sys, "_MEIPASS", None)
    return (Path(frozen) if frozen else Path(__file__).parent.parent) / "assets"


def data_folder(chosen: str | None = None) -> Path:
    """What was chosen, else what the environment says, else the platform's folder for a user's data."""
    folder = chosen or os.environ.get(DATA_VARIABLE) or platformdirs.user_data_dir("agent-playground", appauthor=False)
    return Path(folder).expanduser().absolute()
