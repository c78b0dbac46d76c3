"""What scorers are shown of a try."""

from app.domain.errors import ErrorInfo
from app.domain.evals.evidence import Evidence
from app.domain.events import ModelFailed, RunFinished
from tests.cases import case
from tests.traces import BEGAN, asked, called, finished, ran, returned, said, started, the_sum, trace_of
from tests.traces import call as tool_call


def test_it_tells_the_answer_the_calls_and_what_they_took():
    evidence = Evidence(case(), (the_sum(),))
    assert evidence.answer == "The answer is 45."
    assert [(call.name, call.arguments["operation"], call.status, call.step) for call in evidence.calls] == [
        ("calculator", "add", "ok", 1),
        ("calculator", "multiply", "ok", 2),
    ]
    assert (evidence.steps, evidence.cost, evidence.unpriced, evidence.failure) == (3, 1.5, False, None)
    assert round(evidence.ms) == 1500
    assert (evidence.run_ids, evidence.model) == (("r1",), "demo/agent")


def test_several_turns_are_one_try_whose_steps_go_on_counting():
    look = tool_call("c9", "look")
    second = trace_of(started(), asked("And?"), called(), said("", look), returned(), *ran(look, "x"), run_id="r2")
    evidence = Evidence(case(turns=["And?"]), (the_sum(), second), below_usd=0.25)
    assert [call.step for call in evidence.calls] == [1, 2, 4]
    assert evidence.run_ids == ("r1", "r2")
    assert evidence.cost == 2.25


def test_the_answer_is_that_of_the_last_turn_also_where_it_gave_none():
    silent = trace_of(started(), asked("And?"), called(), finished("cancelled"), run_id="r2")
    assert Evidence(case(), (the_sum(), silent)).answer == ""


def test_a_failed_and_a_limited_run_say_of_what_class_that_is():
    error = ErrorInfo(failure="rate_limit", text="Too many requests.")
    failed = trace_of(started(), asked("x"), RunFinished(status="failed", error=error))
    limited = trace_of(started(), asked("x"), finished("limited"))
    assert Evidence(case(), (failed,)).failure == "rate_limit"
    assert Evidence(case(), (limited,)).failure == "limit"


def test_a_call_without_a_known_price_is_told():
    trace = trace_of(started(), asked("x"), called(), said("y"), returned(cost=None), finished())
    assert Evidence(case(), (trace,)).unpriced
    assert Evidence(case(), (the_sum(),), below_unpriced=True).unpriced


def test_a_call_of_the_model_that_is_tried_again_is_one_step():
    busy = ModelFailed(call_id="m1", failure="rate_limit", text="busy", attempt=1, retry_at=BEGAN)
    again = called("m1").model_copy(update={"attempt": 2})
    trace = trace_of(started(), asked("x"), called("m1"), busy, again, said("y"), returned("m1"), finished())
    assert Evidence(case(), (trace,)).steps == 1
