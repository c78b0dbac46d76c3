"""The Runs pages in this process, over a real store."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from nicegui import background_tasks, ui
from nicegui.testing import User
from nicegui.testing.user_simulation import user_simulation

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.errors import ErrorInfo
from app.domain.events import RunFinished
from app.domain.streaming import Draft
from app.store.contents.artifacts import Artifacts
from app.store.contents.contents import Contents
from app.ui.markdown.colours import Colours
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.run.card_context import CardContext
from app.ui.run.timeline import Timeline
from app.ui.run.trace_growth import RunSoFar
from app.ui.runs.live_table import LiveTable
from app.ui.runs.trace_query import PAGE_SIZE
from app.ui.shell.shell import root
from app.workbench import Workbench
from tests.seeds import seed_long_run, seed_runs, seed_trace
from tests.sent import WAYS, run_with_files
from tests.traces import ADD, asked, called, finished, ran, returned, said, started, the_sum, trace_of
from tests.waiting import until


@asynccontextmanager
async def visitor(folder: Path) -> AsyncIterator[tuple[User, Workbench]]:
    """Somebody in front of the app over that data folder."""
    workbench = Workbench.open(folder)
    try:
        async with user_simulation(partial(root, workbench, LiveMarkdown(), Colours())) as user:
            try:
                yield user, workbench
            except BaseException:  # NiceGUI ends its tasks only where nothing failed, and some end at no cancellation
                await background_tasks.teardown()
                raise
    finally:
        await workbench.close()


def marked(user: User, testid: str) -> list[ui.element]:
    """The visible elements with that `data-testid`."""
    found = [element for element in user.current_layout.descendants() if element.props.get("data-testid") == testid]
    return [element for element in found if element.visible]


def the(user: User, testid: str) -> ui.element:
    (element,) = marked(user, testid)
    return element


def table(user: User) -> LiveTable:
    found = the(user, "runs-table")
    assert isinstance(found, LiveTable)
    return found


def words(user: User) -> str:
    """All markup and text of the page."""
    parts = [
        getattr(element, "content", "") or element.props.get("html", "")
        for element in user.current_layout.descendants()
    ]
    return "\n".join(str(part) for part in parts)


async def sees(user: User, text: str) -> None:
    await until(lambda: text in words(user))


def requests(user: User) -> list[str]:
    return [row["request"] for row in table(user).rows]


async def test_a_list_without_runs_says_so_and_leads_on(tmp_path: Path):
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs")
        await sees(user, "No runs yet")
        assert 'href="/playground"' in words(user)
        assert marked(user, "runs-table") == []


async def test_runs_come_in_pages_of_fifty_with_their_number_in_words(tmp_path: Path):
    await seed_runs(tmp_path, 120)
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs")
        await sees(user, "Runs 1 to 50 of 120")
        await until(lambda: len(requests(user)) == 50)
        user.find(marker=None, content="Next").click()
        await sees(user, "Runs 51 to 100 of 120")
        assert table(user).rows[0]["id"] == "seeded-000069"


async def test_the_address_names_filter_order_and_page(tmp_path: Path):
    await seed_runs(tmp_path, 120)
    async with visitor(tmp_path) as (user, workbench):
        await user.open("/runs?status=failed&sort=cost&order=asc")
        await until(lambda: bool(marked(user, "runs-table")) and table(user).rows)
        costs = [workbench.rows.get(row["id"]).cost for row in table(user).rows]
        assert costs == sorted(costs)
        assert all("Failed" in row["pill"] for row in table(user).rows)


async def test_a_page_behind_the_last_shows_the_last(tmp_path: Path):
    await seed_runs(tmp_path, 60)
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs?page=900")
        await sees(user, "Runs 51 to 60 of 60")


async def test_filters_that_nothing_fits_say_so_and_can_be_cleared(tmp_path: Path):
    await seed_runs(tmp_path, 10)
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs?q=no-such-words")
        await sees(user, "No run fits")
        user.find(kind=ui.html, content="clear-filters").trigger("click", ["all"])
        await sees(user, "10 runs")
        assert len(requests(user)) == 10


async def test_deleted_runs_come_back_with_undo(tmp_path: Path):
    await seed_runs(tmp_path, 3)
    async with visitor(tmp_path) as (user, workbench):
        await user.open("/runs")
        await sees(user, "3 runs")
        for row in table(user).rows[:2]:
            user.find(kind=LiveTable).trigger("pick", [row["id"], False])
        user.find("Delete 2 runs").click()
        await sees(user, "1 run")
        assert workbench.rows.get("seeded-000002") is None
        user.find("Undo").click()
        await until(lambda: len(requests(user)) == 3)
        assert workbench.rows.get("seeded-000002") is not None


async def test_a_chosen_run_that_a_new_one_pushes_off_the_page_is_chosen_no_more(tmp_path: Path):
    await seed_runs(tmp_path, PAGE_SIZE)
    async with visitor(tmp_path) as (user, workbench):
        await user.open("/runs")
        await until(lambda: bool(marked(user, "runs-table")) and len(requests(user)) == PAGE_SIZE)
        stays, goes = (row["id"] for row in table(user).rows[-2:])
        for run_id in (stays, goes):
            user.find(kind=LiveTable).trigger("pick", [run_id, False])
        agent = new_agent("Assistant", PromptBehaviour(), taken_slugs=())
        await workbench.agents.create(agent)
        session = await workbench.chat.new_session(agent.id)
        await workbench.chat.send(session.id, "What is 1 + 1?")
        await until(lambda: table(user).selected == [stays])


async def test_a_run_shows_exactly_its_steps(tmp_path: Path):
    await seed_trace(tmp_path, the_sum())
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs/r1")
        await until(lambda: len(marked(user, "run-step")) == 8)
        assert [step.props["data-step-type"] for step in marked(user, "run-step")] == [
            "user-request",
            *["agent-thought", "tool-call", "tool-result"] * 2,
            "agent-response",
        ]
        assert "Completed" in words(user)
        assert "Assistant" in words(user)
        assert "$1.50" in words(user)


async def test_a_message_says_how_its_files_went_along(tmp_path: Path):
    await seed_trace(tmp_path, run_with_files("sent"))
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs/sent")
        await sees(user, "Look at these")
        assert all(text in words(user) for text in WAYS.values())
        assert "Later" not in words(user)


async def test_the_trajectory_shows_each_decision_when_it_is_asked_for(tmp_path: Path):
    await seed_trace(tmp_path, the_sum())
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs/r1?view=trajectory")
        await until(lambda: len(marked(user, "trajectory-step")) == 3)
        assert len(marked(user, "tool-call")) == 2
        await sees(user, "Make 1 tool call")


async def test_a_long_run_has_few_elements_and_one_opened_step(tmp_path: Path):
    await seed_long_run(tmp_path, 2_000)
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs/long-run?step=1499")
        await sees(user, "told in 1,200 cards")
        opened = await until(lambda: marked(user, "step-detail"))
        assert opened[0].props["data-seq"] == "1500"  # the first step at or after that entry
        assert sum(1 for _ in user.current_layout.descendants()) < 150


async def test_an_unknown_run_is_told_in_words_with_a_way_back(tmp_path: Path):
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs/nobody-knows-it")
        await sees(user, "nobody-knows-it")
        assert marked(user, "trouble")
        assert "href=" in words(user)


async def test_an_interrupted_run_shows_the_text_it_had(tmp_path: Path):
    entries = trace_of(started(), asked("Tell me a story"), called("m1"))
    await seed_trace(tmp_path, entries, draft=Draft(text="Once upon a time"))
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs/r1")
        await sees(user, "The app ended while this run went on")
        await sees(user, "Once upon a time")
        assert marked(user, "run-draft")


async def test_a_failed_run_says_what_to_do(tmp_path: Path):
    error = ErrorInfo(failure="invalid_key", text="401: no such key")
    entries = trace_of(started(), asked("Hello"), RunFinished(status="failed", error=error))
    await seed_trace(tmp_path, entries)
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs/r1")
        await sees(user, "401: no such key")
        await sees(user, "Check the key in Settings")


async def test_a_damaged_record_is_named_and_hides_nothing_else(tmp_path: Path):
    await seed_trace(tmp_path, the_sum())
    journal = tmp_path / "runs" / "r1.tdb"
    lines = journal.read_bytes().splitlines(keepends=True)
    broken = next(index for index, line in enumerate(lines) if b'"call_id":"m2"' in line)
    lines[broken] = lines[broken][:-12] + b"#" * 11 + b"\n"
    journal.write_bytes(b"".join(lines))
    async with visitor(tmp_path) as (user, _):
        await user.open("/runs/r1")
        await sees(user, "of this run cannot be read")
        assert len(marked(user, "run-step")) == 8


async def test_hostile_names_and_texts_stay_text(tmp_path: Path):
    hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>"
    call = ADD.model_copy(update={"name": hostile, "arguments": {hostile: hostile}})
    entries = trace_of(
        started(model=hostile),
        asked(hostile),
        called(),
        said(hostile, call, reasoning=hostile),
        returned(),
        *ran(call, hostile, status="error"),
        called("m2"),
        said(hostile),
        returned("m2"),
        finished(),
    )
    await seed_trace(tmp_path, entries)
    async with visitor(tmp_path) as (user, _):
        for address in ("/runs", "/runs/r1", "/runs/r1?view=trajectory"):
            await user.open(address)
            await sees(user, "Completed") if address != "/runs" else await sees(user, "1 run")
            assert "<script>alert" not in words(user)
            assert "<img src=x" not in words(user)


async def test_a_run_grows_on_its_page_while_it_goes_on(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        live = await workbench.chat.send(session.id, "What is 5 + 10, then multiply by 3?")
        await user.open(f"/runs/{live.run_id}")
        await sees(user, "Running")
        await until(lambda: len(marked(user, "run-step")) == 8)
        await until(lambda: "Completed" in words(user))
        assert "called" in words(user)
        assert "running…" not in words(user)


async def test_the_list_follows_a_run_that_goes_on(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        await user.open("/runs")
        await sees(user, "No runs yet")
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        await workbench.chat.send(session.id, "What is 5 + 10, then multiply by 3?")
        await until(lambda: bool(marked(user, "runs-table")) and "Running" in table(user).rows[0]["pill"])
        await until(lambda: "Completed" in table(user).rows[0]["pill"])


async def test_the_card_of_a_call_learns_of_its_result(tmp_path: Path):
    run = RunSoFar("r1")
    context = CardContext(run, Contents(Artifacts(tmp_path)))

    def page() -> None:
        timeline = Timeline(run, context, wanted=None, on_choose=lambda _: None)
        run.take(the_sum()[:6])
        timeline.show(alive=True)
        ui.button("More", on_click=lambda: (run.take(the_sum()[6:7]), timeline.show(alive=True)))

    async with user_simulation(page) as user:
        await user.open("/")
        assert "running…" in words(user)
        user.find("More").click()
        await sees(user, "5 + 10 = 15")
        assert "running…" not in words(user)


async def test_a_message_learns_of_how_its_files_went_along_once_they_did(tmp_path: Path):
    run = RunSoFar("r1")
    context = CardContext(run, Contents(Artifacts(tmp_path)))

    def page() -> None:
        timeline = Timeline(run, context, wanted=None, on_choose=lambda _: None)
        run.take(run_with_files()[:2])
        timeline.show(alive=True)
        ui.button("More", on_click=lambda: (run.take(run_with_files()[2:3]), timeline.show(alive=True)))

    async with user_simulation(page) as user:
        await user.open("/")
        assert "a.txt" in words(user) and WAYS["a.txt"] not in words(user)
        user.find("More").click()
        await sees(user, WAYS["a.txt"])


async def test_a_run_that_is_gone_for_good_while_its_page_is_open_is_told_at_its_export(tmp_path: Path):
    await seed_trace(tmp_path, the_sum())
    async with visitor(tmp_path) as (user, workbench):
        await user.open("/runs/r1")
        await until(lambda: len(marked(user, "run-step")) == 8)
        await workbench.data.traces.delete("r1")
        user.find("Export").click()
        await sees(user, "no run &#x27;r1&#x27;")
        assert not the(user, "export-download").enabled


async def test_a_long_run_comes_with_its_first_steps_while_the_others_are_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    await seed_long_run(folder, 3_000)
    shown = threading.Event()
    monkeypatch.setattr("app.store.runs.traces.time", SimpleNamespace(sleep=lambda _: shown.wait(60)))
    monkeypatch.setattr("app.ui.elements.sub_pages.FIRST_CONTENT_SECONDS", 60)
    async with visitor(folder) as (user, _):
        try:
            await asyncio.wait_for(user.open("/runs/long-run"), 30)
            assert "Run on from here" in words(user)
        finally:
            shown.set()
