"""System pages: what daily figures cost a run, and what 100,000 runs cost a start, a look at the figures and memory."""

import asyncio
import json
import random
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

from app.domain.trace import RunRow
from app.store.journal.database import JournalDB
from app.store.journal.frames import Document
from app.store.runs.usage_figures import UsageFigures
from app.workbench.vitals.vitals import Vitals
from tests.app_process import AppProcess
from tests.bench.start import seconds_to_first_page
from tests.figures import Figure
from tests.seeds import seed_rows, seeded_row
from tests.signed_in import BROWSER, sign_in

STORED_RUNS = 100_000
FEW = 10
ROUNDS = 5
MEGABYTE = 1024**2


async def run(
    *, stored: int = STORED_RUNS, rounds: int = ROUNDS, counted: int = 5_000, watched: float = 20
) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        unseen = await milliseconds_unseen(Path(temporary), watched)  # first: whatever follows goes on in this process
        few, many = Path(temporary) / "few", Path(temporary) / "many"
        for folder, count in ((few, FEW), (many, stored)):
            await seed_rows(folder, count)
            sign_in(folder)
        rolled_up = await milliseconds_a_run(Path(temporary), counted)
        starts = await asyncio.to_thread(compared_starts, few, many, rounds)
        looked, memory = await asyncio.to_thread(look_at_figures, many)
    ratio = starts[1] / starts[0]
    started = f"{ratio:.2f} x ({starts[1]:.2f} s against {starts[0]:.2f} s)"
    return [
        Figure("Daily figures of a run", f"{rolled_up:.3f} ms", "<= 0.1 ms of its process", rolled_up <= 0.1),
        Figure(f"Start with {stored:,} runs", started, f"<= 1.3 x with {FEW}", ratio <= 1.3),
        Figure(f"30 days by model with {stored:,} runs", f"{looked * 1000:.0f} ms", "<= 500 ms", looked <= 0.5),
        Figure(f"Memory with {stored:,} runs", f"{memory:.0f} MB", "<= 160 MB", memory <= 160),
        Figure("Looking after itself, nobody looking", f"{unseen:.2f} ms a second", "<= 0.5 ms", unseen <= 0.5),
    ]


async def milliseconds_a_run(folder: Path, runs: int) -> float:
    """Of the process, for a run that begins and ends: nothing else than what its figures take."""
    figures, chance = UsageFigures(JournalDB(folder / "counted.tdb")), random.Random(3)
    ends = [seeded_row(number, chance) for number in range(runs)]
    begun = {"status": "running", "models": (), "tools": (), "duration_ms": None, "cost": 0.0}
    pairs = [(document(row.model_copy(update=begun), 1), document(row, 2)) for row in ends]
    began = time.process_time()
    for at_first, at_last in pairs:
        figures.take(at_first, before=None)
        figures.take(at_last, before=at_first)
    taken = time.process_time() - began
    figures.keep()
    return taken * 1000 / runs


async def milliseconds_unseen(folder: Path, seconds: float) -> float:
    """Of the process, a second: what is kept for Monitoring while nobody is there."""
    vitals = Vitals(folder, lambda: 0)
    vitals.start()
    await asyncio.sleep(2)  # the first sample is there
    began, taken = time.monotonic(), time.process_time()
    await asyncio.sleep(seconds)
    taken, passed = time.process_time() - taken, time.monotonic() - began
    await vitals.close()
    return taken * 1000 / passed


def document(row: RunRow, revision: int) -> Document:
    """As the rows store it."""
    value = row.model_dump(mode="json", exclude_defaults=True)
    return {"id": row.run_id, "revision": revision, "started": row.started_at.timestamp(), "value": value}


def compared_starts(few: Path, many: Path, rounds: int) -> tuple[float, float]:
    """Seconds to the first page with few runs and with many, the medians of rounds that take turns."""
    taken: dict[Path, list[float]] = {few: [], many: []}
    for _ in range(rounds):
        for folder in (few, many):
            app = AppProcess(folder)
            command = [*app.command, "--no-browser", "--data", str(folder), "--port"]
            taken[folder].append(seconds_to_first_page(command, BROWSER))
    return statistics.median(taken[few]), statistics.median(taken[many])


def look_at_figures(folder: Path) -> tuple[float, float]:
    """Seconds to the figures over the API once they are warm, and megabytes of the app by then."""
    app = AppProcess(folder)
    app.start()
    try:
        usage(app)
        began = time.perf_counter()
        assert usage(app)["totals"]["runs"]
        return time.perf_counter() - began, psutil.Process(app.pid).memory_info().rss / MEGABYTE
    finally:
        app.stop()


def usage(app: AppProcess) -> dict:
    request = urllib.request.Request(f"{app.url}/api/v1/usage?by=model", headers={"X-API-Key": app.token})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["data"]
