"""The messages of a run that had waited in its session's queue."""

from app.domain.events import Forked, MessageAdded
from app.domain.histograms import bucket_of
from app.domain.messages import user_message
from app.domain.trace import run_row
from tests.traces import asked, called, finished, returned, said, started, trace_of


def waited(ms: float | None, origin: str = "queued") -> MessageAdded:
    return MessageAdded(message=user_message("?"), origin=origin, waited_ms=ms)  # type: ignore[arg-type]


def told(*events: object) -> tuple[int, dict[int, int]]:
    row = run_row(trace_of(started(), *events, finished()), alive=False)  # type: ignore[arg-type]
    return row.queued, row.waits


def test_a_message_out_of_the_queue_is_counted_with_how_long_it_waited() -> None:
    assert told(waited(2000), called(), said("!"), returned()) == (1, {bucket_of(2000): 1})


def test_one_that_broke_in_out_of_the_queue_waited_too_and_one_that_was_never_there_did_not() -> None:
    assert told(asked("?"), waited(500, "steer")) == (1, {bucket_of(500): 1})
    assert told(asked("?"), waited(None, "steer")) == (0, {})


def test_what_went_through_the_queue_at_once_did_not_wait() -> None:
    assert told(waited(0.0)) == (0, {})


def test_of_an_old_trace_it_is_known_that_it_waited_and_not_how_long() -> None:
    assert told(waited(None)) == (1, {})


def test_of_a_fork_only_its_own_messages_count() -> None:
    assert told(waited(2000), Forked(run_id="r0", seq=1, prefix_digest="")) == (0, {})
