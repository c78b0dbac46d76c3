import pytest

from app.domain.agents import Parameters
from app.domain.errors import NotFound
from app.domain.events import ContextTrimmed, LeftOut, ModelFailed
from app.domain.messages import system_message, user_message
from app.domain.tools import GrantedTool, ToolSpec
from app.domain.trace.requests import model_calls, request_at, request_json
from tests.traces import ADD, asked, called, ran, returned, said, started, the_sum, trace_of

TOOL = ToolSpec(name="calculator", description="Sums", parameters={"type": "object"})


def test_the_first_call_has_nothing_to_differ_from():
    view = request_at(the_sum(), 2)
    assert view.is_first
    assert [(one.message.text, one.change) for one in view.messages] == [
        ("What is 5 + 10, then multiply by 3?", "new"),
    ]


def test_a_later_call_marks_what_came_since():
    view = request_at(the_sum(), 7)
    assert [(one.message.role, one.change) for one in view.messages] == [
        ("user", "kept"),
        ("assistant", "new"),
        ("tool", "new"),
    ]


def test_an_entry_that_is_no_call_is_refused_in_words():
    with pytest.raises(NotFound, match="Step 3"):
        request_at(the_sum(), 3)


def test_what_was_trimmed_is_shown_as_it_was_sent():
    trimmed = ContextTrimmed(
        left_out=(LeftOut(message=0, how="dropped"), LeftOut(message=3, how="stub")), tokens_before=9, tokens_after=5
    )
    entries = trace_of(
        started(history=(user_message("long ago"),)),
        asked("now"),
        called("m1"),
        said("", ADD),
        returned("m1"),
        *ran(ADD, "15" * 40),
        trimmed,
        called("m2"),
        said("so"),
        returned("m2"),
        called("m3"),
    )
    second, third = request_at(entries, 8), request_at(entries, 11)
    assert [(one.place, one.change) for one in second.messages] == [
        (0, "dropped"), (1, "kept"), (2, "new"), (3, "stubbed"),
    ]  # fmt: skip
    assert "result left out" in second.messages[3].message.parts[0].text
    assert [one.change for one in third.messages] == ["kept", "kept", "kept", "new"]
    assert third.left_out == 1
    assert second.history == 1


def test_changed_parameters_are_named():
    hotter = called("m2").model_copy(update={"parameters": Parameters(temperature=1.5), "model": "demo/other"})
    view = request_at(trace_of(started(), asked("x"), called("m1"), returned("m1"), hotter), 4)
    assert view.changed == ("model", "parameters")


def test_the_json_holds_what_was_sent_and_nothing_that_was_not():
    trimmed = ContextTrimmed(left_out=(LeftOut(message=0, how="dropped"),), tokens_before=9, tokens_after=5)
    first = started(
        history=(user_message("long ago"),), system=system_message("Be brief."), tools=(GrantedTool(spec=TOOL),)
    )
    written = request_json(request_at(trace_of(first, asked("now"), trimmed, called("m1")), 3))
    assert written["system"] == "Be brief."
    assert [message["parts"][0]["text"] for message in written["messages"]] == ["now"]
    assert written["tools"] == [{"name": "calculator", "description": "Sums", "parameters": {"type": "object"}}]


def test_each_call_is_listed_with_how_it_ended():
    failed = ModelFailed(call_id="m1", failure="network", text="gone", attempt=1)
    calls = model_calls(trace_of(started(), asked("x"), called("m1"), failed, called("m2"), returned("m2")))
    assert [(call.number, call.failure, call.usage is None) for call in calls] == [
        (1, "network", True),
        (2, None, False),
    ]
