"""A measured figure beside its bar, and the command that runs a folder of measurements."""

import ast
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GROUPS = {
    "evals": ("matrix", "reviews", "judge_injections"),
    "workflows": ("workflow_canvas", "workflow_kills", "workflow_live", "workflow_runs"),
}
"""Measurements that a word picks beside those whose names begin with it."""
MISSED = 3
"""Exit code of a measurement that missed a bar; Python's own for a crash is 1."""


@dataclass(frozen=True)
class Figure:
    """One line of `make bench` or `make faults`."""

    name: str
    value: str
    """As measured, with its unit; why not, for a figure that was not run."""
    bar: str
    passed: bool | None
    """None: it was not run."""

    def __str__(self) -> str:
        if self.passed is None:
            return f"{self.name}: not run{', ' * bool(self.value)}{self.value} ({self.bar})"
        return f"{self.name}: {self.value} ({self.bar})"


def missed(figures: Iterable[Figure], *, but: str | None = None) -> list[str]:
    """Those that missed their bar, as they are told; of those whose name begins with `but` the time says nothing."""
    return [str(figure) for figure in figures if not (figure.passed or (but and figure.name.startswith(but)))]


def show(figures: Iterable[Figure]) -> int:
    """Print `figures` as they come; returns 0, or MISSED when a bar was missed."""
    names: list[str] = []
    for figure in figures:
        print(figure, flush=True)
        if figure.passed is False:
            names.append(figure.name)
    if names:
        print(f"missed: {', '.join(names)}", file=sys.stderr)
    return MISSED if names else 0


def measurements(package: Path) -> list[str]:
    """The names of the modules in `package` that have a `run()`."""
    return [file.stem for file in sorted(package.glob("*.py")) if _can_run(file)]


def picked(word: str, there_are: Iterable[str]) -> list[str]:
    """The measurement of that name, those that say more behind it, and those of its group."""
    return [name for name in there_are if name == word or name.startswith(f"{word}_") or name in GROUPS.get(word, ())]


def main(package: Path, arguments: list[str]) -> int:
    """Run the named measurements of `package`, or all; each in a process of its own, so none can spoil another."""
    there_are = measurements(package)
    if unknown := [word for word in arguments if not picked(word, there_are)]:
        print(f"There is no {', '.join(unknown)} in {package.name}; there are {', '.join(there_are)}", file=sys.stderr)
        return 2
    wanted = dict.fromkeys(name for word in arguments for name in picked(word, there_are))
    codes = [_run_apart(f"tests.{package.name}.{name}") for name in wanted or there_are]
    return 1 if any(codes) else 0


def _run_apart(module: str) -> int:
    finished = subprocess.run([sys.executable, "-m", "tests.figure_module", module], cwd=ROOT, check=False)
    if finished.returncode not in (0, MISSED):
        print(f"{module}: crashed with exit code {finished.returncode}", flush=True)
    return finished.returncode


def _can_run(file: Path) -> bool:
    defined = ast.parse(file.read_text(encoding="utf-8")).body
    return any(isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == "run" for item in defined)
