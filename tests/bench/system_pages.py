"""E4: from navigation to the content of a System page with 100,000 runs stored, against an empty page of the app."""

import asyncio
import tempfile
from pathlib import Path

from tests.app_process import AppProcess
from tests.bench.runs_pages import EMPTY, ROUNDS, Visit, figure, measured
from tests.figures import Figure
from tests.seeds import seed_rows

STORED_RUNS = 100_000
VISITS = (
    *(
        Visit(address, f"[data-chart={first}] .chart-mark", f"{last} .chart-mark")
        for address, first, last in (
            ("/monitoring", "monitoring-runs", "[data-chart=monitoring-queued]"),
            ("/monitoring?over=month", "monitoring-runs", "[data-chart=monitoring-queued]"),
        )
    ),
    Visit("/resources", "[data-chart=resources-model-money] .chart-mark", "[data-testid=dearest-runs]"),
    Visit("/", ".tile", "[data-testid=overview-disk]"),
)
"""What is pointed at in a chart is drawn once the figures are there."""


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
