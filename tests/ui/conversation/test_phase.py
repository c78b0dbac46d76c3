from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.domain.agents import Parameters
from app.domain.events import (
    Entry,
    Event,
    ModelCalled,
    ModelFailed,
    PauseRequested,
    PauseResolved,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import ToolResult
from app.domain.streaming import Draft, DraftCall
from app.domain.values import now
from app.ui.conversation.phase import Phase, PhaseLine
from tests.traces import SUMMING, a_workflow_run, node_started, started
from tests.ui.runs.test_runs_pages import visitor

BEGAN = datetime(2026, 11, 21, 12, tzinfo=UTC)
ASKED = ModelCalled(call_id="m", model="demo/agent", parameters=Parameters(), message_count=1)


def phase(*events: Event) -> Phase:
    """One event each second."""
    followed = Phase(BEGAN, {"calculator": "Calculator"})
    for seq, event in enumerate(events):
        followed.take(Entry(run_id="run", seq=seq, at=BEGAN + timedelta(seconds=seq + 1), event=event))
    return followed


def called(call_id: str, name: str) -> ToolCalled:
    return ToolCalled(call_id=call_id, name=name, arguments={})


def test_it_thinks_until_there_is_text() -> None:
    assert phase().words(Draft()) == "Starting…"
    assert phase(ASKED).words(Draft()) == "Thinking…"
    assert phase(ASKED).words(Draft(reasoning="hm")) == "Thinking…"
    assert phase(ASKED).words(Draft(text="The")) == "Writing…"


def test_calls_are_named_by_their_titles() -> None:
    draft = Draft(calls=[DraftCall("a", "calculator", '{"x')])
    assert phase(ASKED).words(draft) == "Preparing Calculator…"
    running = phase(ASKED, called("a", "calculator"), called("b", "read_file"))
    assert running.words(Draft()) == "Calling Calculator, read_file…"
    assert running.since == BEGAN + timedelta(seconds=3)


def test_a_call_that_returned_is_over() -> None:
    returned = ToolReturned(call_id="a", result=ToolResult(call_id="a", name="calculator"), ms=1)
    assert phase(ASKED, called("a", "calculator"), returned).words(Draft()) == "Thinking…"


def test_a_pause_waits_for_a_decision() -> None:
    pause = PauseRequested(pause_id="p", reason="approval", call_id="a", name="calculator")
    assert phase(ASKED, pause).words(Draft()) == "Waiting for your decision…"
    resolved = PauseResolved(pause_id="p", decision="approve")
    assert phase(ASKED, pause, resolved).words(Draft()) == "Thinking…"


def test_a_retry_says_why_and_when() -> None:
    failed = ModelFailed(call_id="m", failure="rate_limit", text="429", attempt=1, retry_at=BEGAN)
    words = phase(ASKED, failed).words(Draft())
    assert words.startswith("Too many requests. Trying again at ")


def test_a_message_that_waits_to_break_in_says_for_which_tool() -> None:
    going_on = phase(called("a", "calculator"))
    assert going_on.words(Draft()) == "Calling Calculator…"
    assert going_on.words(Draft(), steered=True) == "Waiting for Calculator…"


def test_the_nodes_that_run_are_named_and_not_what_they_call() -> None:
    run, followed = a_workflow_run(), Phase(BEGAN, {})
    for entry in run[:9]:
        followed.take(entry)
    assert followed.words(Draft()) == "Running Double it, item 1, Double it, item 2…"
    for entry in run[9:14]:
        followed.take(entry)
    assert followed.words(Draft()) == "Going on…"


def test_a_node_that_asks_a_person_waits() -> None:
    pause = PauseRequested(pause_id="p", reason="approval", call_id="total~2", name="calculator")
    assert phase(started(workflow=SUMMING), node_started("total", attempt=2), pause).words(Draft()) == (
        "Waiting for your decision…"
    )


async def test_seconds_are_not_counted_from_below_nothing_where_a_clock_was_set_back(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, _workbench):
        await user.open("/playground")
        with user.current_layout:
            line = PhaseLine()
        line.show("Thinking…", now() + timedelta(hours=1))
        assert line.props["ms"] == 0
