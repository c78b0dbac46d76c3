"""What the first request to the API costs, for which its routes are made, and its description; against the app's start.

In processor time of the app, so that a busy machine makes nothing longer.
"""

import statistics
import tempfile
from pathlib import Path

import httpx
import psutil

from tests.app_process import AppProcess
from tests.figures import Figure

ROUNDS = 5
BAR = 1.5
DESCRIBED = 2.25
AGENTS, DESCRIPTION = "/api/v1/agents", "/api/v1/openapi.json"


def run(rounds: int = ROUNDS) -> list[Figure]:
    taken = [seconds_of_a_start() for _ in range(rounds)]
    return [
        figure("The API's first request", [(first, start) for start, first, _ in taken], BAR),
        figure("The API's first description", [(described, start) for start, _, described in taken], DESCRIBED),
    ]


def seconds_of_a_start() -> tuple[float, float, float]:
    """Of the processor, for: the app's start on an empty folder, the first request, the first description."""
    with tempfile.TemporaryDirectory() as temporary:
        app = AppProcess(Path(temporary) / "data")
        app.start()
        try:
            asked = [used(app)]
            for path in (AGENTS, DESCRIPTION):
                httpx.get(app.url + path, headers={"X-API-Key": app.token}, timeout=60).raise_for_status()
                asked.append(used(app))
        finally:
            app.stop()
    start, first, described = asked
    return start, first - start, described - first


def used(app: AppProcess) -> float:
    times = psutil.Process(app.pid).cpu_times()
    return times.user + times.system


def figure(name: str, taken: list[tuple[float, float]], bar: float) -> Figure:
    """The median of what a request took over what the start before it took."""
    ratio = statistics.median(asked / start for asked, start in taken)
    seconds = statistics.median(asked for asked, _ in taken)
    return Figure(
        f"{name}: processor", f"{ratio:.2f} x ({seconds:.2f} s)", f"<= {bar:g} x the app's start", ratio <= bar
    )
