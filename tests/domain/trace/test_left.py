"""What a run that its process left has left open."""

from datetime import timedelta

from app.domain.events import ModelFailed, PauseRequested, PauseResolved, RunResumed, ToolCalled
from app.domain.trace import active_seconds, conversation, last_words, left_calls, unanswered_request
from tests.traces import ADD, MULTIPLY, asked, called, ran, returned, said, started, trace_of

ASK = PauseRequested(pause_id="p1", reason="approval", call_id="c1", name="calculator", arguments=ADD.arguments)
BEGUN = ToolCalled(call_id="c1", name="calculator", arguments={"x": 1})


def test_a_call_that_was_begun_has_the_arguments_it_was_begun_with():
    [left] = left_calls(trace_of(started(), asked("go"), called(), said("", ADD), returned(), ASK, BEGUN))
    assert (left.begun, left.call.arguments, left.pause, left.decided) == (True, {"x": 1}, None, None)


def test_a_decision_of_which_nothing_has_come_is_kept_with_its_call():
    denied = PauseResolved(pause_id="p1", decision="deny", note="no")
    [left] = left_calls(trace_of(started(), asked("go"), called(), said("", ADD), returned(), ASK, denied))
    assert (left.begun, left.pause, left.decided) == (False, ASK, denied)


def test_calls_with_a_result_are_not_left():
    done = ran(ADD, "15")
    [left] = left_calls(trace_of(started(), asked("go"), called(), said("", ADD, MULTIPLY), returned(), *done))
    assert left.call == MULTIPLY and not left.begun


def test_a_request_is_unanswered_until_its_end_is_there():
    begun = (started(), asked("go"), called())
    assert unanswered_request(trace_of(*begun)) == (begun[2], None)
    words = said("Hello")
    assert unanswered_request(trace_of(*begun, words)) == (begun[2], words.message)
    assert unanswered_request(trace_of(*begun, words, returned())) is None
    failed = ModelFailed(call_id="m1", failure="network", text="x", attempt=1)
    assert unanswered_request(trace_of(*begun, failed)) is None


def test_last_words_are_an_answer_that_asks_for_nothing_more():
    begun = (started(), asked("go"), called())
    assert last_words(trace_of(*begun, said("Hello"), returned(), RunResumed())) == returned()
    assert last_words(trace_of(*begun, said("Hello", partial=True), returned())) is None
    assert last_words(trace_of(*begun, said("", ADD), returned())) is None
    assert last_words(trace_of(*begun, said("Hello"), returned(), asked("more"))) is None


def test_words_that_were_cut_off_are_not_sent_again():
    cut = (started(), asked("go"), called(), said("Hal", partial=True), returned())
    assert [message.text for message in conversation(trace_of(*cut))] == ["go", "Hal"]
    assert [message.text for message in conversation(trace_of(*cut, RunResumed()))] == ["go"]


def test_neither_waiting_nor_being_left_is_time_that_the_run_has_used():
    entries = trace_of(started(), asked("go"), ASK, PauseResolved(pause_id="p1", decision="deny"), called())
    assert round(active_seconds(entries), 3) == 0.3, "all but the wait for the decision"
    late = trace_of(started(), asked("go"), RunResumed(), called())
    late[2:] = [entry.model_copy(update={"at": entry.at + timedelta(days=1)}) for entry in late[2:]]
    assert round(active_seconds(late), 3) == 0.2, "all but the day in which it was left"


def test_the_subject_of_a_decision_is_the_call_with_its_arguments_and_tool():
    assert ASK.subject == ASK.model_copy(update={"pause_id": "p2"}).subject
    for change in ({"arguments": {"x": 2}}, {"call_id": "c2"}, {"tool": "other"}, {"begun": True}):
        assert ASK.model_copy(update=change).subject != ASK.subject, change
