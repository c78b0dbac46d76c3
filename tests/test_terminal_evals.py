"""Experiments from a terminal: what is printed, exit codes, a file for build servers; with the app up and without."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.__main__ import main
from app.api.routes.experiment_bodies import ColumnReply, ExperimentDetail, ProgressReply
from app.domain.agents import with_variant
from app.domain.evals.cases import CaseContent, DatasetChanges, new_cases
from app.domain.evals.gates import Gate
from app.domain.evals.results import results_of
from app.domain.evals.scorers import Contains
from app.terminal.evals import told_of
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.tried import cases_of, cell, experiment

CASES = [
    CaseContent(input=f"What is {number} + 10?", reference=str(number + 10), must_pass=number == 1)
    for number in range(8)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The assistant with a second variant that has no tools and so knows no sum, and a third like the first."""

    async def seed() -> None:
        bench = Workbench.open(tmp_path / "data")
        await bench.start()
        agent = bench.agents.by_slug("assistant")
        good = agent.active_variant.behaviour
        bad = good.model_copy(update={"tools": ()})
        await bench.agents.change(agent.id, lambda one: with_variant(with_variant(one, bad, origin=1), good, origin=1))
        dataset = await bench.collecting.new_dataset("Additions")
        await bench.collecting.change_dataset(dataset.id, DatasetChanges(scorers=(Contains(),)))
        await bench.collecting.add_all(dataset.id, new_cases(dataset.id, CASES))
        await bench.gating.set(agent.id, Gate(dataset_id=dataset.id, repeats=1, tools="live"))
        await bench.close()

    asyncio.run(seed())
    return tmp_path / "data"


def evaluated(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), "eval", "additions", "--agent", "assistant", *arguments])


def test_a_worse_variant_is_said_to_be_worse_and_exits_with_1(folder, capsys, tmp_path):
    junit = tmp_path / "results.xml"
    code = evaluated(folder, "--variant", "1", "--variant", "2", "--tools", "live", "--junit", str(junit))
    printed = capsys.readouterr()
    assert code == 1, printed
    assert "variant 1: 8 of 8 passed" in printed.out
    assert "variant 2 against variant 1: 0 better, 8 worse of 8: worse" in printed.out
    assert printed.out.endswith("Failed.\n")
    assert "16 tries; 8 cases can show no gain reliably" in printed.err
    assert ElementTree.parse(junit).getroot().get("failures") == "8"


def test_a_column_whose_model_has_no_price_says_so():
    planned = experiment(cases_of(1), columns=2)
    spent = ({"cost": 0.0, "unpriced": True}, {"cost": 0.5})
    tries = [cell(planned, "case1", place, 0, "passed", **money) for place, money in enumerate(spent)]
    detail = ExperimentDetail(
        **planned.model_dump(include={"id", "title", "status", "why", "pilot", "workers", "created_at", "finished_at"}),
        plan={},
        progress=ProgressReply(total=2, ended=2, running=0, cost_usd=0.5, judge_usd=0),
        by="page",
        columns=tuple(map(ColumnReply.of, results_of(planned, tries).columns)),
        verdicts=(),
        noise="",
    )
    free, dear = told_of(detail).words[1:3]
    assert "passed (21% to 100%), unpriced, median" in free and "$0.5000, median" in dear


def test_what_shows_nothing_exits_with_3_and_one_variant_alone_with_0(folder, capsys):
    assert evaluated(folder, "--variant", "1", "--variant", "3", "--tools", "live") == 3
    assert "0 better, 0 worse of 8: cannot tell" in capsys.readouterr().out
    assert evaluated(folder, "--tools", "live") == 0


def test_errors_are_no_verdict(folder, capsys):
    assert evaluated(folder, "--variant", "1", "--variant", "2") == 3
    assert "8 errors" in capsys.readouterr().out


def test_the_gate_exits_with_1_for_what_it_holds_back_and_0_for_what_it_lets_past(folder, capsys):
    assert evaluated(folder, "--variant", "2", "--gate") == 1
    assert "Gate: red: 1 of 1 cases that must pass did not: “What is 1 + 10?”." in capsys.readouterr().out
    assert evaluated(folder, "--variant", "3", "--gate", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["code"], told["gate"]["outcome"]["state"], told["experiment"]["status"]) == (0, "green", "completed")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--variant", "9"),
        ("--variant", "2", "--gate", "--repeats", "3"),
        ("--gate",),
        ("--variant", "0"),
        ("--model", "nobody/nothing"),
        ("--repeats", "100"),
    ],
)
def test_a_bad_call_exits_with_2_and_says_why(folder, capsys, arguments):
    assert evaluated(folder, *arguments) == 2
    assert capsys.readouterr().err.strip()


def test_a_number_that_does_not_fit_is_told_in_words(folder, capsys):
    assert evaluated(folder, "--repeats", "100") == 2
    assert capsys.readouterr().err == "The call does not fit: repeats: Input should be less than or equal to 20.\n"


def test_results_that_cannot_be_written_are_a_bad_call_before_anything_is_tried(folder, capsys, tmp_path):
    lacking = tmp_path / "build" / "results.xml"
    assert evaluated(folder, "--tools", "live", "--junit", str(lacking)) == 2
    printed = capsys.readouterr()
    assert f"cannot be written to {lacking}: No such file or directory. Make its folder" in printed.err
    assert "Begun" not in printed.err and printed.out == ""
    (before := tmp_path / "before.xml").write_text("<before/>")
    assert evaluated(folder, "--variant", "9", "--junit", str(before)) == 2
    assert evaluated(folder, "--variant", "9", "--junit", str(tmp_path / "new.xml")) == 2
    assert before.read_text() == "<before/>" and not (tmp_path / "new.xml").exists()


def test_a_verdict_is_told_though_its_file_cannot_be_written_any_more(folder, tmp_path):
    (built := tmp_path / "build").mkdir()
    command = [sys.executable, "-m", "app", "--data", str(folder), "eval", "additions", "--agent", "assistant"]
    with subprocess.Popen(
        [*command, "--tools", "live", "--junit", str(built / "results.xml")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ),
    ) as running:  # fmt: skip
        assert running.stderr is not None
        assert any("Begun: " in line for line in running.stderr)
        built.rmdir()
        said, trouble = running.communicate(timeout=120)
    assert "8 of 8 passed" in said and said.endswith("Fine.\n")
    assert (running.returncode, "The results cannot be written to" in trouble) == (0, True)


def test_with_the_app_up_it_goes_through_it(folder, capsys):
    process = AppProcess(folder)
    process.start()
    try:
        assert evaluated(folder, "--variant", "2", "--gate") == 1
        assert "Gate: red" in capsys.readouterr().out
        assert evaluated(folder, "--variant", "1", "--variant", "2", "--tools", "live") == 1
        assert "8 worse of 8: worse" in capsys.readouterr().out
        assert evaluated(folder, "--variant", "9") == 2
    finally:
        process.stop()


@pytest.fixture
def heard():
    """Processes that are started here hear Ctrl-C, also where the tests themselves run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_exits_with_130_and_what_has_ended_is_kept(folder):
    command = [sys.executable, "-m", "app", "--data", str(folder), "eval", "additions", "--agent", "assistant"]
    with subprocess.Popen(
        [*command, "--tools", "live", "--repeats", "20"], stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as running:
        assert running.stderr is not None
        assert "160 tries" in running.stderr.readline()
        assert "Begun: " in running.stderr.readline()
        running.send_signal(signal.SIGINT)
        said = running.stderr.read()
    assert (running.returncode, "it can be resumed" in said) == (130, True)


def test_machines_that_do_not_answer_are_no_verdict_and_said(folder, capsys):
    assert evaluated(folder, "--variant", "1", "--workers", "tcp://127.0.0.1:1") == 3
    printed = capsys.readouterr()
    assert "Cells go to other machines by Dask" in printed.out or "No scheduler of Dask answers" in printed.out
