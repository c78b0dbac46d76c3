"""Past runs on the canvas: which one is shown, and what the box to choose from says."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from nicegui import Client, core, ui
from nicegui.page import page

from app.domain.agents import WorkflowBehaviour, new_agent
from app.domain.events import Entry
from app.domain.provenance import AgentRef
from app.ui.build.run_bar import LAST_RUNS, RunBar
from app.workbench import Workbench
from tests.seeds import seed_traces
from tests.traces import SUMMING, asked, finished, node_ended, node_started, started, trace_of
from tests.waiting import until

AGENT = new_agent("Steps", WorkflowBehaviour(workflow=SUMMING), taken_slugs=())


def ran(number: int, *, rounds: int = 1) -> list[Entry]:
    """The run with that number, each of which began an hour after the one before."""
    agent = AgentRef(id=AGENT.id, slug=AGENT.slug, name=AGENT.name, variant=1)
    told = [change(f"each[{place}].double") for place in range(rounds) for change in (node_started, node_ended)]
    begun = started(agent=agent, workflow=SUMMING, model="", format=2)
    entries = trace_of(
        begun, asked(f"Question {number}."), node_started("each", of=rounds), *told, finished(), run_id=f"run-{number}"
    )
    return [entry.model_copy(update={"at": entry.at + timedelta(hours=number)}) for entry in entries]


class ShownBar:
    def __init__(self, bar: RunBar, told: list[str]) -> None:
        self.bar = bar
        self.told = told
        """The run that was shown, each time that something new of one was."""

    @property
    def shown(self) -> str:
        return self.bar._states.run_id

    @property
    def box(self) -> ui.element:
        [found] = self.bar._picks.default_slot.children
        return found

    @property
    def named(self) -> str:
        """The number of the run that the box names."""
        return re.findall(r"<option[^>]* selected[^>]*>[^<]*Question (\d+)", str(self.box.props["innerHTML"]))[0]


@asynccontextmanager
async def bar_over(folder: Path, runs: Sequence[list[Entry]]) -> AsyncIterator[ShownBar]:
    await seed_traces(folder, runs)
    workbench = Workbench.open(folder)
    await workbench.agents.create(AGENT)
    told: list[str] = []
    with Client(page("")) as client:
        bar = RunBar(workbench, AGENT.id, lambda *_: None, on_run=lambda: told.append(bar._states.run_id))
        yield ShownBar(bar, told)
    client.delete()
    await workbench.close()


@pytest.fixture(autouse=True)
async def _loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())


async def test_the_box_names_the_run_that_is_shown(tmp_path: Path):
    async with bar_over(tmp_path, [ran(number) for number in range(LAST_RUNS + 1)]) as one:
        await one.bar.open()
        assert (one.shown, one.named) == (f"run-{LAST_RUNS}", str(LAST_RUNS))
        await one.bar._picked(SimpleNamespace(args=3))
        assert one.shown == f"run-{LAST_RUNS - 3}"
        one.bar._close()
        await one.bar.open()
        assert (one.shown, one.named) == (f"run-{LAST_RUNS}", str(LAST_RUNS))
        await one.bar._pick("run-0")
        await one.bar.open()
        assert (one.shown, one.named) == ("run-0", "0")


async def test_a_run_that_cannot_be_read_is_not_named_as_shown(tmp_path: Path):
    async with bar_over(tmp_path, [ran(0), ran(1)]) as one:
        await one.bar.open()
        await one.bar._workbench.data.traces.delete("run-0")
        chosen_in = one.box
        await one.bar._picked(SimpleNamespace(args=1))
        assert (one.shown, one.named) == ("run-1", "1")
        assert one.box is not chosen_in  # in which the browser has the other one


async def test_a_long_run_is_shown_once_a_thread_has_folded_it(tmp_path: Path):
    async with bar_over(tmp_path, [ran(0, rounds=600)]) as one:
        picking = asyncio.create_task(one.bar._pick("run-0"))
        while not picking.done():
            one.bar._look()
            await asyncio.sleep(0)
        assert one.told == ["run-0"]
        one.bar._look()
        assert one.told == ["run-0"]


async def test_a_run_that_was_folded_too_late_is_not_shown_any_more(tmp_path: Path):
    async with bar_over(tmp_path, [ran(0, rounds=600)]) as one:
        picking = asyncio.create_task(one.bar._pick("run-0"))
        await until(lambda: not one.bar._at_end, pause=0)
        one.bar._close()
        await picking
        assert one.shown == ""
