"""P1 of the executable: from its start to the first page, with 10,000 runs stored, against a bare NiceGUI app that is
bundled the same way."""

import asyncio
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

BARS = {"folder": 1.3, "file": 1.6}
BUILDER = ROOT / "build" / "bundle" / "bin" / "python"
HELLO = ROOT / "build" / "hello"
HELLO_FORMS = {"file": HELLO / "dist" / "hello", "folder": HELLO / "dist" / "hello-folder" / "hello"}


def run(rounds: int = ROUNDS) -> list[Figure]:
    if not is_built():
        return [Figure(name(form), NOT_BUILT, bar(form), None) for form in BARS]
    build_hello()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        asyncio.run(seed_runs(folder, STORED_RUNS))
        return [measured(form, folder, rounds) for form in BARS]


def measured(form: str, folder: Path, rounds: int) -> Figure:
    """Both in turns: what else the machine does hits them alike."""
    sign_in(folder)
    hello, ours = [], []
    for _ in range(rounds):
        hello.append(seconds_to_first_page([str(HELLO_FORMS[form])], BROWSER))
        command = [str(FORMS[form]), "--no-browser", "--data", str(folder), "--port"]
        ours.append(seconds_to_first_page(command, BROWSER))
    ratio = statistics.median(ours) / statistics.median(hello)
    value = f"{ratio:.2f} x ({statistics.median(ours):.2f} s against {statistics.median(hello):.2f} s)"
    return Figure(name(form), value, bar(form), ratio <= BARS[form])


def name(form: str) -> str:
    return f"P1 start of the {'single file' if form == 'file' else form}"


def bar(form: str) -> str:
    return f"<= {BARS[form]} x a bare NiceGUI app in a {form}"


def build_hello() -> None:
    if all(path.is_file() for path in HELLO_FORMS.values()):
        return
    where = ["--distpath", str(HELLO / "dist"), "--workpath", str(HELLO / "work")]
    command = [str(BUILDER), "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", *where]
    subprocess.run([*command, str(ROOT / "tests" / "bench" / "hello.spec")], cwd=ROOT, check=True)
