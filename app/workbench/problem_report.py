"""What helps to find out what went wrong, as one zip file that holds no key and nothing of any conversation."""

import asyncio
import io
import json
import platform
import sys
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from app.domain.values import now
from app.export.redacting import Redactor
from app.logs import log_files
from app.store.folder.folder_size import folder_size
from app.workbench import Workbench

_LIBRARIES = ("nicegui", "litellm", "tinydb", "pydantic", "mcp", "pydantic-monty", "tiktoken", "starlette", "uvicorn")
_SAID_OF_SETTINGS = {
    "theme",
    "mode",
    "pause_sound",
    "day_cost",
    "month_cost",
    "keep_days",
    "keep_runs",
    "default_model",
}


async def problem_report(workbench: Workbench) -> dict[str, str]:
    """The texts that go into the report, by their names in it, without any key that the app knows."""
    await workbench.data.provider_keys.ready()
    redactor = Redactor("", workbench.secrets())
    settings = workbench.preferences.get().model_dump(mode="json", include=_SAID_OF_SETTINGS)
    texts = {
        "about.txt": await asyncio.to_thread(_about, workbench),
        "settings.json": json.dumps(settings, indent=2),
        "damage.txt": "\n".join(workbench.data.damaged) or "No damage was found in the data folder.",
    } | await asyncio.to_thread(_logs, workbench.data.aside / "logs")
    return {name: _anonymous(redactor.text(text), workbench.data.path) for name, text in texts.items()}


def zipped(texts: Mapping[str, str]) -> bytes:
    """The zip file of these texts."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _about(workbench: Workbench) -> str:
    sizes = folder_size(workbench.data.path)
    lines = {
        "Agent Playground": workbench.version
        + (" (executable)" if getattr(sys, "frozen", False) else " (from source)"),
        "Written": f"{now():%Y-%m-%d %H:%M} UTC",
        "System": platform.platform(),
        "Python": sys.version.split()[0],
        "Runs going on": str(len(workbench.runs.live_runs())),
        **{f"Bytes of {part}": str(octets) for part, octets in sizes.items()},
        **{library: _version(library) for library in _LIBRARIES},
    }
    return "\n".join(f"{name}: {value}" for name, value in lines.items())


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "not known here"


def _logs(folder: Path) -> dict[str, str]:
    return {f"logs/{path.name}": path.read_text("utf-8", errors="replace") for path in log_files(folder)}


def _anonymous(text: str, data: Path) -> str:
    """The text without the name of the person, which is in every path of theirs."""
    for place, word in ((str(data), "<data folder>"), (str(Path.home()), "~")):
        text = text.replace(place, word) if len(place) > 3 else text
    return text
