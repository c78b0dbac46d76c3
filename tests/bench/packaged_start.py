"""P1 of the executable: from its start to the first page, with 10,000 runs stored, against a bare NiceGUI app that is
bundled the same way; and the single file's second start, which finds what the first unpacked and has written to the
disk by then, against the folder's."""

import asyncio
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from tests.app_process import ROOT
from tests.bench.start import ROUNDS, STORED_RUNS, seconds_to_first_page
from tests.figures import Figure
from tests.packaged.built import FORMS, NOT_BUILT, is_built
from tests.seeds import seed_runs
from tests.signed_in import BROWSER, sign_in
from tests.waiting import wait_until

BUILDER = ROOT / "build" / "bundle" / "bin" / "python"
HELLO = ROOT / "build" / "hello"
HELLO_FORMS = {"file": HELLO / "dist" / "hello", "folder": HELLO / "dist" / "hello-folder" / "hello"}
FOLDER, FIRST, SECOND = "P1 start of the folder", "P1 first start of the single file", "second start of the single file"
BARE_FOLDER, BARE_FILE = "a bare NiceGUI app in a folder", "a bare NiceGUI app in a file"
BARS = ((FOLDER, 1.3, BARE_FOLDER), (FIRST, 1.6, BARE_FILE), (SECOND, 1.25, FOLDER))
"""What is measured, how many times as long it may take, and as what."""


def run(rounds: int = ROUNDS) -> list[Figure]:
    if not is_built():
        return [Figure(name, NOT_BUILT, f"<= {bar} x {other}", None) for name, bar, other in BARS]
    build_hello()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(seed_runs(folder, STORED_RUNS))
        sign_in(folder)
        took = {name: statistics.median(seconds) for name, seconds in measured(Path(temporary), folder, rounds).items()}
    return [against(name, bar, other, took) for name, bar, other in BARS]


def measured(place: Path, data: Path, rounds: int) -> dict[str, list[float]]:
    """All in turns: what else the machine does hits them alike."""
    options = ["--no-browser", "--data", str(data), "--port"]
    cached = ["env", f"XDG_CACHE_HOME={place / 'cache'}", str(FORMS["file"]), *options]
    commands = {
        BARE_FOLDER: [str(HELLO_FORMS["folder"])],
        FOLDER: [str(FORMS["folder"]), *options],
        BARE_FILE: [str(HELLO_FORMS["file"])],
        FIRST: cached,
        SECOND: cached,
    }
    took: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        shutil.rmtree(place / "cache", ignore_errors=True)
        for name, command in commands.items():
            took[name].append(seconds_to_first_page(command, BROWSER))
            if name == FIRST:
                wait_until(lambda: any((place / "cache").glob("*/*/mark")), seconds=60)
    return took


def against(name: str, bar: float, other: str, took: dict[str, float]) -> Figure:
    ratio = took[name] / took[other]
    value = f"{ratio:.2f} x ({took[name]:.2f} s against {took[other]:.2f} s)"
    return Figure(name, value, f"<= {bar} x {other}", ratio <= bar)


def build_hello() -> None:
    if all(path.is_file() for path in HELLO_FORMS.values()):
        return
    where = ["--distpath", str(HELLO / "dist"), "--workpath", str(HELLO / "work")]
    command = [str(BUILDER), "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", *where]
    subprocess.run([*command, str(ROOT / "tests" / "bench" / "hello.spec")], cwd=ROOT, check=True)
