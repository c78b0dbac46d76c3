"""Where the app's data and assets are, from source or frozen."""

import os
import sys
from pathlib import Path

import platformdirs

DATA_VARIABLE = "AGENT_PLAYGROUND_DATA"
PORTABLE_NAME = "agent-playground-data"
"""A folder of this name beside the executable holds its data: both can be carried from computer to computer."""

_SINGLE_FILE = os.environ.pop("AGENT_PLAYGROUND_FILE", "")
"""The file that runs this unpacked copy of itself. Taken out: programs that are started from here are no copy of it."""


def assets() -> Path:
    """The folder of the files that come with the app: an executable's and a wheel's own, else the repository's."""
    package = Path(__file__).parent
    own = (_unpacked() or package) / "assets"
    return own if own.is_dir() else package.parent / "assets"


def bundled_program(name: str) -> Path | None:
    """A program that comes with the executable; `None` from source, where its package knows where it is."""
    unpacked = _unpacked()
    return unpacked / (f"{name}.exe" if os.name == "nt" else name) if unpacked else None


def own_command() -> tuple[str, ...]:
    """What starts this app again in a process of its own."""
    return (str(_executable()),) if _frozen() else (sys.executable, "-m", "app")


def own_environment() -> dict[str, str]:
    """What has to be in the environment for that to be found: where it runs from a folder that Python does not know."""
    root = Path(__file__).resolve().parent.parent
    known = _frozen() or root.name in ("site-packages", "dist-packages")
    return {} if known else {"PYTHONPATH": str(root)}


def data_folder(chosen: str | None = None) -> Path:
    """What was chosen, else what the environment says, else the one beside the executable, else the platform's."""
    folder = chosen or os.environ.get(DATA_VARIABLE) or (_frozen() and portable_folder(_executable()))
    return Path(folder or platformdirs.user_data_dir("agent-playground", appauthor=False)).expanduser().absolute()


def portable_folder(executable: Path) -> Path | None:
    """The data folder beside the executable, or beside the macOS app it is in; `None` when nobody made one there."""
    app = next((above for above in executable.parents if above.suffix == ".app"), executable)
    folder = app.parent / PORTABLE_NAME
    return folder if folder.is_dir() else None


def _executable() -> Path:
    """What the person has put somewhere and starts: the single file, not its copy, which may be gone tomorrow."""
    return Path(_SINGLE_FILE or sys.executable)


def _frozen() -> bool:
    return bool(getattr(sys, "frozen", False))


def _unpacked() -> Path | None:
    """The folder of what the executable carries; `None` from source."""
    frozen = getattr(sys, "_MEIPASS", None)
    return Path(frozen) if frozen else None
