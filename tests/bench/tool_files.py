"""The user's tool files: from a save to a tool that can be called, and how long a full folder takes to be listed."""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import psutil

from app.domain.tools import ToolOutput
from app.store.journal.database import JournalDB
from app.store.records.tables import TrustedFiles
from app.tools.user_tools.folder import UserTools
from app.tools.user_tools.template import template
from tests.figures import Figure
from tests.tools.context import Context
from tests.waiting import until

SAVES = 40
FILES = 200
LISTINGS = 5


async def run(saves: int = SAVES, files: int = FILES) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        trusted = TrustedFiles(JournalDB(Path(temporary) / "app.tdb"))
        callable_after = await measured_saves(Path(temporary) / "saved", trusted, saves)
        listed_after, started = await measured_listing(Path(temporary) / "full", trusted, files)
    p95 = statistics.quantiles(callable_after, n=20)[-1]
    value = f"{p95:.0f} ms (p50 {statistics.median(callable_after):.0f} ms)"
    return [
        Figure("Save a tool file to its tool called, p95", value, "<= 1000 ms", p95 <= 1000),
        Figure(
            f"{files} tool files listed",
            f"{listed_after:.0f} ms, {started} started",
            "<= 300 ms, none started",
            listed_after <= 300 and not started,
        ),
    ]


async def measured_saves(folder: Path, trusted: TrustedFiles, saves: int) -> list[float]:
    """Milliseconds from each write of the file to the result of a call of what it holds since then."""
    tools = UserTools(folder, trusted, trust_all=True)
    await tools.start()
    taken = []
    for number in range(saves + 1):
        began = time.perf_counter()
        await asyncio.to_thread((folder / "saved.py").write_text, source(number))
        tool = await until(lambda name=f"tool_{number}": tools.tools().get(name), seconds=30, pause=0.005)
        assert await tool.run({"text": "a"}, Context()) == ToolOutput.of_text(f"a{number}")
        taken.append((time.perf_counter() - began) * 1000)
    await tools.close()
    return taken[1:]


def source(number: int) -> str:
    """A file with a tool of its own name, so that an older version is never taken for it."""
    return f'def tool_{number}(text: str) -> str:\n    """Number a text."""\n    return f"{{text}}{number}"\n'


async def measured_listing(folder: Path, trusted: TrustedFiles, files: int) -> tuple[float, int]:
    """Milliseconds from the start to the list of files as new ones are, the median; and how many processes it took."""
    await asyncio.to_thread(fill, folder, files)
    taken = []
    started = 0
    for _ in range(LISTINGS):
        tools = UserTools(folder, trusted)
        began = time.perf_counter()
        await tools.start()
        listed = tools.files()
        taken.append((time.perf_counter() - began) * 1000)
        assert len(listed) == files and all(len(file.preview) == 2 for file in listed)
        started += len(psutil.Process().children())
        await tools.close()
    return statistics.median(taken), started


def fill(folder: Path, files: int) -> None:
    folder.mkdir()
    for number in range(files):
        name = f"tools{number}.py"
        (folder / name).write_text(template(name), encoding="utf-8")
