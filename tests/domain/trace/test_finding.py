from app.domain.messages import ToolCall
from app.domain.trace import steps
from app.domain.trace.finding import StepTexts
from tests.traces import ADD, asked, ran, said, started, the_sum, trace_of


def test_a_text_is_found_in_words_arguments_and_results():
    texts, found = StepTexts(), steps(the_sum())
    assert texts.find(found, "MULTIPLY") == [0, 5]  # in the request, in the arguments
    assert texts.find(found, "= 15") == [3]  # in a result
    assert texts.find(found, "first the") == [1]  # in a thought
    assert texts.find(found, "no such words") == []


def test_arguments_that_cannot_be_read_are_found_as_they_were_written():
    broken = ToolCall(call_id="c1", name="add", malformed='{"x": needle')
    found = steps(trace_of(started(), asked("x"), said("", broken), *ran(broken, "No JSON.", status="invalid")))
    assert StepTexts().find(found, "needle") == [1] and found[2].call.malformed == '{"x": needle'


def test_words_are_found_over_the_end_of_a_line():
    assert StepTexts().find(steps(trace_of(started(), asked("one\ntwo"))), "one two") == [0]


def test_an_empty_search_finds_nothing():
    assert StepTexts().find(steps(the_sum()), "  ") == []


def test_steps_that_come_later_are_searched_too():
    texts = StepTexts()
    entries = trace_of(started(), asked("x"), said("", ADD), *ran(ADD, "a needle"))
    assert texts.find(steps(entries[:2]), "needle") == []
    assert texts.find(steps(entries), "needle") == [2]
