from collections.abc import Sequence

from app.domain.events import ChildFinished, ChildStarted, Entry, Event, Forked, MessageAdded, ModelReturned
from app.domain.messages import Message, TextPart, Usage
from app.domain.trace import Child, children, last_words
from app.domain.values import now


def entries(*events: Event) -> Sequence[Entry]:
    return [Entry(run_id="r", seq=seq, at=now(), event=event) for seq, event in enumerate(events)]


STARTED = ChildStarted(call_id="c1", child_run_id="a")
FINISHED = ChildFinished(call_id="c1", child_run_id="a", status="failed")


def test_each_child_is_known_with_its_call_and_its_end():
    other = ChildStarted(call_id="c2", child_run_id="b")

    assert children(entries(STARTED, other, FINISHED)) == [Child("a", "c1", "failed"), Child("b", "c2")]


def test_what_another_run_started_is_no_child_of_its_fork():
    forked = Forked(run_id="other", seq=1, prefix_digest="d")

    assert children(entries(STARTED, forked)) == []


def test_a_child_that_ends_after_the_last_words_leaves_them_the_last():
    answer = MessageAdded(message=Message(role="assistant", parts=(TextPart(text="done"),)), origin="model")
    returned = ModelReturned(call_id="m", usage=Usage(), cost=0, finish_reason="stop", first_token_ms=1, total_ms=1)

    assert last_words(entries(STARTED, answer, returned, FINISHED)) == returned
