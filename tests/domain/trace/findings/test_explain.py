"""Each rule on a run that breaks it, and the silence of all of them on runs that went well."""

from datetime import timedelta

import pytest

from app.domain.events import ContextTrimmed, Entry, LeftOut, LimitReached, ModelFailed, ModelReturned, RunStarted
from app.domain.messages import ToolCall, Usage, system_message
from app.domain.trace.findings.explain import explain
from tests.traces import (
    ADD,
    BEGAN,
    MULTIPLY,
    asked,
    call,
    called,
    finished,
    ran,
    returned,
    said,
    started,
    the_sum,
    trace_of,
)  # fmt: skip


def rules(entries: list[Entry], before: RunStarted | None = None) -> list[str]:
    return [finding.rule for finding in explain(entries, before=before)]


def run_of(*calls: tuple[ToolCall, str, str], answer: str = "It is done.") -> list[Entry]:
    """A run that makes these calls one after the other, each with its result and status."""
    events = [started(), asked("Do it")]
    for number, (one, text, status) in enumerate(calls):
        events += [
            called(f"m{number}"),
            said("", one),
            returned(f"m{number}", cost=0.001),
            *ran(one, text, status=status),
        ]
    return trace_of(*events, called("last"), said(answer), returned("last", cost=0.001), finished())


def number(index: int, **arguments: object) -> ToolCall:
    return call(f"n{index}", "lookup", **arguments)


def spent(
    call_id: str, *, cached: int = 0, tokens: int = 5000, cost: float = 0.0, reason: str = "stop"
) -> ModelReturned:
    usage = Usage(input_tokens=tokens, output_tokens=10, cached_tokens=cached)
    return returned(call_id).model_copy(update={"usage": usage, "cost": cost, "finish_reason": reason})


def test_a_good_run_has_nothing_that_stands_out():
    assert explain(the_sum()) == []
    assert explain([]) == []
    assert explain(trace_of(started(), asked("hi"))) == []


def test_the_same_call_three_times_in_a_row():
    [finding] = explain(run_of(*((number(index, q="x"), f"{index}", "ok") for index in range(4))))
    assert finding.rule == "repeated_call"
    assert finding.sentence == "lookup was called 4 times in a row with the same arguments."
    assert rules(run_of(*((number(index, q="x"), f"{index}", "ok") for index in range(2)))) == []
    assert rules(run_of(*((number(index, q=index), f"{index}", "ok") for index in range(5)))) == []


def test_two_calls_that_take_turns():
    turns = [(number(index, q=index % 2), "ok", "ok") for index in range(6)]
    assert rules(run_of(*turns)) == ["alternating_calls"]
    assert rules(run_of(*turns[:5])) == []


def test_an_answer_that_passes_over_an_error():
    broken = (ADD, "The disk archive01 is full.", "error")
    assert rules(run_of(broken, answer="The sum is 15.")) == ["error_ignored"]
    assert rules(run_of(broken, answer="I could not add them.")) == []
    assert rules(run_of(broken, answer="Le disque archive01 est plein.")) == []
    assert rules(run_of(broken, (call("c9", "calculator", x=1), "15", "ok"), answer="The sum is 15.")) == []


def test_an_answer_that_is_cut_off():
    long = trace_of(
        started(), asked("x"), called("m1"), said("and so"), spent("m1", reason="length"), finished("limited")
    )
    assert [(one.rule, one.seq) for one in explain(long)] == [("cut_off", 3)]
    failed = ModelFailed(call_id="m1", failure="network", text="gone", attempt=1)
    broken = trace_of(started(), asked("x"), called("m1"), said("and so", partial=True), failed, finished("failed"))
    assert rules(broken) == ["cut_off"]


def test_an_answer_that_a_person_stopped_is_no_finding():
    stopped = trace_of(
        started(), asked("x"), called("m1"), said("and", partial=True), returned(), finished("cancelled")
    )
    assert rules(stopped) == []


def test_one_call_that_cost_most():
    costs = [0.001, 0.2, 0.001]
    events = [
        event
        for index, cost in enumerate(costs)
        for event in (called(f"m{index}"), said(f"{index}"), spent(f"m{index}", cost=cost))
    ]
    [finding] = explain(trace_of(started(), asked("x"), *events, finished()))
    assert (finding.rule, finding.seq) == ("costly_step", 7)
    assert "99%" in finding.sentence


def test_one_call_that_took_most_of_the_time():
    entries = run_of((ADD, "15", "ok"))
    late = [entry.model_copy(update={"at": entry.at + timedelta(seconds=60 * (entry.seq >= 6))}) for entry in entries]
    assert rules(late) == ["long_step"]


def test_a_tool_that_is_slower_than_all_else():
    slow = [
        entry.model_copy(update={"at": BEGAN + timedelta(seconds=entry.seq)})
        for entry in run_of((ADD, "15", "ok"), (MULTIPLY, "45", "ok"))
    ]
    events = [
        entry.model_copy(update={"event": entry.event.model_copy(update={"ms": 6_000.0})})
        if entry.event.type == "tool_returned"
        else entry
        for entry in slow
    ]
    assert rules(events) == ["slow_tool"]


def test_waits_for_retries_that_ate_the_time():
    failed = ModelFailed(call_id="m1", failure="rate_limit", text="429", attempt=1, retry_at=BEGAN)
    entries = trace_of(started(), asked("x"), called("m1"), failed, called("m2"), said("y"), returned("m2"), finished())
    late = [entry.model_copy(update={"at": entry.at + timedelta(seconds=30 * (entry.seq >= 4))}) for entry in entries]
    assert rules(late) == ["slow_retries"]


def test_a_prompt_that_changed_and_lost_the_cache():
    now = started(system=system_message("It is 14:05. Be brief."), history=(asked("before").message,))
    before = started(system=system_message("It is 14:02. Be brief."))
    first = spent("m1").model_copy(update={"usage": Usage(input_tokens=5000, cache_write_tokens=5000)})
    entries = trace_of(now, asked("x"), called("m1"), said("y"), first, finished())
    [finding] = explain(entries, before=before)
    assert finding.rule == "prompt_changed"
    assert "“It is 14:02. Be brief.” became “It is 14:05. Be brief.”" in finding.sentence
    assert rules(entries, before=now) == []


def test_a_cache_that_is_lost_within_the_run():
    trimmed = ContextTrimmed(left_out=(LeftOut(message=0, how="dropped"),), tokens_before=9, tokens_after=5)
    entries = trace_of(
        started(), asked("x"), called("m1"), said("a"), spent("m1", cached=4000), trimmed,
        called("m2"), said("b"), spent("m2", cached=0), finished(),
    )  # fmt: skip
    assert rules(entries) == ["cache_lost", "context_trimmed"]
    kept = trace_of(
        started(), called("m1"), said("a"), spent("m1", cached=4000), called("m2"), said("b"), spent("m2", cached=4500)
    )
    assert rules(kept) == []


def test_a_limit_and_what_to_do_about_it():
    limit = LimitReached(limit="steps", allowed=10, reached=10)
    [finding] = explain(trace_of(started(), asked("x"), limit, finished("limited")))
    assert (finding.rule, finding.seq) == ("limit_reached", 2)
    assert "10 steps of one run" in finding.sentence and "Raise" in finding.what_to_do


def test_an_empty_answer():
    assert rules(run_of((ADD, "15", "ok"), answer="")) == ["empty_answer"]


@pytest.mark.parametrize(
    ("status", "rule"), [("unknown", "unknown_tool"), ("invalid", "invalid_arguments"), ("denied", "denied")]
)
def test_calls_that_were_not_run(status: str, rule: str):
    assert rules(run_of((ADD, "It was not run.", status), answer="I could not do that.")) == [rule]


def test_the_worst_stands_first():
    found = explain(run_of((ADD, "No.", "denied"), (MULTIPLY, "No.", "unknown"), answer="I could not do that."))
    assert [finding.severity for finding in found] == ["problem", "hint"]


def test_a_run_that_failed_says_from_where_it_can_go_on():
    failed = ModelFailed(call_id="m2", failure="provider_error", text="500", attempt=1)
    broken = (*ran(ADD, "No.", status="error"), called("m2"), failed, finished("failed"))
    [finding] = explain(trace_of(started(), asked("x"), called(), said("", ADD), returned(), *broken))
    assert (finding.rule, finding.seq) == ("ended_by_error", 6)
    assert finding.sentence == "The run broke off in step 2, right after calculator failed; step 1 is whole."
    assert rules(trace_of(started(), asked("x"), called("m2"), failed, finished("failed"))) == []
