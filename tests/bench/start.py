"""P1: from the command to the first page, with 10,000 runs stored, against a bare NiceGUI app started the same way."""

import asyncio
import http.client
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.app_process import ROOT, free_port, plain_environment
from tests.figures import Figure
from tests.seeds import seed_runs
from tests.signed_in import BROWSER, sign_in

ROUNDS = 9
STORED_RUNS = 10_000


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(seed_runs(folder, STORED_RUNS))
        sign_in(folder)
        command = [sys.executable, "-m", "app", "--no-browser", "--data", str(folder), "--port"]
        hello, ours = [], []
        for _ in range(ROUNDS):
            hello.append(seconds_to_first_page([sys.executable, "-m", "tests.bench.hello"], BROWSER))
            ours.append(seconds_to_first_page(command, BROWSER))
    ratio = statistics.median(ours) / statistics.median(hello)
    value = f"{ratio:.2f} x ({statistics.median(ours):.2f} s against {statistics.median(hello):.2f} s)"
    return [Figure("P1 start from source", value, "<= 1.3 x a bare NiceGUI app", ratio <= 1.3)]


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
