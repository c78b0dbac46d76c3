from datetime import timedelta

from app.domain.events import Entry, Event, Forked, ModelFailed, PauseRequested, PauseResolved, RunResumed
from app.domain.trace.waterfall import span_end, waterfall
from tests.traces import ADD, BEGAN, MULTIPLY, asked, called, finished, ran, returned, said, started, the_sum, trace_of


def timed(*events: tuple[float, Event]) -> list[Entry]:
    """Events at so many seconds."""
    return [
        Entry(run_id="r1", seq=seq, at=BEGAN + timedelta(seconds=at), event=event)
        for seq, (at, event) in enumerate(events)
    ]


def test_model_and_tool_calls_take_turns():
    spans = waterfall(the_sum())
    assert [span.kind for span in spans] == ["model", "tool", "model", "tool", "model"]
    assert (spans[0].start_ms, spans[0].end_ms, spans[0].first_token_ms) == (200.0, 400.0, 20)
    assert spans[0].seq == 3  # where its message stands
    assert span_end(spans) == 1400.0


def test_parallel_calls_overlap():
    [one_called, one_back], [other_called, other_back] = ran(ADD, "15"), ran(MULTIPLY, "45", status="error")
    spans = waterfall(timed((0, started()), (1, one_called), (1, other_called), (3, other_back), (4, one_back)))
    assert [(span.start_ms, span.end_ms, span.failed) for span in spans] == [
        (1000.0, 4000.0, False),
        (1000.0, 3000.0, True),
    ]


def test_a_failed_call_its_wait_and_the_next_attempt_are_three_spans():
    failed = ModelFailed(call_id="m1", failure="rate_limit", text="429", attempt=1, retry_at=BEGAN)
    again = called("m2").model_copy(update={"attempt": 2})
    spans = waterfall(timed((0, started()), (1, called("m1")), (2, failed), (32, again), (33, returned("m2"))))
    assert [(span.kind, span.start_ms, span.end_ms) for span in spans] == [
        ("model", 1000.0, 2000.0),
        ("retry", 2000.0, 32000.0),
        ("model", 32000.0, 33000.0),
    ]
    assert spans[0].failed and spans[2].attempt == 2


def test_a_wait_for_a_person_ends_with_the_decision():
    paused = PauseRequested(pause_id="p1", reason="approval", name="delete_file")
    spans = waterfall(timed((0, started()), (1, paused), (61, PauseResolved(pause_id="p1", decision="approve"))))
    assert [(span.kind, span.name, span.end_ms) for span in spans] == [("person", "delete_file", 61000.0)]


def test_what_the_end_of_the_app_cut_off_stays_open():
    spans = waterfall(trace_of(started(), asked("x"), called("m1"), RunResumed(), called("m2"), said("y"), returned()))
    assert spans[0].end_ms is None
    assert len(spans) == 2


def test_an_empty_trace_has_no_spans():
    assert waterfall([]) == []
    assert waterfall(trace_of(started(), finished())) == []


def test_a_fork_goes_on_where_its_copied_beginning_ends():
    forked = Forked(run_id="r0", seq=3, prefix_digest="0" * 64)
    own = ((90_000, forked), (90_001, called("m2")), (90_003, returned("m2")))
    spans = waterfall(timed((0, started()), (1, called("m1")), (2, said("15")), (3, returned("m1")), *own))
    assert [(span.start_ms, span.end_ms) for span in spans] == [(1000.0, 3000.0), (4000.0, 6000.0)]
