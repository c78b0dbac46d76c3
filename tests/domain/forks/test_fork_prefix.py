"""Where a fork may start, and what it copies: from any step of any run a conversation that a provider takes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.edits import EditedArguments, EditedResult
from app.domain.errors import WorkbenchError
from app.domain.events import (
    Entry,
    Event,
    FileChanged,
    Forked,
    ModelFailed,
    PauseRequested,
    PauseResolved,
    RunResumed,
    ToolCalled,
    ToolReturned,
)
from app.domain.forks.fork_prefix import Prefix, point_of, prefix_for
from app.domain.forks.forks import ForkPlan, ToolPlan
from app.domain.messages import ToolCall
from app.domain.trace import active_seconds, conversation, left_calls, open_pauses, trajectory, unanswered_request
from app.domain.trace.fork_view import fork_view, reused_steps
from tests import traces
from tests.traces import ADD, asked, called, ran, returned, said, started, the_sum, trace_of


def test_after_each_result_and_message_a_fork_may_start() -> None:
    entries = the_sum()
    lengths = [point_of(entries, seq)[0] for seq in range(len(entries))]
    assert lengths == [2] * 6 + [7] * 5 + [12] * 5


def test_a_move_is_said_where_something_is_left_out() -> None:
    entries = the_sum()
    assert point_of(entries, 6)[1] == ""
    assert (
        point_of(entries, 5)[1]
        == "A call is open in step 1, so the fork starts before it was asked for, after the first message."
    )
    assert "asked for once more" in point_of(entries, 13)[1]
    assert "after the first message" in point_of(entries, 0)[1]
    assert point_of(entries, 7)[1] == ""


@pytest.mark.parametrize("still_open", [[called()], [said("", ADD)], [said("", ADD), ran(ADD, "")[0]]])
def test_a_message_in_the_middle_of_something_is_no_point(still_open: list[Event]) -> None:
    entries = trace_of(started(), asked("hi"), *still_open, asked("wait"))
    assert point_of(entries, len(entries) - 1)[0] == 2


def test_a_run_in_which_nothing_was_said_has_no_point() -> None:
    with pytest.raises(WorkbenchError, match="Nothing was said"):
        point_of(trace_of(started()), 0)


def test_a_result_is_edited_where_its_neighbours_are_not_back_yet() -> None:
    one, other = traces.call("a"), traces.call("b")
    entries = trace_of(started(), asked("hi"), called(), said("", one, other), returned(), *ran(one, "1"))
    plan = ForkPlan(seq=6, edits=(EditedResult(call_id="b", text="two"),))
    prefix = prefix_for(entries, plan)
    assert prefix.again == ()
    assert [part.text for message in conversation(prefix.entries)[2:] for part in message.parts] == ["1", "two"]
    assert prefix.edited == (7, 8)
    assert prefix.seq == 6


def test_a_call_that_is_made_again_leaves_nothing_of_its_first_time() -> None:
    change = FileChanged(call_id="c1", path="/a", before=None, after="1")
    pause = PauseRequested(pause_id="p1", reason="approval", call_id="c1")
    begun, back = ran(ADD, "15")
    entries = trace_of(
        *(started(), asked("hi"), called(), said("", ADD), returned()),
        *(pause, PauseResolved(pause_id="p1", decision="approve"), begun, change, back),
    )
    prefix = prefix_for(entries, ForkPlan(seq=7, edits=(EditedArguments(call_id="c1", arguments={"x": 1}),)))
    assert [entry.event.type for entry in prefix.entries] == [entry.event.type for entry in entries[:5]]
    assert left_calls(prefix.entries)[0].call.arguments == {"x": 1}
    assert prefix.edited == (3,)


def test_calls_before_the_point_are_rehearsed_from_the_first_live_one_on() -> None:
    entries = the_sum()
    prefix = prefix_for(entries, ForkPlan(seq=11, tools={"calculator": ToolPlan(before="live")}))
    assert [call.call_id for call in prefix.again] == ["c1"]
    assert [entry.seq for entry in prefix.entries] == list(range(5))
    assert [entry.seq for entry in prefix.rehearsed] == list(range(7, 12))


def test_calls_before_a_message_of_the_user_cannot_be_rehearsed() -> None:
    entries = the_sum()[:7]
    entries = trace_of(*(entry.event for entry in entries), asked("wait"))
    with pytest.raises(WorkbenchError, match="the user broke in"):
        prefix_for(entries, ForkPlan(seq=7, tools={"calculator": ToolPlan(before="live")}))


def test_a_fork_stands_beside_its_origin_from_the_point_on() -> None:
    entries = the_sum()
    prefix = [entry.event for entry in entries[:7]]
    other = traces.call("c9", operation="divide", x=15, y=3)
    fork = trace_of(*prefix, forked_from(entries), called(), said("", other), returned(), *ran(other, "5"))
    view = fork_view(fork, entries)
    assert view is not None
    assert view.summary == "1 step reused, 1 new"
    assert [row.verdict for row in view.rows] == ["other_arguments", "missing"]
    assert fork_view(entries, entries) is None


def test_the_time_of_a_fork_is_counted_from_its_point_on() -> None:
    entries = the_sum()
    fork = trace_of(*(entry.event for entry in entries[:7]), forked_from(entries), called(), said("so"), returned())
    assert active_seconds(fork[:8]) == 0
    assert active_seconds(fork) == pytest.approx(0.3)


def forked_from(entries: list[Entry]) -> Event:
    return Forked(run_id="r1", seq=6, prefix_digest=entries[6].digest)


# Any run


@st.composite
def runs(draw: st.DrawFn) -> list[Entry]:
    """A run of a few steps with all that may happen in one, cut off anywhere."""
    events: list[Event] = [started(), asked("go")]
    for step in range(draw(st.integers(0, 4))):
        events += draw(st.sampled_from([[], [RunResumed()], [asked("steered")]]))
        if draw(st.booleans()):
            events += [called(f"f{step}"), failure(f"f{step}")]
        calls = [traces.call(f"s{step}c{n}", f"tool{n}") for n in range(draw(st.integers(0, 3)))]
        events += [called(f"m{step}"), said("words", *calls), returned(f"m{step}")]
        events += draw(interleaved(calls))
    return trace_of(*events[: draw(st.integers(2, len(events)))])


def failure(call_id: str) -> ModelFailed:
    return ModelFailed(call_id=call_id, failure="network", text="gone", attempt=1)


@st.composite
def interleaved(draw: st.DrawFn, calls: list[ToolCall]) -> list[Event]:
    """What the calls do, side by side."""
    left = [draw(doings(call)) for call in calls]
    events: list[Event] = []
    while any(left):
        lane = draw(st.sampled_from([lane for lane in left if lane]))
        events.append(lane.pop(0))
    return events


@st.composite
def doings(draw: st.DrawFn, call: ToolCall) -> list[Event]:
    begun, back = ran(call, "done")
    pause = PauseRequested(pause_id=f"p-{call.call_id}", reason="approval", call_id=call.call_id)
    resolved = PauseResolved(pause_id=pause.pause_id, decision="approve")
    change = FileChanged(call_id=call.call_id, path="/a", before=None, after="1")
    asks = [pause, resolved] if draw(st.booleans()) else []
    return [*asks, begun, *([change] if draw(st.booleans()) else []), back]


@settings(max_examples=40, deadline=None)
@given(runs())
def test_from_any_step_of_any_run_a_fork_has_no_orphan_call_or_result(entries: list[Entry]) -> None:
    for seq in range(len(entries)):
        prefix = prefix_for(entries, ForkPlan(seq=seq))
        settled(prefix)
        assert prefix.again == ()
        assert prefix.entries == tuple(entries[: len(prefix.entries)])
        assert len(prefix.entries) <= max(seq + 1, 2)
        assert conversation(prefix.entries)[-1].role in ("user", "tool")
        assert reused_steps(trajectory(prefix.entries)) == len(trajectory(prefix.entries))


@settings(max_examples=40, deadline=None)
@given(runs(), st.data())
def test_from_any_edited_call_a_fork_has_no_orphan_call_or_result(entries: list[Entry], data: st.DataObject) -> None:
    calls = [(entry.seq, call) for entry in entries for call in calls_of(entry)]
    for place, call in calls:
        edit = data.draw(
            st.sampled_from([EditedArguments(call_id=call.call_id, arguments={"x": 1}), given_result(call)])
        )
        plan = ForkPlan(seq=place, edits=(edit,))
        if place == len(entries) - 1:
            with pytest.raises(WorkbenchError, match="was closed while"):
                prefix_for(entries, plan)
            continue
        prefix = prefix_for(entries, plan)
        settled(prefix)
        again = {one.call_id for one in prefix.again}
        assert (call.call_id in again) == isinstance(edit, EditedArguments)
        assert not again & {e.event.call_id for e in prefix.entries if isinstance(e.event, ToolCalled | FileChanged)}


def settled(prefix: Prefix) -> None:
    """Nothing is open but the calls that are made again, and each result stands behind its call."""
    entries = prefix.entries
    assert [entry.seq for entry in entries] == list(range(len(entries)))
    assert {left.call.call_id for left in left_calls(entries)} == {call.call_id for call in prefix.again}
    assert open_pauses(entries) == []
    assert unanswered_request(entries) is None
    asked_for = {call.call_id for entry in entries for call in calls_of(entry)}
    answered = [entry.event.call_id for entry in entries if isinstance(entry.event, ToolReturned)]
    assert set(answered) == asked_for - {call.call_id for call in prefix.again}
    assert len(answered) == len(set(answered))


def calls_of(entry: Entry) -> tuple[ToolCall, ...]:
    return entry.event.message.tool_calls if entry.event.type == "message_added" else ()


def given_result(call: ToolCall) -> EditedResult:
    return EditedResult(call_id=call.call_id, text="given")
