"""What is opened in the tabs of a run's page while the run goes on, and once it does not any more."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nicegui import Client, core, events, ui
from nicegui.page import page

from app.domain.events import Event
from app.domain.trace import run_row
from app.store.contents.artifacts import Artifacts
from app.store.contents.contents import Contents
from app.ui.run.card_context import CardContext
from app.ui.run.child_run import ChildRun
from app.ui.run.timeline import Timeline
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trajectory import SHORT, Trajectory
from app.ui.run.waterfall_view import Bars, SpanRow
from tests.api.over import opened
from tests.traces import SUMMING, asked, call, called, finished, node_started, ran, returned, said, started, trace_of

COUNT = call("c1", name="count")
CALLED, RETURNED = ran(COUNT, "3")
BEGUN: list[Event] = [started(), asked("Count."), called("m1"), said("", COUNT), returned("m1"), CALLED]


@pytest.fixture(autouse=True)
async def _loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())


@contextmanager
def shown() -> Iterator[ui.element]:
    with Client(page("")) as client, ui.element("div") as place:
        yield place
    client.delete()


def run_of(*events: Event) -> RunSoFar:
    run = RunSoFar("r1")
    go_on(run, *events)
    return run


def go_on(run: RunSoFar, *events: Event) -> None:
    seen = [entry.event for entry in run.entries]
    run.take(trace_of(*seen, *events)[len(seen) :])


def context_of(run: RunSoFar, folder: Path) -> CardContext:
    return CardContext(run, Contents(Artifacts(folder)))


def words(place: ui.element) -> str:
    return "\n".join(str(one.props.get("innerHTML", "")) for one in place.descendants())


@pytest.mark.parametrize(
    ("event", "alive", "told"), [(RETURNED, True, "called"), (finished("cancelled"), False, "never finished")]
)
async def test_a_call_that_is_opened_in_the_list_learns_of_its_end(
    tmp_path: Path, event: Event, alive: bool, told: str
):
    run = run_of(*BEGUN)
    with shown() as place:
        timeline = Timeline(run, context_of(run, tmp_path), wanted=1, on_choose=lambda _: None, short=1)
        timeline.show(alive=True)
        assert "running…" in words(place)
        go_on(run, event)
        timeline.show(alive=alive)
        assert told in words(place) and "running…" not in words(place)


async def test_what_is_opened_is_not_built_anew_where_nothing_of_it_changed(tmp_path: Path):
    run = run_of(*BEGUN)
    with shown() as place:
        timeline = Timeline(run, context_of(run, tmp_path), wanted=0, on_choose=lambda _: None, short=1)
        timeline.show(alive=True)
        [opened] = (one for one in place.descendants() if one.props.get("data-testid") == "step-detail")
        go_on(run, RETURNED, finished())
        timeline.show(alive=False)
        assert opened in place.descendants()


async def test_a_decision_that_is_opened_in_the_list_learns_what_came_of_its_calls(tmp_path: Path):
    run = run_of(started(), *(said(f"{number}") for number in range(SHORT)), *BEGUN[1:])
    with shown() as place:
        trajectory = Trajectory(run, context_of(run, tmp_path))
        await trajectory.show(alive=True)
        trajectory.go(len(run.steps) - 1)
        assert "tool-running" in words(place)
        go_on(run, RETURNED)
        trajectory._not_before = 0
        await trajectory.show(alive=True)
        assert "tool-done" in words(place) and "tool-running" not in words(place)


@pytest.mark.parametrize("nodes", [1, SHORT + 1])
async def test_a_node_of_a_run_that_was_cut_off_never_finished(tmp_path: Path, nodes: int):
    begun = (node_started(f"each[{number}].double") for number in range(nodes))
    run = run_of(started(workflow=SUMMING, model="", format=2), *begun)
    with shown() as place:
        trajectory = Trajectory(run, context_of(run, tmp_path))
        await trajectory.show(alive=True)
        assert "running" in words(place)
        trajectory._not_before = 0
        await trajectory.show(alive=False)
        assert "never finished" in words(place) and "running" not in words(place)


async def test_the_waterfall_of_a_run_may_become_shorter():
    rows: list[SpanRow] = [[0, 0, 0, end] for end in range(3)]
    with shown():
        bars = Bars(1, on_choose=lambda *_: None)
        for some in (rows, rows[:2], [], rows):
            bars.show(some, ["Model"], 3)
            assert bars._rows == some


async def test_a_child_that_is_about_to_begin_is_looked_for_as_long_as_the_run_above_goes_on(tmp_path: Path):
    workbench = opened(tmp_path)
    await workbench.start()
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    above = await workbench.chat.send(session.id, "Tell me a long story")
    with shown() as place:
        child = ChildRun(workbench, above.run_id, "k1")
        await child._look()
        assert child._timer.active and "begins" in words(place)
        await workbench.rows.save(run_row(trace_of(started(), asked("Count."), run_id="k1"), alive=True))
        await child._look()
        assert "Count." in words(place)
        other = ChildRun(workbench, "gone", "k2")
        await other._look()
        assert not other._timer.active and "not stored any more" in words(place)
    await workbench.close()


async def test_a_child_that_is_folded_away_while_it_goes_on_is_whole_when_it_is_opened_again(tmp_path: Path):
    workbench = opened(tmp_path)
    await workbench.start()
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    live = await workbench.chat.send(session.id, "Tell me a long story")
    with shown() as place:
        child = ChildRun(workbench, "above", live.run_id)
        await child._turned(turned(place, to=True))
        await child._turned(turned(place, to=False))
        live.stop()
        await live.ended()
        await child._look()
        assert not child._timer.active
        await child._turned(turned(place, to=True))
        assert len(child._run.entries) == len(live.entries)
    await workbench.close()


def turned(place: ui.element, *, to: bool) -> events.GenericEventArguments:
    return events.GenericEventArguments(sender=place, client=place.client, args=to)
