"""Short forms of what `make bench` and `make faults` time, so that none of it rots between two measurements.

They run by themselves; those that judge no time are in `test_untimed_measurements.py`.
"""

import pytest

from tests.bench import (
    pictures,
    search,
    workflows_running,
)
from tests.faults import (
    crashing_tools,
    silent_crowd,
    steers,
    stops,
)
from tests.figures import missed


async def test_smaller_pictures_are_measured():
    figures = await pictures.run(width=1600, several=2)
    assert figures[0].name == "a photo of 2 million pixels made smaller" and figures[0].passed


async def test_runs_of_workflows_are_measured():
    figures = await workflows_running.run(nodes=10, items=20)
    assert len(figures) == 3 and figures[1].passed, figures


async def test_stops_are_measured():
    figures = await stops.run(stops=3)
    assert [figure.name for figure in figures] == ["R4 stop, p95", "R4 tool calls after a stop"]
    assert not missed(figures)


async def test_crashes_of_tools_are_measured():
    figures = await crashing_tools.run(crashes=4, stops=2)
    assert len(figures) == 5
    assert not missed(figures)


async def test_silent_connections_are_measured():
    figures = await silent_crowd.run(silent=1200)
    assert len(figures) == 2
    assert not missed(figures)


@pytest.fixture
def own_environment(monkeypatch):
    """What a measurement sets for the provider is taken back after the test."""
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    monkeypatch.setenv("OPENAI_API_KEY", "")


@pytest.mark.usefixtures("own_environment")
async def test_steers_are_measured():
    figures = await steers.run(steers=2, in_tools=2)
    assert len(figures) == 5
    assert not missed(figures, but="Steer")  # of two, no time says anything


async def test_the_search_is_measured():
    [figure] = await search.run(runs=40, questions=20)
    assert figure.passed, figure
