"""Between the steps of a run stands what was left out, and which limit was reached."""

from app.domain.events import ContextTrimmed, Entry, Event, LeftOut, LimitReached, MessageAdded, RunFinished
from app.domain.messages import Message, TextPart, user_message
from app.domain.values import now
from app.ui.conversation.trace_marks import mark_of, trimmed_words
from app.ui.run.trace_growth import RunSoFar

TRIMMED = ContextTrimmed(
    left_out=(LeftOut(message=0, how="dropped"), LeftOut(message=1, how="dropped"), LeftOut(message=3, how="stub")),
    tokens_before=1200,
    tokens_after=900,
)
LIMIT = LimitReached(limit="steps", allowed=2, reached=2)
ANSWER = Message(role="assistant", parts=(TextPart(text="so far"),))


def entries(*events: Event) -> list[Entry]:
    return [Entry(run_id="r", seq=seq, at=now(), event=event) for seq, event in enumerate(events)]


def test_what_was_left_out_is_counted():
    words = "Too long to send: 2 earlier messages and 1 tool result left out, about 900 instead of 1,200 tokens."
    assert trimmed_words(TRIMMED) == words
    only_stubs = TRIMMED.model_copy(update={"left_out": TRIMMED.left_out[2:]})
    assert "send: 1 tool result left out" in trimmed_words(only_stubs)


def test_a_limit_says_how_to_raise_it():
    [entry] = entries(LIMIT)
    mark = mark_of(entry)
    assert mark is not None and "Raise" in mark.words and "trace-mark" in mark.html


def test_marks_stand_between_the_steps_they_came_between():
    run = RunSoFar("r")
    run.take(
        entries(
            MessageAdded(message=user_message("hi"), origin="user"),
            TRIMMED,
            MessageAdded(message=ANSWER, origin="model"),
            LIMIT,
            RunFinished(status="limited"),
        )
    )
    assert [len(run.marks_before(index)) for index in range(3)] == [0, 1, 1]
    assert run.marks_before(1)[0].short == "trimmed" and run.marks_before(2)[0].short == "limit reached"
