"""What is shown of background runs: as pure functions, and on the Jobs page in this process."""

from datetime import timedelta
from pathlib import Path

import pytest
from nicegui.testing import User

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.events import Event
from app.domain.provenance import Parent, Trigger
from app.domain.trace import RunRow, RunStatus, run_row
from app.engine.run.run import Run
from app.engine.sessions.chat import FROM_PAGE
from app.ui.runs.job_news import JobNews, ended_words
from app.ui.runs.job_rows import actions_of, cells, started_by
from app.ui.runs.jobs_page import JobsProgress, JobsQuery
from app.ui.runs.live_table import LiveTable
from app.ui.runs.run_actions import action_buttons
from app.workbench import Workbench
from tests.traces import ADD, BEGAN, asked, called, finished, ran, returned, said, started, trace_of
from tests.ui.runs.test_runs_pages import marked, sees, the, visitor
from tests.waiting import until

STORY = "Tell me a long story"
TALKER = new_agent("Talker", PromptBehaviour(system_prompt="Talk."), taken_slugs=())


def row(*events: Event, alive: bool = False, **changes: object) -> RunRow:
    entries = trace_of(started(background=True), asked("Write <b>it</b>"), *events)
    return run_row(entries, alive=alive).model_copy(update=changes)


async def job(workbench: Workbench, text: str = STORY) -> Run:
    if TALKER.slug not in workbench.agents.slugs():
        await workbench.agents.create(TALKER)
    return await workbench.jobs.start(TALKER.id, text, trigger=FROM_PAGE)


def rows(user: User) -> list[dict[str, str]]:
    table = the(user, "jobs-table")
    assert isinstance(table, LiveTable)
    return table.rows


@pytest.mark.parametrize(
    ("status", "actions"),
    [
        ("interrupted", ("resume", "give-up")),
        ("paused", ("give-up",)),
        ("completed", ()),
        ("failed", ()),
        ("cancelled", ()),
        ("limited", ()),
    ],
)
def test_what_is_left_can_be_resumed_or_given_up_and_what_ended_cannot(status: RunStatus, actions: tuple[str, ...]):
    assert actions_of(status, alive=False) == actions
    assert action_buttons(actions).count("<button") == len(actions)


@pytest.mark.parametrize("status", ["running", "paused"])
def test_what_goes_on_can_be_stopped(status: RunStatus):
    assert actions_of(status, alive=True) == ("stop",)


def test_a_row_says_what_goes_on_in_words_that_are_no_markup():
    shown = cells(row(called(), alive=True), BEGAN + timedelta(seconds=7.5), doing="Step 1: Thinking…", alive=True)
    assert shown["doing"] == "Step 1: Thinking…"
    assert shown["took"] == "7.0 s"
    assert shown["actions"] == "stop"
    assert "Write &lt;b&gt;it&lt;/b&gt;" in shown["request"]
    assert "<b>" not in shown["request"]
    assert 'href="/runs/r1"' in shown["request"]
    assert 'href="/playground/s1"' in shown["conversation"]


def test_a_row_of_a_finished_run_says_what_it_did():
    shown = cells(row(called(), said("", ADD), returned(), *ran(ADD, "15"), finished()), BEGAN, doing="", alive=False)
    assert shown["doing"] == "1 step, 1 tool call"
    assert shown["took"] == "0.7 s"
    assert shown["cost"] == "$0.50"
    assert shown["actions"] == ""


def test_a_row_of_a_run_that_was_left_says_so():
    assert cells(row(called()), BEGAN, doing="", alive=False)["doing"] == "The app was closed"


def test_a_run_that_waits_leads_to_where_it_is_decided():
    paused = cells(row(status="paused"), BEGAN, doing="", alive=False)
    assert paused["doing"] == "Waits for your decision"
    assert 'data-testid="job-decide"' in paused["conversation"]
    assert "job-decide" not in cells(row(), BEGAN, doing="", alive=True)["conversation"]


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (Trigger(kind="page"), "you"),
        (Trigger(kind="api_key", name="<n8n>"), "key &lt;n8n&gt;"),
        (Trigger(kind="api_key"), "the API"),
        (Trigger(kind="terminal"), "the terminal"),
        (Trigger(kind="agent", name="Writer"), "Writer"),
    ],
)
def test_who_started_it_stands_in_words(trigger: Trigger, words: str):
    assert f">{words}</span>" in started_by(row(trigger=trigger))


def test_a_run_that_another_run_started_leads_there():
    child = row(trigger=Trigger(kind="agent", name="Writer"), parent=Parent(run_id="r0", call_id="c1"))
    assert started_by(child) == '<a href="/runs/r0">Writer</a>'


@pytest.mark.parametrize(
    ("parameters", "address", "live"),
    [
        ({}, "/jobs", None),
        ({"show": "running", "page": "2"}, "/jobs?show=running&page=2", True),
        ({"show": "finished"}, "/jobs?show=finished", False),
        ({"show": "nonsense", "page": "-1"}, "/jobs", None),
        ({"page": "0"}, "/jobs", None),
    ],
)
def test_an_address_names_what_is_shown(parameters: dict[str, str], address: str, live: bool | None):
    query = JobsQuery.of(parameters)
    assert query.address == address
    assert query.live is live


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("completed", "Write <b>it</b>: finished"),
        ("failed", "Write <b>it</b>: failed"),
        ("cancelled", "Write <b>it</b>: stopped"),
        ("limited", "Write <b>it</b>: reached a limit"),
    ],
)
def test_the_end_of_a_job_is_told_in_words(status: RunStatus, words: str):
    assert ended_words(row(status=status)) == words


async def test_a_tab_hears_of_each_job_that_ends_once_and_of_none_before_it(tmp_path: Path):
    async with visitor(tmp_path) as (_, workbench):
        await (await job(workbench, "bye")).ended()
        news = JobNews(workbench.jobs)
        assert news.take().number == 0
        ended = await job(workbench, "bye")
        await ended.ended()
        told = news.take()
        assert (told.number, [row.run_id for row in told.rows]) == (1, [ended.run_id])
        assert news.take().rows == []


async def test_progress_is_followed_from_where_it_was(tmp_path: Path):
    async with visitor(tmp_path) as (_, workbench):
        live, progress = await job(workbench), JobsProgress()
        await until(lambda: progress.words([live]) == {live.run_id: "Step 1: Writing…"})
        live.stop()
        await live.ended()
        assert progress.words([]) == {}


async def test_a_page_without_jobs_says_how_to_start_one(tmp_path: Path):
    async with visitor(tmp_path) as (user, _):
        await user.open("/jobs")
        await sees(user, "No background runs yet")
        await sees(user, "Run in background")
        assert marked(user, "jobs-table") == []


async def test_a_running_job_shows_up_and_ends_on_an_open_page(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await user.open("/jobs")
        await sees(user, "No background runs yet")
        live = await job(workbench)
        await until(lambda: marked(user, "jobs-table") and rows(user)[0]["doing"] == "Step 1: Writing…")
        assert rows(user)[0]["actions"] == "stop"
        live.stop()
        await until(lambda: rows(user)[0]["status"] == "cancelled")
        assert rows(user)[0]["actions"] == ""


async def test_jobs_come_in_pages_of_twenty_five(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        for number in range(26):
            await stored(workbench, f"run{number}")
        await user.open("/jobs?page=2")
        await sees(user, "Page 2 of 2")
        assert len(rows(user)) == 1
        user.find(marker=None, content="Previous").click()
        await sees(user, "Page 1 of 2")
        assert len(rows(user)) == 25
        assert sum(1 for _ in user.current_layout.descendants()) < 300


async def stored(workbench: Workbench, run_id: str) -> None:
    entries = trace_of(started(background=True), asked(run_id), finished(), run_id=run_id)
    await workbench.rows.save(run_row(entries, alive=False))
