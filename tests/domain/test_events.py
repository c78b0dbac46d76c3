import typing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from app.domain import events
from app.domain.events import Entry, Event
from app.domain.messages import (
    AppPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from app.domain.values import Value
from tests.traces import a_workflow_run, the_sum, trace_of

EVENT_TYPES = typing.get_args(typing.get_args(Event)[0])
PART_TYPES = typing.get_args(typing.get_args(Part)[0])


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """Hypothesis reads signatures, and a value has its own only once pydantic has built it."""
    unbuilt = [Value]
    while unbuilt:
        one = unbuilt.pop()
        one.model_rebuild()
        unbuilt += one.__subclasses__()


def test_every_event_of_the_design_exists():
    names = {event_type.__name__ for event_type in EVENT_TYPES}
    assert names == {
        "RunStarted", "MessageAdded", "ModelCalled", "ModelReturned", "ModelFailed", "ToolCalled", "ToolReturned",
        "FileChanged", "PauseRequested", "PauseResolved", "ContextTrimmed", "LimitReached", "ChildStarted",
        "ChildFinished", "NodeStarted", "NodeEnded", "RunResumed", "Forked", "RunFinished",
    }  # fmt: skip


@pytest.mark.parametrize("event_type", EVENT_TYPES, ids=lambda event_type: event_type.__name__)
@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_every_kind_of_event_survives_json(event_type, data):
    [entry] = trace_of(data.draw(st.builds(event_type, **overrides_of(event_type))))
    assert Entry.model_validate_json(entry.model_dump_json()) == entry


@pytest.mark.parametrize("part_type", PART_TYPES, ids=lambda part_type: part_type.__name__)
@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_every_kind_of_part_survives_json(part_type, data):
    message = Message(role="assistant", parts=(data.draw(st.builds(part_type, **overrides_of(part_type))),))
    again = Message.model_validate_json(message.model_dump_json())
    assert again == message and type(again.parts[0]) is part_type


def test_what_a_provider_needs_back_survives_json():
    thought = ReasoningPart(text="hm", provider_fields={"thinking_blocks": [{"signature": "SIG==", "n": 1}]})
    asked = ToolCall(call_id="call_1__thought__TSIG", name="f", provider_fields={"thought_signature": "TSIG"})
    message = Message(role="assistant", parts=(thought, asked), model="anthropic/claude")
    assert Message.model_validate_json(message.model_dump_json()) == message


def test_text_that_no_file_takes_is_mended():
    message = Message(role="assistant", parts=(TextPart(text="a\ud800b"),))
    assert message.text == "a?b" and Message.model_validate_json(message.model_dump_json()) == message


def test_equal_values_have_equal_digests():
    one, other = (Message(role="user", parts=(TextPart(text="hi"),)) for _ in range(2))
    assert one.digest == other.digest
    assert one.digest != Message(role="user", parts=(TextPart(text="ho"),)).digest


def test_a_field_of_a_newer_version_is_read_over():
    entry = the_sum()[-1]
    newer = entry.model_dump_json().replace('"type":"run_finished"', '"type":"run_finished","mood":"good"')
    assert "mood" in newer
    assert Entry.model_validate_json(newer) == entry


def test_a_trace_names_its_format_and_the_first_readers_know_that_of_a_run_without_nodes():
    assert the_sum()[0].event.format == events.PLAIN_FORMAT == 1
    assert a_workflow_run()[0].event.format == events.FORMAT == 2
    again = events.RunStarted.model_validate_json(a_workflow_run()[0].event.model_dump_json())
    assert again == a_workflow_run()[0].event


JSON_OBJECTS = st.dictionaries(
    st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=5), max_size=3
)
STRINGS = st.text(max_size=20)
RESULTS = st.builds(
    ToolResult,
    call_id=STRINGS,
    name=STRINGS,
    parts=st.tuples(
        st.builds(TextPart, text=STRINGS), st.builds(ImagePart, artifact=STRINGS, media_type=STRINGS, alt=STRINGS)
    ),
)
MESSAGES = st.builds(
    Message,
    parts=st.lists(
        st.builds(TextPart, text=STRINGS)
        | st.builds(ReasoningPart, text=STRINGS, provider_fields=JSON_OBJECTS)
        | st.builds(ToolCall, call_id=STRINGS, name=STRINGS, arguments=JSON_OBJECTS, provider_fields=JSON_OBJECTS)
        | RESULTS
        | st.builds(FilePart, artifact=STRINGS, media_type=STRINGS, filename=STRINGS, size=st.integers(0, 10**9))
        | st.builds(AppPart, uri=STRINGS, server=STRINGS, artifact=STRINGS),
        max_size=4,
    ).map(tuple),
    model=STRINGS,
)
OVERRIDES = {
    "message": MESSAGES,
    "system": st.none() | MESSAGES,
    "history": st.lists(MESSAGES, max_size=2).map(tuple),
    "tools": st.just(()),
    "result": RESULTS,
    "arguments": JSON_OBJECTS,
    "provider_fields": JSON_OBJECTS,
    "output_schema": st.none() | JSON_OBJECTS,
    "parts": st.tuples(st.builds(TextPart, text=STRINGS)),
    "parameters": st.just(events.Parameters(stop=("END",), temperature=0.5)),
    "workflow": st.just(None),
    "inputs": JSON_OBJECTS,
    "output": JSON_OBJECTS,
    "limits": st.just(events.Limits(max_steps=3)),
}  # fmt: skip
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def overrides_of(value_type):
    """Strategies for the fields that hypothesis cannot or should not make up by itself."""
    chosen = {}
    for name, field in value_type.model_fields.items():
        if name in OVERRIDES:
            chosen[name] = OVERRIDES[name]
        elif field.annotation is float:
            chosen[name] = FINITE
        elif field.annotation == (float | None):
            chosen[name] = st.none() | FINITE
        elif field.annotation == (events.datetime | None):
            chosen[name] = st.none() | st.datetimes(timezones=st.just(events_utc()))
    return chosen


def events_utc():
    from datetime import UTC

    return UTC


def test_the_whole_trace_survives_as_a_list():
    adapter = TypeAdapter(list[Entry])
    assert adapter.validate_json(adapter.dump_json(the_sum())) == the_sum()
