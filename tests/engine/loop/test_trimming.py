"""What is left out of a conversation that is too long: whatever it is, a provider takes what is left."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from app.domain.messages import FilePart, Message, TextPart, ToolCall, ToolResult, user_message
from app.domain.trace import stub
from app.domain.trace.sent import shortened
from app.engine.loop.trimming import Weighed, trimmed


def answer(*calls: str, text: str = "words") -> Message:
    return Message(
        role="assistant", parts=(TextPart(text=text), *(ToolCall(call_id=call, name="look") for call in calls))
    )


def result(call: str, text: str) -> Message:
    return Message.of_result(ToolResult(call_id=call, name="look", parts=(TextPart(text=text),)))


def tokens(message: Message) -> int:
    said = message.text + "".join(part.text for part in message.parts if isinstance(part, ToolResult))
    return len(said) + 4 + 10 * len(message.tool_calls)


def weighed(messages: Sequence[Message]) -> list[Weighed]:
    sizes = [(message, tokens(message), tokens(stub(message))) for message in messages]
    return [
        Weighed(message, size, short if message.role == "tool" and short < size else None)
        for message, size, short in sizes
    ]


def left(messages: Sequence[Message], room: int) -> list[Message]:
    trimming = trimmed(weighed(messages), room=room)
    kept = list(shortened(messages, trimming.how))
    assert sum(map(tokens, kept)) == trimming.tokens
    return kept


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text or message.parts[0].text for message in messages]


TALK = [
    user_message("first question"),
    answer("a"),
    result("a", "x" * 1000),
    answer(text="first answer"),
    user_message("second question"),
    answer("b"),
    result("b", "y" * 1000),
    answer(text="second answer"),
    user_message("third question"),
]


def test_what_fits_stays_as_it_is():
    trimming = trimmed(weighed(TALK), room=10_000)
    assert trimming.left_out == () and list(shortened(TALK, trimming.how)) == TALK


def test_old_results_become_stubs_before_anything_goes():
    kept = left(TALK, 1300)
    assert len(kept) == len(TALK)
    assert texts(kept)[2] == "[result left out: 1,000 characters]" and texts(kept)[6] == "y" * 1000
    assert texts(left(TALK, 400))[6] == "[result left out: 1,000 characters]"


def test_then_old_turns_go_as_a_whole_the_oldest_first():
    assert texts(left(TALK, 150)) == texts(left(TALK, 400))[4:]
    assert texts(left(TALK, 20)) == ["third question"]


def test_the_last_turn_stays_even_if_it_does_not_fit():
    trimming = trimmed(weighed(TALK), room=5)
    assert texts(list(shortened(TALK, trimming.how))) == ["third question"] and trimming.tokens > 5


def test_in_a_long_turn_the_results_that_were_read_become_stubs():
    turn = [user_message("go"), answer("a"), result("a", "x" * 500), answer("b"), result("b", "y" * 500)]
    kept = left(turn, 700)
    assert texts(kept)[2] == "[result left out: 500 characters]" and texts(kept)[4] == "y" * 500
    assert texts(left(turn, 100)) == texts(kept)


def test_a_stub_keeps_the_way_to_a_result_that_is_kept_as_a_file():
    whole = FilePart(artifact="ab" * 32, media_type="text/plain", filename="look-result.txt", size=9)
    message = Message.of_result(ToolResult(call_id="a", name="look", parts=(TextPart(text="x" * 4000), whole)))
    [short] = stub(message).parts
    assert isinstance(short, ToolResult) and short.call_id == "a"
    assert short.parts == (TextPart(text="[result left out: 4,000 characters]"), whole)


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    messages = [user_message("u" * draw(st.integers(0, 60)))] if draw(st.integers(0, 9)) else []
    for step in range(draw(st.integers(0, 4))):
        ids = [f"{id(messages)}-{step}-{number}" for number in range(draw(st.integers(0, 3)))]
        messages.append(answer(*ids, text="a" * draw(st.integers(0, 60))))
        messages += [result(call, "r" * draw(st.integers(0, 300))) for call in ids]
    return messages


conversations = st.lists(turns(), max_size=8).map(lambda found: [message for turn in found for message in turn])


@given(conversations, st.integers(0, 3000))
def test_any_conversation_stays_one_that_a_provider_takes(messages, room):
    trimming = trimmed(weighed(messages), room=room)
    kept = list(shortened(messages, trimming.how))
    open_calls: list[str] = []
    for message in kept:
        for part in message.parts:
            if isinstance(part, ToolResult):
                open_calls.remove(part.call_id)
        if message.role != "tool":
            assert open_calls == []
        open_calls += [call.call_id for call in message.tool_calls]
    assert open_calls == []
    last = max((place for place, message in enumerate(messages) if message.role == "user"), default=0)
    assert [(one.role, one.text, one.tool_calls) for one in kept[len(kept) - len(messages[last:]) :]] == [
        (one.role, one.text, one.tool_calls) for one in messages[last:]
    ]
    everything_went = all(place in trimming.how for place in range(last))
    assert trimming.tokens <= room or everything_went
    assert sum(map(tokens, kept)) == trimming.tokens
    if sum(map(tokens, messages)) <= room:
        assert kept == messages
