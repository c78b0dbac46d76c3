from app.domain.trace import ToolTally, run_row, tallies
from app.domain.trace.tallies import median_ms, time_step
from tests.traces import asked, call, finished, ran, started, the_sum, trace_of


def test_each_tool_is_counted_with_its_failures_and_times():
    entries = trace_of(
        started(),
        asked("?"),
        *ran(call("c1", "add"), "3"),
        *ran(call("c2", "add"), "no", status="error"),
        *ran(call("c3", "see"), "late", status="timeout"),
        *ran(call("c4", "add"), "not allowed", status="denied"),
        *ran(call("c5", "nothing"), "no such tool", status="unknown"),
        *ran(call("c6", "see"), "stopped", status="cancelled"),
        *ran(call("c7", "see"), "'x' is no argument", status="invalid"),
        finished(),
    )
    step = time_step(1.5)
    assert tallies(entries) == (
        ToolTally(name="add", calls=2, failures=1, times={step: 2}),
        ToolTally(name="see", calls=1, failures=1, times={step: 1}),
    )


def test_the_median_is_that_of_the_call_in_the_middle():
    times = [1, 2, 3, 100, 5000]
    counted = {time_step(ms): 1 for ms in times}
    assert abs(median_ms(counted) - 3) / 3 < 0.09
    assert median_ms({}) is None
    assert median_ms({time_step(0): 3}) < 0.02


def test_a_row_tells_what_tools_did_so_far_and_so_does_that_of_a_run_which_was_cut_off():
    assert [tally.calls for tally in run_row(the_sum(), alive=False).tools] == [2]
    assert [tally.calls for tally in run_row(the_sum()[:-1], alive=True).tools] == [2]
    assert run_row(the_sum()[:2], alive=True).tools == ()
