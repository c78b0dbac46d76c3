import pytest

from app.domain.messages import Message, ReasoningPart, TextPart
from app.llm.litellm.accumulator import LONGEST_ANSWER, Accumulator, CallPiece

Calls = list[tuple[str, dict[str, object]]]


def calls_of(*pieces: CallPiece) -> Calls:
    accumulator = Accumulator()
    for piece in pieces:
        accumulator.add_call(piece)
    calls = accumulator.message("openai/x").tool_calls
    assert len({call.call_id for call in calls}) == len(calls)
    assert all(call.call_id for call in calls)
    return [(call.name, dict(call.arguments)) for call in calls]


F_AND_G: Calls = [("f", {"x": 1}), ("g", {"y": 2})]


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        pytest.param(
            (
                CallPiece(0, "a", "f", ""),
                CallPiece(0, None, None, '{"x"'),
                CallPiece(0, None, None, ":1}"),
                CallPiece(1, "b", "g", '{"y":2}'),
            ),
            F_AND_G,
            id="as OpenAI does it",
        ),
        pytest.param((CallPiece(0, "a", "f", '{"x":1}'), CallPiece(0, "b", "g", '{"y":2}')), F_AND_G, id="same index"),
        pytest.param(
            (CallPiece(None, "a", "f", '{"x":1}'), CallPiece(None, "b", "g", '{"y":2}')), F_AND_G, id="no index"
        ),
        pytest.param((CallPiece(0, "", "f", '{"x":1}'), CallPiece(0, "", "g", '{"y":2}')), F_AND_G, id="empty ids"),
        pytest.param((CallPiece(0, None, "f", '{"x":1}'), CallPiece(0, None, "g", '{"y":2}')), F_AND_G, id="no ids"),
        pytest.param(
            (CallPiece(0, "a", "f", '{"x":1}'), CallPiece(1, "a", "g", '{"y":2}')), F_AND_G, id="duplicate ids"
        ),
        pytest.param(
            (CallPiece(0, "a", "f", '{"x":1}'), CallPiece(0, "a", "g", '{"y":2}')),
            F_AND_G,
            id="duplicate ids at one index",
        ),
        pytest.param((CallPiece(0, "a", "f", {"x": 1}), CallPiece(1, "b", "g", {"y": 2})), F_AND_G, id="objects"),
        pytest.param(
            (CallPiece(0, "a", "f", '{"x"'), CallPiece(0, "a", "f", ":1}")), [("f", {"x": 1})], id="repeated name"
        ),
        pytest.param(
            (CallPiece(0, None, "f", '{"x"'), CallPiece(0, "a", None, ":1}")), [("f", {"x": 1})], id="id comes later"
        ),
        pytest.param(
            (
                CallPiece(0, "a", "f", ""),
                CallPiece(1, "b", "g", ""),
                CallPiece(1, None, None, '{"y":'),
                CallPiece(0, None, None, '{"x":1'),
                CallPiece(1, None, None, "2}"),
                CallPiece(0, None, None, "}"),
            ),
            F_AND_G,
            id="interleaved",
        ),
        pytest.param((CallPiece(0, "a", "f"), CallPiece(1, "b", "g", "  ")), [("f", {}), ("g", {})], id="no arguments"),
    ],
)
def test_calls_of_all_shapes_are_put_together(pieces: tuple[CallPiece, ...], calls: Calls):
    assert calls_of(*pieces) == calls


@pytest.mark.parametrize("written", ['{"x": 1', "[1, 2]", "42", "not json", '{"x": 1}{"y": 2}', "[" * 100_000])
def test_what_is_no_object_is_kept_as_it_was_written(written: str):
    accumulator = Accumulator()
    accumulator.add_call(CallPiece(0, "a", "f", written))

    [call] = accumulator.message("openai/x").tool_calls
    assert call.malformed == written
    assert call.arguments == {}


@pytest.mark.parametrize(
    "value",
    [r'"\ud83d"', '"\ud83d"', "NaN", "-Infinity", "1e999", "[" * 300 + "]" * 300],
    ids=["half a sign, escaped", "half a sign", "no number", "no end", "beyond a float", "nested"],
)
def test_arguments_that_no_trace_would_take_are_kept_as_they_were_written(value: str):
    accumulator = Accumulator()
    accumulator.add_call(CallPiece(0, None, "f\ud83d", f'{{"x": {value}}}'))
    accumulator.add_call(CallPiece(0, None, "g", '{"y": "\\ud83d\\ude00"}'))

    message = accumulator.message("openai/x")
    assert Message.model_validate_json(message.model_dump_json()) == message
    odd, plain = message.tool_calls
    assert (odd.name, odd.arguments) == ("f?", {})
    assert odd.malformed == f'{{"x": {value}}}'.replace("\ud83d", "?")
    assert (plain.name, plain.arguments, plain.malformed) == ("g", {"y": "😀"}, None)


def test_ids_of_the_conversation_are_not_used_again():
    accumulator = Accumulator(taken=["call_0"])
    delta = accumulator.add_call(CallPiece(0, "call_0", "f", "{}"))

    [call] = accumulator.message("openai/x").tool_calls
    assert call.call_id != "call_0"
    assert delta is not None
    assert delta.call_id == call.call_id
    assert call.provider_fields == {}


def test_an_id_that_carries_more_goes_back_to_its_provider_only():
    accumulator = Accumulator()
    accumulator.add_call(CallPiece(0, "call_1__thought__U0lH/Kw==", "f", "{}", {"thought_signature": "U0lH/Kw=="}))

    [call] = accumulator.message("gemini/x").tool_calls
    assert len(call.call_id) <= 64
    assert call.provider_fields == {"thought_signature": "U0lH/Kw==", "id": "call_1__thought__U0lH/Kw=="}


def test_pieces_of_signed_thinking_are_joined_up_to_their_signature():
    accumulator = Accumulator()
    for text in ("Let me ", "think."):
        accumulator.add_reasoning(text, field="reasoning_content")
        accumulator.add_block({"type": "thinking", "thinking": text})
    accumulator.add_block({"type": "thinking", "thinking": "", "signature": "SIG"})
    accumulator.add_block({"type": "thinking", "thinking": "More."})
    accumulator.add_block({"type": "redacted_thinking", "data": "xyz"})
    accumulator.add_text("Done.")

    message = accumulator.message("anthropic/x")
    assert message.parts == (
        ReasoningPart(
            text="Let me think.",
            provider_fields={
                "field": "reasoning_content",
                "blocks": [
                    {"type": "thinking", "thinking": "Let me think.", "signature": "SIG"},
                    {"type": "thinking", "thinking": "More."},
                    {"type": "redacted_thinking", "data": "xyz"},
                ],
            },
        ),
        TextPart(text="Done."),
    )


def test_size_counts_text_thinking_and_arguments():
    accumulator = Accumulator()
    accumulator.add_text("four")
    accumulator.add_reasoning("five5", field="reasoning_content")
    accumulator.add_call(CallPiece(0, "a", "f", "{}"))

    assert accumulator.size == 11


def test_what_is_beyond_the_longest_answer_is_left_out_and_counted():
    accumulator = Accumulator()
    accumulator.add_text("x" * (LONGEST_ANSWER - 1))
    [delta] = accumulator.add_text("yyy")

    assert delta.text == "y"
    assert accumulator.size == LONGEST_ANSWER + 2
    assert len(accumulator.message("openai/x").text) == LONGEST_ANSWER
