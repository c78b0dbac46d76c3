"""10,000 requests made of the API's own description, with a key and without: none may be a server error."""

import tempfile
from pathlib import Path

from tests.app_process import AppProcess
from tests.figures import Figure
from tests.fuzzing import Fuzzed, fuzz

WITH_KEY = 9_000
WITHOUT_KEY = 1_000


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        app = AppProcess(Path(folder) / "data")
        try:
            app.start()
            return [
                _figure("API fuzzed with a key", fuzz(app, cases=WITH_KEY)),
                _figure("API fuzzed without a key", fuzz(app, cases=WITHOUT_KEY, with_key=False)),
            ]
        finally:
            app.stop()


def _figure(name: str, fuzzed: Fuzzed) -> Figure:
    for fault in fuzzed.faults[:20]:
        print(f"  {fault}")
    statuses = ", ".join(f"{count} × {status}" for status, count in sorted(fuzzed.statuses.items()))
    value = f"{len(fuzzed.faults)} server errors of {fuzzed.asked} ({statuses})"
    return Figure(name, value, "0", not fuzzed.faults)
