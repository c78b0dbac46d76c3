"""Short forms of what `make bench` and `make faults` measure, where no time is judged but a processor's.

They run beside other tests.
"""

import importlib
import inspect
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.bench import (
    api_first,
    api_run,
    evals,
    evals_cells,
    evals_same,
    first_token,
    load,
    matrix,
    mcp_oauth,
    memory,
    python_sandbox,
    store_append,
    suites,
    system,
    system_pages,
    tool_files,
    workflow_canvas,
    workflow_live,
    workflows,
)
from tests.bench import mcp as mcp_calls
from tests.faults import long_life, slow_patterns
from tests.figures import measurements, missed
from tests.hostile_patterns import FoundPattern

HERE = Path(__file__).parent
MODULES = [f"tests.{folder}.{name}" for folder in ("bench", "faults") for name in measurements(HERE / folder)]


@pytest.fixture
def own_environment(monkeypatch):
    """What a measurement sets for the provider is taken back after the test."""
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    monkeypatch.setenv("OPENAI_API_KEY", "")


@pytest.mark.parametrize("module", MODULES)
def test_a_measurement_can_be_called_without_arguments(module):
    inspect.signature(importlib.import_module(module).run).bind()


async def test_experiments_are_measured():
    figures = await evals_cells.run(cases=5, repeats=2, rounds=1)
    assert [figure.name.split()[0] for figure in figures] == ["E3"] * 3
    assert figures[1].passed, figures


async def test_the_same_variant_twice_is_measured():
    [figure] = await evals_same.run(experiments=2, cases=5)
    assert figure.passed, figure


def test_pages_of_the_system_are_measured():
    with ThreadPoolExecutor(1) as beside:
        figures = beside.submit(system_pages.run, stored=200, rounds=1).result()
    assert [figure.name for figure in figures][:1] == ["E4 /monitoring with 200 runs"]
    assert all(" x (" in figure.value for figure in figures)


def test_the_memory_is_measured():
    with ThreadPoolExecutor(1) as beside:
        [figure] = beside.submit(memory.run, runs=1, visits=1, pause=0).result()
    assert figure.passed and figure.value.count(" MB after ") == 4, figure


def test_a_long_life_is_measured():
    day = long_life.Day(runs=2, visits=2, looks=2, edits=2, restarts=2, changes=200)
    with ThreadPoolExecutor(1) as beside:
        memory, *left, database = beside.submit(long_life.run, day, tenths=2, settling=0, pages=("/", "/runs")).result()
    assert "x (" in memory.value and len(left) == 4
    assert database.passed, database


def test_a_matrix_is_measured():
    with ThreadPoolExecutor(1) as beside:  # pytest's own event loop may run in this thread
        opened, filtered = beside.submit(matrix.run, rounds=1, cases=60).result()
    assert opened.name == "E4 a matrix of 60 cases x 4 x 3"
    assert filtered.value.endswith(" ms")


def test_what_evals_tell_by_mistake_is_measured():
    figures = evals.run(experiments=150)
    assert len(figures) == 7
    assert not missed(figures)


def test_the_script_of_the_canvas_is_weighed():
    assert workflow_canvas.script().passed


async def test_figures_of_all_runs_are_measured():
    figures = await system.run(stored=200, rounds=1, counted=500, watched=3)
    assert [figure.name for figure in figures[1:3]] == ["Start with 200 runs", "30 days by model with 200 runs"]
    assert figures[2].passed and figures[3].passed, figures  # a look at 200 runs is far from its bar at any load


def test_the_state_on_the_canvas_is_measured():
    with ThreadPoolExecutor(1) as beside:  # pytest's own event loop may run in this thread
        [figure] = beside.submit(workflow_live.run, nodes=5, rounds=1).result()
    assert figure.name == "W2 state on the canvas, 5 nodes alive, p95"


def test_workflows_are_measured():
    figures = workflows.run(nodes=60, rounds=1)
    assert len(figures) == 6
    assert figures[2].name == "W2 layout of 60 nodes"


async def test_calls_of_who_is_signed_in_are_measured():
    figures = await mcp_oauth.run(rounds=1, at_once=2)
    assert [figure.name.split()[0] for figure in figures] == ["A2"] * 3
    assert figures[-1].passed, figures


async def test_the_python_sandbox_is_measured():
    [figure] = await python_sandbox.run(calls=3)
    assert figure.value.endswith(" ms")


async def test_a_call_over_mcp_is_measured():
    older, newer = await mcp_calls.run(rounds=3, warm_up=1)
    assert older.name.startswith("A2") and newer.name.startswith("A2")


@pytest.mark.usefixtures("own_environment")
async def test_the_load_is_measured():
    assert len(await load.run(runs=3, seconds=1)) == 2


@pytest.mark.usefixtures("own_environment")
async def test_the_first_token_is_measured():
    figures = await first_token.run(rounds=3)
    assert [figure.name[:14] for figure in figures] == ["P2 first token"] * 3


async def test_tool_files_are_measured():
    saved, listed = await tool_files.run(saves=2, files=20)
    assert saved.name.startswith("Save a tool file")
    assert listed.value.endswith(" ms, 0 started")


async def test_slow_patterns_are_looked_for():
    figures = await slow_patterns.run(brief=True)
    assert len(figures) == 3
    assert not missed(figures)


@pytest.mark.parametrize("slow", [r"<[^>]*>", r"a\s*=?\s*b", r"(a|a)*$", r".*?x.*?y"])
def test_a_slow_pattern_is_found(slow):
    pattern = FoundPattern("app", 1, re.compile(slow), frozenset({"search"}))
    longest, _ = slow_patterns.longest_match([pattern], brief=False)
    assert longest > slow_patterns.BAR


def test_the_first_request_to_the_api_is_measured():
    first, described = api_first.run(rounds=1)
    assert first.name == "The API's first request: processor" and " x (" in first.value
    assert described.name == "The API's first description: processor"


def test_runs_over_the_api_are_measured():
    against_bare, *against_rivals = api_run.run(rounds=1, warm_up=1, with_rivals=False)
    assert against_bare.value.endswith(" × one that does not stream)")
    assert [figure.passed for figure in against_rivals] == [None] * 5


def test_durable_appends_are_measured():
    with ThreadPoolExecutor(1) as beside:  # it has an event loop of its own
        figures = beside.submit(store_append.run, rounds=10, many=500).result()
    assert len(figures) == 3
    assert figures[2].name == "P4 durable insert into 500 documents, against into 100"


def test_suites_of_others_are_measured():
    figures = suites.run()
    assert len(figures) == 4
    assert not [figure for figure in figures if figure.passed is False], figures  # without npm they do not run
