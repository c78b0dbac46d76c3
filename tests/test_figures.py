"""How figures are printed, and what the command that runs them makes of them."""

from pathlib import Path

import pytest

from tests.figures import MISSED, ROOT, Figure, main, measurements, picked, show

REACHED = Figure("P4 append", "1.2 ×", "≤ 3 ×", passed=True)
OVER = Figure("P3 chunk", "0.9 ms", "≤ 0.4 ms", passed=False)
LEFT_OUT = Figure("P7 memory", "", "≤ 110 MB", passed=None)


def test_a_figure_is_printed_beside_its_bar() -> None:
    assert str(REACHED) == "P4 append: 1.2 × (≤ 3 ×)"


def test_a_figure_that_was_not_run_says_so() -> None:
    assert str(LEFT_OUT) == "P7 memory: not run (≤ 110 MB)"
    assert str(Figure("P7 memory", "no psutil", "≤ 110 MB", passed=None)) == "P7 memory: not run, no psutil (≤ 110 MB)"


def test_a_missed_bar_is_told_by_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert show([REACHED, LEFT_OUT]) == 0
    assert show([OVER, REACHED]) == MISSED
    assert "missed: P3 chunk" in capsys.readouterr().err


def test_modules_without_a_run_are_helpers(tmp_path: Path) -> None:
    (tmp_path / "append.py").write_text("def run(): ...")
    (tmp_path / "stream.py").write_text("async def run(): ...")
    (tmp_path / "corpus.py").write_text("def runs(): ...")

    assert measurements(tmp_path) == ["append", "stream"]


def test_a_word_picks_all_that_is_measured_of_it() -> None:
    told = {kind: picked("evals", measurements(ROOT / "tests" / kind)) for kind in ("bench", "faults")}

    assert told["bench"] == ["evals", "evals_cells", "evals_same", "matrix"]
    assert told["faults"] == ["evals_kills", "evals_ways", "judge_injections", "reviews"]
    assert picked("start", ["packaged_start", "start", "starting"]) == ["start"]


def test_an_unknown_measurement_names_those_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "append.py").write_text("def run(): ...")

    assert main(tmp_path, ["apend"]) == 2
    assert "there are append" in capsys.readouterr().err
