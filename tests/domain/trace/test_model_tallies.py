"""What each model did in a run."""

from app.domain.errors import FailureClass
from app.domain.events import Event, Forked, ModelFailed
from app.domain.trace import ModelTally, model_tallies, run_row
from tests.traces import called, finished, returned, said, started, the_sum, trace_of


def failed(failure: FailureClass, attempt: int) -> ModelFailed:
    return ModelFailed(call_id="m1", failure=failure, text="!", attempt=attempt)


def tallied(*events: Event) -> tuple[ModelTally, ...]:
    return model_tallies(trace_of(started(), *events, finished()))


def test_calls_tokens_money_and_times_are_counted_by_model():
    (tally,) = model_tallies(the_sum())
    assert tally == ModelTally(
        model="demo/agent",
        provider="demo",
        calls=3,
        input_tokens=30,
        output_tokens=60,
        cost=1_500_000_000,
        times={40: 3},
        first_token_times={27: 3},
    )


def test_a_call_that_was_tried_again_is_a_failure_and_a_retry():
    again = called().model_copy(update={"attempt": 2})
    (tally,) = tallied(called(), failed("timeout", 1), again, said("Here."), returned(cost=None))
    assert (tally.calls, tally.retries, tally.failures, tally.unpriced, tally.cost) == (2, 1, {"timeout": 1}, 1, 0)


def test_the_provider_of_an_alias_is_told_by_its_answer():
    alias = called().model_copy(update={"model": "claude-sonnet"})
    assert [(one.model, one.provider) for one in tallied(alias, said("Here."), returned())] == [
        ("claude-sonnet", "demo")
    ]
    assert [(one.model, one.provider) for one in tallied(alias, failed("network", 1))] == [("claude-sonnet", "")]


def test_a_fork_counts_from_its_own_first_step_on():
    forked = Forked(run_id="r0", seq=3, prefix_digest="0")
    entries = trace_of(
        started(), called("m1"), said("Here."), returned("m1"), forked, called("m2"), said("Or here."), returned("m2")
    )
    row = run_row(entries, alive=False)
    assert row.models is not None
    assert [(one.calls, one.input_tokens, one.cost) for one in row.models] == [(1, 10, 500_000_000)]


def test_a_tally_is_stored_as_a_line_that_a_later_version_may_make_longer():
    tally = ModelTally(model="m|\n", calls=3, failures={"timeout": 1}, cost=5, times={3: 1})
    stored = tally.model_dump(mode="json")
    assert isinstance(stored, str)
    assert ModelTally.model_validate(stored) == tally
    assert ModelTally.model_validate(stored.removesuffix("]") + ", 7]") == tally
