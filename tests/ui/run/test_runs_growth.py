from datetime import timedelta

from app.domain.events import ChildFinished, ChildStarted, Forked
from app.domain.provenance import Imported
from app.domain.trace import run_row, steps, totals, trajectory
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trace_header import origin
from app.ui.run.trace_words import decided, step_line, trajectory_line
from tests.traces import ADD, BEGAN, called, finished, ran, returned, said, started, the_sum, trace_of


def test_a_run_taken_entry_by_entry_has_the_steps_and_sums_of_its_whole_trace():
    run = RunSoFar("r1")
    for entry in the_sum():
        run.take([entry])
    sums = totals(the_sum())
    assert [(step.type, step.text, step.seq) for step in run.steps] == [
        (step.type, step.text, step.seq) for step in steps(the_sum())
    ]
    assert run.figures.tokens == sums.usage.total_tokens
    assert (run.model_calls, run.tool_calls, run.figures.cost) == (sums.model_calls, sums.tool_calls, sums.cost)
    assert run.request == "What is 5 + 10, then multiply by 3?"


def test_a_fork_counts_what_came_after_its_copied_beginning():
    entries = trace_of(
        started(),
        called("m1"),
        said("", ADD),
        returned("m1"),
        *ran(ADD, "15"),
        Forked(run_id="r0", seq=5, prefix_digest="0" * 64),
        called("m2"),
        said("15"),
        returned("m2"),
    )
    run = RunSoFar("r1")
    run.take(entries)
    assert (run.model_calls, run.tool_calls, run.figures.tokens) == (1, 0, 30)


def test_a_run_over_which_the_clock_was_set_back_took_no_time():
    first, *others = the_sum()
    entries = [first.model_copy(update={"at": first.at + timedelta(hours=1)}), *others]
    run = RunSoFar("r1")
    run.take(entries)
    row = run.row("completed")
    assert row and row.duration_ms == run_row(entries, alive=False).duration_ms == 0


def test_a_trace_without_its_first_record_still_has_its_steps():
    run = RunSoFar("r1")
    run.take(the_sum()[1:])
    assert run.started is None
    assert len(run.steps) == 8


def test_a_step_is_found_by_its_entry_or_the_next_one():
    run = RunSoFar("r1")
    run.take(the_sum())
    assert run.place(1) == 0
    assert run.place(4) == 2  # the entry itself is no step; the call after it is
    assert run.place(10_000) is None


def test_a_step_on_one_line():
    run = RunSoFar("r1")
    run.take(the_sum())
    lines = [step_line(step, index + 1, the_sum()[0].at) for index, step in enumerate(run.steps)]
    assert lines[2] == {
        "type": "tool-call",
        "tone": "",
        "number": "3",
        "label": "Tool call",
        "text": "calculator (operation: add, x: 5, y: 10)",
        "note": "+0.5 s",
    }
    assert (lines[3]["text"], lines[3]["note"]) == ("calculator: 5 + 10 = 15", "2 ms")


def test_a_decision_on_one_line():
    act, respond = trajectory(the_sum())[0], trajectory(the_sum())[-1]
    assert trajectory_line(act)["text"] == "calculator (operation: add, x: 5, y: 10)"
    assert trajectory_line(respond)["text"] == "The answer is 45."
    assert decided(act) == "Make 1 tool call"


def test_a_fork_began_behind_its_copied_beginning_and_its_steps_follow_that_at_once():
    copied = trace_of(started(), called("m1"), said("", ADD), returned("m1"), *ran(ADD, "15"))
    own = trace_of(Forked(run_id="r0", seq=5, prefix_digest="0" * 64), said("15"), returned("m2"), finished())
    later = [entry.model_copy(update={"seq": entry.seq + 6, "at": entry.at + timedelta(days=1)}) for entry in own]
    run = RunSoFar("r1")
    run.take([*copied, *later])
    row = run.row("completed")
    assert row is not None and (row.started_at, row.duration_ms) == (later[0].at, 300)
    assert later[1].at - run.began_for(7) == timedelta(seconds=0.6)
    assert (run.number(1), run.number(5), run.number(7)) == (0, 1, 2)


def test_the_origin_of_an_imported_run_and_of_a_fork_is_said():
    imported = Imported(run_id="far", app="1.2.3", at=BEGAN)
    run = RunSoFar("r1")
    forked = Forked(run_id="r0", seq=4, prefix_digest="0" * 64)
    run.take(trace_of(started(imported=imported), called("m1"), said("", ADD), *ran(ADD, "15"), forked))
    row = run.row("completed")
    assert row is not None
    words = origin(run, row)
    assert "Imported from Agent Playground 1.2.3" in words
    assert "Forked from step 1 of another run" in words and "/runs/r0?step=4" in words


def test_the_children_of_another_run_are_not_those_of_a_fork_that_was_told_of_them_again():
    told = ChildStarted(call_id="c1", child_run_id="k1", of_run="r0")
    own = ChildStarted(call_id="c2", child_run_id="k2")
    ends = [
        ChildFinished(call_id=call, child_run_id=child, status="completed")
        for call, child in (("c1", "k1"), ("c2", "k2"))
    ]
    run = RunSoFar("r1")
    run.take(trace_of(started(), told, own, *ends))
    assert run.children == {"k2": "completed"}
