from datetime import UTC, datetime

from app.domain.events import MessageAdded
from app.domain.messages import FilePart, user_message
from app.domain.sessions import QueuedMessage
from app.domain.trace import steps
from app.ui.playground.queued_messages import queued_chips
from app.ui.run.trace_words import step_label
from tests.traces import asked, said, trace_of

AT = datetime(2026, 11, 22, tzinfo=UTC)


def message(text: str, **more: object) -> QueuedMessage:
    return QueuedMessage(id="m1", text=text, created_at=AT).model_copy(update=more)


def test_where_nothing_waits_nothing_is_drawn() -> None:
    assert queued_chips((), running=False, stuck=True) == ""


def test_a_chip_says_what_it_holds_and_offers_what_can_be_done() -> None:
    file = FilePart(artifact="a", media_type="text/plain", filename="notes.txt", size=1)
    chips = queued_chips((message("<b>hi</b>", attachments=(file,)),), running=True)
    assert "&lt;b&gt;hi&lt;/b&gt;" in chips and "1 file" in chips
    assert all(f'data-testid="queued-{name}"' in chips for name in ("edit", "delete", "send-now"))
    assert "Not sent by itself" not in chips


def test_what_is_stuck_and_what_was_refused_say_so() -> None:
    chips = queued_chips((message("hi", refusal="No such model."),), running=False, stuck=True)
    assert "Not sent by itself" in chips and "No such model." in chips


def test_a_message_on_its_way_into_the_answer_can_only_wait() -> None:
    chips = queued_chips((message("hi"),), running=True, breaking={"m1"})
    assert "waits for a tool that cannot be interrupted" in chips and "<button" not in chips


def test_the_steps_of_a_run_tell_how_a_message_came_in() -> None:
    entries = trace_of(
        asked("go"), said("Once", partial=True), MessageAdded(message=user_message("stop"), origin="steer"), said("ok")
    )
    assert [step_label(step) for step in steps(entries)] == ["User", "Answer", "User, breaking in", "Answer"]
