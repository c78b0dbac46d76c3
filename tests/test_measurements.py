"""Short forms of what `make bench` and `make faults` measure, so that none of it rots between two measurements."""

import importlib
import inspect
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.bench import api_run, evals, first_token, load, mcp_oauth, pictures, python_sandbox, search, tool_files
from tests.bench import mcp as mcp_calls
from tests.faults import (
    argv,
    backup_kills,
    cancelled,
    crashing_servers,
    crashing_tools,
    hostile_apps,
    hostile_files,
    hostile_pages,
    jobs,
    mcp_clients,
    oauth,
    oracle,
    planted_secrets,
    provider_ways,
    rights,
    run_kills,
    silent_crowd,
    slow_patterns,
    steers,
    stopped,
    stops,
)
from tests.figures import measurements
from tests.hostile import PAYLOADS
from tests.hostile_patterns import FoundPattern

HERE = Path(__file__).parent
MODULES = [f"tests.{folder}.{name}" for folder in ("bench", "faults") for name in measurements(HERE / folder)]


@pytest.mark.parametrize("module", MODULES)
def test_a_measurement_can_be_called_without_arguments(module):
    inspect.signature(importlib.import_module(module).run).bind()


async def test_smaller_pictures_are_measured():
    figures = await pictures.run(width=1600, several=2)
    assert figures[0].name == "a photo of 2 million pixels made smaller" and figures[0].passed


def test_what_evals_tell_by_mistake_is_measured():
    figures = evals.run(experiments=150)
    assert len(figures) == 7
    assert all(figure.passed for figure in figures), figures


async def test_stops_are_measured():
    figures = await stops.run(stops=3)
    assert [figure.name for figure in figures] == ["R4 stop, p95", "R4 tool calls after a stop"]
    assert all(figure.passed for figure in figures)


async def test_what_is_cancelled_is_measured():
    figures = await cancelled.run()
    assert all(figure.passed for figure in figures), figures


async def test_messages_behind_a_stop_are_measured():
    [figure] = await stopped.run(stops=24)
    assert figure.passed, figure


async def test_the_ways_of_a_provider_are_measured():
    figures = await provider_ways.run(brief=True)
    assert len(figures) == 2
    assert all(figure.passed for figure in figures), figures


async def test_crashes_of_tools_are_measured():
    figures = await crashing_tools.run(crashes=4, stops=2)
    assert len(figures) == 5
    assert all(figure.passed for figure in figures)


async def test_crashes_of_servers_are_measured():
    [figure] = await crashing_servers.run(crashes=3)
    assert figure.passed


async def test_ways_to_sign_in_are_measured():
    figures = await oauth.run(brief=True)
    assert len(figures) == 4
    assert all(figure.passed for figure in figures), figures


async def test_calls_of_who_is_signed_in_are_measured():
    figures = await mcp_oauth.run(rounds=1, at_once=2)
    assert [figure.name.split()[0] for figure in figures] == ["A2"] * 3
    assert figures[-1].passed, figures


async def test_what_hostile_files_decide_is_measured():
    figures = await hostile_files.run(brief=True)
    assert [figure.value for figure in figures] == ["0 of 10 hostile files"] * 3, figures


async def test_planted_secrets_are_looked_for():
    [figure] = await planted_secrets.run(brief=True)
    assert figure.passed, figure
    assert figure.value.startswith("0 of 28 planted, ")


async def test_what_streams_tell_is_measured():
    [figure] = await oracle.run(texts=60)
    assert figure.passed, figure
    assert figure.value.startswith("0 of 360 streams, ")


async def test_what_others_may_read_is_looked_through():
    found, typed = await argv.run(brief=True)
    assert found.passed, found
    assert typed.passed is None


async def test_silent_connections_are_measured():
    figures = await silent_crowd.run(silent=1200)
    assert len(figures) == 2
    assert all(figure.passed for figure in figures), figures


async def test_the_python_sandbox_is_measured():
    [figure] = await python_sandbox.run(calls=3)
    assert figure.value.endswith(" ms")


async def test_who_may_what_is_measured():
    [figure] = await rights.run(brief=True)
    assert figure.passed, figure


@pytest.fixture
def own_environment(monkeypatch):
    """What a measurement sets for the provider is taken back after the test."""
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    monkeypatch.setenv("OPENAI_API_KEY", "")


@pytest.mark.usefixtures("own_environment")
async def test_steers_are_measured():
    figures = await steers.run(steers=2, in_tools=2)
    assert len(figures) == 5
    assert all(figure.passed for figure in figures), figures


async def test_programs_of_others_are_not_run_where_there_is_no_node(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    figures = await mcp_clients.run(brief=True)
    assert [(figure.value, figure.passed) for figure in figures] == [("npm or node is not on the PATH", None)] * 2


async def test_a_call_over_mcp_is_measured():
    older, newer = await mcp_calls.run(rounds=3, warm_up=1)
    assert older.name.startswith("A2") and newer.name.startswith("A2")


@pytest.mark.usefixtures("own_environment")
async def test_the_load_is_measured():
    assert len(await load.run(runs=3, seconds=1)) == 2


@pytest.mark.usefixtures("own_environment")
async def test_the_first_token_is_measured():
    [figure] = await first_token.run(rounds=3)
    assert figure.name.startswith("P2")


async def test_tool_files_are_measured():
    saved, listed = await tool_files.run(saves=2, files=20)
    assert saved.name.startswith("Save a tool file")
    assert listed.value.endswith(" ms, 0 started")


async def test_slow_patterns_are_looked_for():
    figures = await slow_patterns.run(brief=True)
    assert len(figures) == 3
    assert all(figure.passed for figure in figures), figures


@pytest.mark.parametrize("slow", [r"<[^>]*>", r"a\s*=?\s*b", r"(a|a)*$", r".*?x.*?y"])
def test_a_slow_pattern_is_found(slow):
    pattern = FoundPattern("app", 1, re.compile(slow), frozenset({"search"}))
    longest, _ = slow_patterns.longest_match([pattern], brief=False)
    assert longest > slow_patterns.BAR


def test_hostile_pages_are_looked_at():
    as_properties = tuple(payload for payload in PAYLOADS if ":onclick" in payload)
    with ThreadPoolExecutor(1) as beside:  # Playwright's own event loop may run in this thread
        figures = beside.submit(hostile_pages.run, (*as_properties, *PAYLOADS[::30]), brief=True).result()
    assert len(figures) == 2
    assert all(figure.passed for figure in figures), figures


def test_hostile_views_are_tried():
    with ThreadPoolExecutor(1) as beside:
        [figure] = beside.submit(hostile_apps.run, brief=True).result()
    assert figure.passed, figure
    assert figure.value.startswith(f"0 of {len(hostile_apps.BRIEFLY)} hostile views")


def test_kills_in_mid_run_are_measured():
    figures = run_kills.run(kills=3)
    assert [figure.value.split()[0] for figure in figures] == ["0", "0", "0"]
    assert all(figure.passed for figure in figures)


def test_kills_in_backup_and_retention_are_measured():
    figures = backup_kills.run(kills=2)
    assert [figure.name.split()[0] for figure in figures] == ["Backup", "Restore", "Restore", "Retention"]
    assert all(figure.passed for figure in figures), figures


def test_kills_while_tasks_go_on_are_measured():
    figures = jobs.run(kills=1, parents=2)
    assert len(figures) == 3
    assert all(figure.passed for figure in figures), figures


async def test_the_search_is_measured():
    [figure] = await search.run(runs=40, questions=20)
    assert figure.passed, figure


def test_runs_over_the_api_are_measured():
    against_bare, against_adk = api_run.run(rounds=1, warm_up=1, with_rivals=False)
    assert against_bare.value.endswith(" × one that does not stream)")
    assert against_adk.passed is None
