"""Figures made again in a terminal, with the app up and without it."""

import asyncio
from pathlib import Path

import pytest

from app.__main__ import main
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.seeds import seed_runs


@pytest.fixture
def data(tmp_path: Path) -> Path:
    asyncio.run(seed_runs(tmp_path / "data", 5))
    return tmp_path / "data"


async def spoil(data: Path) -> None:
    """Have a row say what its trace does not."""
    workbench = Workbench.open(data)
    row = workbench.rows.get("seeded-000003")
    assert row is not None
    await workbench.rows.save(row.model_copy(update={"models": ()}))
    await workbench.close()


def test_figures_are_made_again_without_the_app(data: Path, capsys: pytest.CaptureFixture[str]):
    asyncio.run(spoil(data))
    assert main(["figures", "--data", str(data)]) == 0
    assert capsys.readouterr().out == "The figures are made again; 1 run was not counted as the trace has it.\n"
    assert main(["--data", str(data), "figures"]) == 0
    assert "0 runs were not counted" in capsys.readouterr().out


def test_figures_are_made_again_by_the_app_that_is_running(data: Path, capsys: pytest.CaptureFixture[str]):
    asyncio.run(spoil(data))
    process = AppProcess(data)
    process.start()
    try:
        assert main(["figures", "--data", str(data)]) == 0
    finally:
        process.stop()
    assert capsys.readouterr().out.endswith("1 run was not counted as the trace has it.\n")
