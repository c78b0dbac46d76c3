"""E4: from navigation to the content of a System page with 100,000 runs stored, against an empty page of the app."""

import asyncio
import tempfile
from pathlib import Path

from tests.app_process import AppProcess
from tests.bench.runs_pages import EMPTY, ROUNDS, Visit, figure, measured
from tests.figures import Figure
from tests.seeds import seed_rows

STORED_RUNS = 100_000
CHARTS = "[data-chart=monitoring-runs] .chart-mark"
"""What is pointed at in a chart: they are drawn once the figures are there."""
VISITS = tuple(
    Visit(address, CHARTS, f"{shown} .chart-mark")
    for address, shown in (
        ("/monitoring", "[data-chart=monitoring-tools]"),
        ("/monitoring?over=month", "[data-chart=monitoring-tools]"),
    )
)


def run(*, stored: int = STORED_RUNS, rounds: int = ROUNDS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(seed_rows(folder, stored))
        app = AppProcess(folder)
        app.start()
        try:
            empty, *taken = measured(app, EMPTY, *VISITS, rounds=rounds)
        finally:
            app.stop()
    return [
        figure(f"E4 {visit.address} with {stored:,} runs", seconds, empty)
        for visit, seconds in zip(VISITS, taken, strict=True)
    ]
