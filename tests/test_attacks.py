"""Short forms of what attackers try in `make faults`. They measure no time, so that they may run beside other tests."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.faults import (
    argv,
    hostile_apps,
    hostile_files,
    hostile_pages,
    judge_injections,
    mcp_clients,
    oauth,
    oracle,
    planted_secrets,
    rights,
    tools_paths,
    tools_sandbox,
)
from tests.figures import missed
from tests.hostile import PAYLOADS
from tests.tools.attacks import FILES


async def test_ways_to_sign_in_are_measured():
    figures = await oauth.run(brief=True)
    assert len(figures) == 4
    assert not missed(figures)


async def test_what_hostile_files_decide_is_measured():
    figures = await hostile_files.run(brief=True)
    assert [figure.value for figure in figures] == ["0 of 11 hostile files"] * 3, figures


async def test_planted_secrets_are_looked_for():
    [figure] = await planted_secrets.run(brief=True)
    assert figure.passed, figure
    assert figure.value.startswith("0 of 28 planted, ")


async def test_what_streams_tell_is_measured():
    [figure] = await oracle.run(texts=30)
    assert figure.passed, figure
    assert figure.value.startswith("0 of 180 streams, ")


async def test_what_others_may_read_is_looked_through():
    found, typed = await argv.run(brief=True)
    assert found.passed, found
    assert typed.passed is None


async def test_injections_into_judges_are_measured(monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):  # what it sets is taken back
        monkeypatch.setenv(name, "")
    figures = await judge_injections.run(brief=True)
    assert len(figures) == 2
    assert not missed(figures)


def test_paths_that_lead_out_are_looked_for():
    figures = tools_paths.run()
    assert len(figures) == 2
    assert not missed(figures)


async def test_programs_against_the_sandbox_are_measured():
    figures = await tools_sandbox.run(attacks=FILES[:4], stops=2)
    assert [figures[0].value, figures[-1].value] == ["0 of 4 attacks", "0"], figures


async def test_who_may_what_is_measured():
    [figure] = await rights.run(brief=True)
    assert figure.passed, figure


async def test_programs_of_others_are_not_run_where_there_is_no_node(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    figures = await mcp_clients.run(brief=True)
    assert [(figure.value, figure.passed) for figure in figures] == [("npm or node is not on the PATH", None)] * 2


def test_hostile_pages_are_looked_at():
    as_properties = tuple(payload for payload in PAYLOADS if ":onclick" in payload)
    with ThreadPoolExecutor(1) as beside:  # Playwright's own event loop may run in this thread
        figures = beside.submit(hostile_pages.run, (*as_properties, *PAYLOADS[::30]), brief=True).result()
    assert len(figures) == 2
    assert not missed(figures)


def test_hostile_views_are_tried():
    with ThreadPoolExecutor(1) as beside:
        [figure] = beside.submit(hostile_apps.run, brief=True).result()
    assert figure.passed, figure
    assert figure.value.startswith(f"0 of {len(hostile_apps.BRIEFLY)} hostile views")
