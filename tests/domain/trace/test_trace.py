"""Every view of a trace, as a pure function of entries."""

from datetime import timedelta

from app.domain.errors import ErrorInfo
from app.domain.events import FileChanged, Forked, PauseRequested, PauseResolved, RunFinished, ToolCalled, ToolReturned
from app.domain.messages import user_message
from app.domain.trace import (
    PausesSoFar,
    call_views,
    conversation,
    error_of,
    files_after,
    open_pauses,
    run_row,
    status,
    steps,
    totals,
    trajectory,
)  # fmt: skip
from tests.traces import ADD, MULTIPLY, asked, call, called, finished, ran, returned, said, started, the_sum, trace_of


def test_the_sum_has_exactly_eight_steps():
    assert [step.type for step in steps(the_sum())] == [
        "user-request",
        "agent-thought", "tool-call", "tool-result",
        "agent-thought", "tool-call", "tool-result",
        "agent-response",
    ]  # fmt: skip


def test_steps_say_where_they_come_from():
    found = steps(the_sum())
    assert found[2].call.arguments == {"operation": "add", "x": 5, "y": 10}
    assert found[3].text == "5 + 10 = 15" and found[3].call.ms == 1.5
    assert [step.seq for step in found] == sorted(step.seq for step in found)


def test_words_before_a_call_are_part_of_the_thought():
    [_, thought, *_] = steps(trace_of(started(), asked("x"), said("I will add.", ADD, reasoning="Hm.")))
    assert thought.type == "agent-thought" and thought.text == "Hm.\n\nI will add."


def test_a_partial_answer_without_words_is_no_response():
    assert [s.type for s in steps(trace_of(started(), asked("x"), said(reasoning="Hm", partial=True)))] == [
        "user-request",
        "agent-thought",
    ]


def test_conversation_puts_results_behind_their_calls_in_call_order():
    add, multiply = ran(ADD, "15"), ran(MULTIPLY, "45")
    entries = trace_of(started(), asked("x"), said("", ADD, MULTIPLY), *multiply, *add, said("done"))
    roles = [(m.role, m.text or [p.call_id for p in m.parts]) for m in conversation(entries)]
    assert roles == [
        ("user", "x"),
        ("assistant", ["c1", "c2"]),
        ("tool", ["c1"]),
        ("tool", ["c2"]),
        ("assistant", "done"),
    ]


def test_conversation_begins_with_the_history():
    history = (user_message("before"),)
    assert [m.text for m in conversation(trace_of(started(history=history), asked("now")))] == ["before", "now"]


def test_a_call_that_was_cut_off_is_answered_as_cancelled():
    [*_, answer] = conversation(trace_of(started(), asked("x"), said("", ADD)))
    assert answer.role == "tool" and answer.parts[0].status == "cancelled"


def test_a_call_id_used_again_in_a_later_turn_keeps_its_own_result():
    entries = trace_of(
        started(), asked("x"), said("", ADD), *ran(ADD, "first"), said("", ADD), *ran(ADD, "second"), said("end")
    )
    assert [m.parts[0].text for m in conversation(entries) if m.role == "tool"] == ["first", "second"]


def test_trajectory_observes_decides_and_acts():
    first, second, third = trajectory(the_sum())
    assert [o.text for o in first.observed] == ["What is 5 + 10, then multiply by 3?"]
    assert (first.decision.kind, first.decision.reasoning) == ("act", "First the sum.")
    assert [c.result.text for c in first.calls] == ["5 + 10 = 15"]
    assert [o.text for o in second.observed] == ["5 + 10 = 15"]
    assert (third.decision.kind, third.decision.text, third.decision.cost) == ("respond", "The answer is 45.", 0.5)
    assert [step.number for step in (first, second, third)] == [1, 2, 3]


def test_totals_add_up():
    sums = totals(the_sum())
    assert (sums.usage.input_tokens, sums.usage.output_tokens, sums.cost) == (30, 60, 1.5)
    assert (sums.model_calls, sums.tool_calls, sums.first_token_ms, sums.unpriced) == (3, 2, 20, False)


def test_one_unpriced_call_makes_the_run_unpriced():
    assert totals(trace_of(started(), called(), said("a"), returned(cost=None))).unpriced


def test_a_fork_counts_only_what_came_after_its_prefix():
    fork = Forked(run_id="r0", seq=3, prefix_digest="d")
    entries = trace_of(started(), called(), said("a"), returned(cost=5), fork, called(), said("b"), returned(cost=1))
    assert totals(entries).cost == 1 and totals(entries).model_calls == 1


def test_status_is_computed():
    going_on = trace_of(started(), asked("x"))
    pause = PauseRequested(pause_id="p1", reason="approval")
    paused = trace_of(started(), asked("x"), pause)
    resolved = trace_of(started(), asked("x"), pause, PauseResolved(pause_id="p1", decision="approve"))
    assert status(going_on, alive=True) == "running"
    assert status(going_on, alive=False) == "interrupted"
    assert status(paused, alive=True) == status(paused, alive=False) == "paused"
    assert open_pauses(paused) == [pause] and open_pauses(resolved) == []
    assert status(resolved, alive=False) == "interrupted"
    assert status(the_sum(), alive=False) == status(the_sum(), alive=True) == "completed"


def test_how_a_growing_run_stands_is_known_without_looking_at_an_entry_twice():
    pauses = [PauseRequested(pause_id=f"p{number}", reason="approval") for number in (1, 2)]
    resolved = [PauseResolved(pause_id=f"p{number}", decision="approve") for number in (1, 2)]
    entries = trace_of(started(), pauses[0], pauses[1], resolved[0], asked("x"), resolved[1], asked("y"))
    so_far = PausesSoFar()
    for length in range(len(entries) + 1):
        unseen = [None] * (length - 1) + entries[max(0, length - 1) : length]
        assert status(unseen, alive=True, pauses=so_far) == status(entries[:length], alive=True)
        assert so_far.of(unseen) == open_pauses(entries[:length])


def test_files_after_follow_the_changes():
    entries = trace_of(
        started(files={"/a": "1", "/b": "2"}),
        FileChanged(call_id="c", path="/a", before="1", after="3"),
        FileChanged(call_id="c", path="/b", before="2", after=None),
        FileChanged(call_id="c", path="/c", before=None, after="4"),
    )
    assert files_after(entries) == {"/a": "3", "/c": "4"}
    assert files_after(entries[:2]) == {"/a": "3", "/b": "2"}


def test_calls_gather_all_that_is_known_of_them():
    change = FileChanged(call_id="c1", path="/a", before=None, after="1")
    add, answered = ran(ADD, "15", status="error")
    before = call_views(trace_of(started(), asked("x"), said("", ADD, MULTIPLY)))
    running = call_views(trace_of(started(), asked("x"), said("", ADD, MULTIPLY), add))
    after = call_views(trace_of(started(), asked("x"), said("", ADD, MULTIPLY), add, change, answered))
    assert [view.state for view in before.values()] == ["pending", "pending"]
    assert [view.state for view in running.values()] == ["running", "pending"]
    assert [view.state for view in after.values()] == ["failed", "pending"]
    assert after["c1"].changes == [change]


def test_the_arguments_of_a_call_are_those_it_ran_with():
    edited = ToolCalled(call_id="c1", name="calculator", arguments={"x": 1})
    assert call_views(trace_of(started(), asked("x"), said("", ADD), edited))["c1"].arguments == {"x": 1}


def test_a_row_sums_the_run_up():
    entries = the_sum()
    row = run_row(entries, alive=False)
    assert (row.status, row.request, row.tool_calls) == ("completed", "What is 5 + 10, then multiply by 3?", 2)
    assert row.duration_ms == (len(entries) - 1) * 100 and row.finished_at == entries[-1].at
    live = run_row(entries[:4], alive=True)
    assert (live.status, live.finished_at, live.duration_ms) == ("running", None, None)


def test_a_failed_run_tells_why():
    info = ErrorInfo(failure="rate_limit", text="Too many requests.")
    entries = trace_of(started(), asked("x"), RunFinished(status="failed", error=info))
    assert error_of(entries) == info and run_row(entries, alive=False).failure == "rate_limit"


def test_durations_come_from_the_entries():
    entries = the_sum()
    assert entries[-1].at - entries[0].at == timedelta(milliseconds=100 * (len(entries) - 1))


def test_a_result_without_its_call_is_still_shown():
    orphan = ToolReturned(call_id="x", result=ran(call("x"), "?")[1].result, ms=1)
    assert [step.type for step in steps(trace_of(started(), orphan, finished()))] == ["tool-result"]
