"""P1: from the command to the first page, with 10,000 runs stored, against a bare NiceGUI app started the same way.

And how long a request waits meanwhile and after it, when the app looks through what is stored.
"""

import asyncio
import http.client
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.app_process import ROOT, AppProcess, free_port, plain_environment
from tests.figures import Figure
from tests.seeds import seed_runs
from tests.signed_in import BROWSER, sign_in

ROUNDS = 9
STORED_RUNS = 10_000
AFTER = 12.0
"""Seconds that it is asked after its start: in the fifth one it begins to look for what a kill left."""
BAR_MS = 100


def run(*, stored: int = STORED_RUNS, rounds: int = ROUNDS, after: float = AFTER) -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(seed_runs(folder, stored))
        sign_in(folder)
        command = [sys.executable, "-m", "app", "--no-browser", "--data", str(folder), "--port"]
        hello, ours = [], []
        for _ in range(rounds):
            hello.append(seconds_to_first_page([sys.executable, "-m", "tests.bench.hello"], BROWSER))
            ours.append(seconds_to_first_page(command, BROWSER))
        waited = milliseconds_after_start(folder, after)
    ratio = statistics.median(ours) / statistics.median(hello)
    value = f"{ratio:.2f} x ({statistics.median(ours):.2f} s against {statistics.median(hello):.2f} s)"
    started = Figure("P1 start from source", value, "<= 1.3 x a bare NiceGUI app", ratio <= 1.3)
    slowest = Figure(
        f"P1 slowest answer in {after:.0f} s after a start", f"{waited:.0f} ms", f"<= {BAR_MS} ms", waited <= BAR_MS
    )
    return [started, slowest]


def milliseconds_after_start(folder: Path, after: float) -> float:
    """Of all requests for next to nothing, one after the other, the one that waited longest."""
    app = AppProcess(folder)
    app.start()
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=60)
    began, waited = time.perf_counter(), 0.0
    try:
        while (asked := time.perf_counter()) < began + after:
            connection.request("GET", "/favicon.ico")
            connection.getresponse().read()
            waited = max(waited, time.perf_counter() - asked)
            time.sleep(0.02)
    finally:
        connection.close()
        app.stop()
    return waited * 1000


def seconds_to_first_page(command: list[str], browser: str) -> float:
    """From the start of that command, which takes a port, to the whole of its first page."""
    port = free_port()
    headers = {"Cookie": f"agent_playground_{port}={browser}"}
    began = time.perf_counter()
    process = subprocess.Popen(
        [*command, str(port)],
        cwd=ROOT,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not first_page(port, headers):
            if process.poll() is not None or time.perf_counter() - began > 60:
                raise RuntimeError(f"{command} did not start")
            time.sleep(0.005)
        return time.perf_counter() - began
    finally:
        process.terminate()
        process.wait(10)


def first_page(port: int, headers: dict[str, str]) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/", headers=headers)
        answer = connection.getresponse()
        return answer.status == 200 and b"</html>" in answer.read()
    except OSError:
        return False
    finally:
        connection.close()
