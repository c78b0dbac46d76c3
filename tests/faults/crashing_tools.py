"""Tool files whose processes end in every way there is: each call is told, the others go on, no process stays."""

import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.domain.errors import ToolError
from app.tools.worker.file_worker import FileWorker, LoadFailed
from tests.figures import Figure
from tests.tools.context import Context
from tests.waiting import until

CRASHES = 50
STOPS = 20
LOAD_SECONDS = 1.0
SOURCE = '''
import ctypes, os, signal, subprocess, sys, threading, time

def beside(code="import time; time.sleep(600)"):
    return subprocess.Popen([sys.executable, "-c", code, __file__])

def well() -> str:
    """Work."""
    return "well"

def leave() -> None:
    """End the process, a child and a thread beside."""
    beside()
    threading.Thread(target=time.sleep, args=(600,)).start()
    os._exit(3)

def fault() -> None:
    """Crash Python itself."""
    ctypes.string_at(0)

def murder() -> None:
    """Be killed from outside, a child beside."""
    beside()
    os.kill(os.getpid(), signal.SIGKILL)

def meddle() -> None:
    """Write where only the app's messages go."""
    for number in range(3, 20):
        try:
            os.write(number, b"garbage\\n")
        except OSError:
            pass
    time.sleep(600)

def hang_up() -> None:
    """Close everything that is open."""
    os.closerange(0, 100)
    os._exit(0)

def deep(n: int = 0) -> int:
    """Never come to the ground."""
    return deep(n + 1)

def spin() -> None:
    """Never end."""
    print("on")
    while True:
        pass
'''
LOOPING = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", __file__])
while True:
    pass
"""
LEAVING = "import os\nos._exit(7)\n"
CALLS = ("leave", "fault", "murder", "meddle", "hang_up", "deep")


@dataclass
class Toll:
    crashes: int = 0
    told: int = 0
    unharmed: int = 0
    """Crashes during which a tool of another file went on."""


async def run(crashes: int = CRASHES, stops: int = STOPS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        worker, other = _worker(name, "crashing.py"), _worker(name, "other.py")
        toll = Toll()
        for number in range(crashes):
            await _crash(number, worker, Path(name), toll)
            toll.unharmed += await _is_well(other)
        seconds = sorted([await _stop(worker) for _ in range(stops)])
        unwell = 0 if await _is_well(worker) else 1
        await worker.close()
        await other.close()
        left = await _left(name)
    p95 = seconds[int(len(seconds) * 0.95) - 1]
    kinds = len(CALLS) + 2
    return [
        Figure("tool crashes told", f"{toll.told} of {toll.crashes}, {kinds} kinds", "all", toll.told == toll.crashes),
        Figure("tool crashes, other files", f"{toll.unharmed} of {crashes} went on", "all", toll.unharmed == crashes),
        Figure("tool crashes, the file afterwards", "unwell" if unwell else "well", "well", not unwell),
        Figure("tool crashes, processes left", str(len(left)), "0", not left),
        Figure("R4 stop of `while True` in a tool file, p95", f"{p95 * 1000:.0f} ms", "<= 1000 ms", p95 <= 1),
    ]


def _worker(folder: str, name: str, source: str = SOURCE) -> FileWorker:
    return FileWorker(Path(folder) / name, source)


async def _crash(number: int, worker: FileWorker, folder: Path, toll: Toll) -> None:
    """One crash; of every ten, one while the file loops at import and one while it ends there."""
    toll.crashes += 1
    match number % 10:
        case 8:
            toll.told += await _fails_to_load(FileWorker(folder / "looping.py", LOOPING), "still being loaded")
        case 9:
            toll.told += await _fails_to_load(FileWorker(folder / "leaving.py", LEAVING), "exit code 7")
        case _:
            try:
                await worker.call(CALLS[number % len(CALLS)], {}, Context())
            except ToolError:
                toll.told += 1


async def _fails_to_load(worker: FileWorker, told: str) -> bool:
    try:
        await worker.load(timeout=LOAD_SECONDS)
    except LoadFailed as trouble:
        return told in trouble.text
    return False


async def _is_well(worker: FileWorker) -> bool:
    output = await worker.call("well", {}, Context())
    return [part.text for part in output.parts if part.type == "text"] == ["well"]


async def _stop(worker: FileWorker) -> float:
    """Seconds from Stop until an endless call is over and its process gone."""
    running = asyncio.Event()

    class Waiting(Context):
        def printed(self, text: str) -> None:
            running.set()

    call = asyncio.create_task(worker.call("spin", {}, Waiting()))
    await running.wait()
    process = psutil.Process(worker.pid)
    began = time.perf_counter()
    call.cancel()
    await asyncio.wait({call})
    await until(lambda: not process.is_running())
    return time.perf_counter() - began


async def _left(folder: str) -> list[psutil.Process]:
    """The processes of tool files that are still there after a moment."""
    try:
        await until(lambda: not _living(folder), seconds=3, pause=0.1)
    except TimeoutError:
        return _living(folder)
    return []


def _living(folder: str) -> list[psutil.Process]:
    """Processes below this one, and those that lost their parent: they have a file's path in their command."""
    lost = [
        one for one in psutil.process_iter(["cmdline"]) if any(folder in word for word in one.info["cmdline"] or ())
    ]
    return [one for one in {*psutil.Process().children(recursive=True), *lost} if _lives(one)]


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
