"""What we read of an answer ourselves is what LiteLLM would have read of it."""

import json
from copy import deepcopy

import pytest
from pydantic import JsonValue

from app.domain.messages import Usage
from app.llm.litellm.accumulator import Accumulator, CallPiece
from app.llm.litellm.chunks import feed, finish_of, has_usage, usage_of
from app.llm.litellm.litellm_model import ensure_litellm
from app.llm.litellm.plain_chunks import Fields, plain_chunk

HEAD: Fields = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "system_fingerprint": "f"}
USED: Fields = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
FUNCTION: Fields = {"name": "get_weather", "arguments": '{"city": '}
CALL: Fields = {"index": 1, "id": "call_1", "type": "function", "function": FUNCTION}


def chunk(delta: Fields | None = None, finish: str | None = None, **more: JsonValue) -> Fields:
    return {**HEAD, "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


PLAIN = {
    "text": chunk({"content": "Grüße"}),
    "a beginning": chunk({"role": "assistant", "content": "", "refusal": None}),
    "no text": chunk({"content": None}, logprobs=None),
    "thinking": chunk({"reasoning_content": "Hm."}),
    "an end": chunk({}, "stop", usage=None),
    "an end that is none": chunk({}, "content_filter"),
    "a call": chunk({"tool_calls": [{**CALL, "index": 0, "id": "call_0"}]}),
    "more of it": chunk({"tool_calls": [{"index": 1, "function": {"arguments": '"Zürich"}'}}]}),
    "a call without arguments": chunk(
        {"tool_calls": [{**CALL, "index": 0, "id": "call_0", "function": {"name": "now", "arguments": None}}]}
    ),
    "two calls": chunk({"content": None, "tool_calls": [{**CALL, "index": 0, "id": "call_0"}, CALL]}, "tool_calls"),
    "usage": {**HEAD, "choices": [], "usage": USED},
    "usage with an end": chunk({"content": "."}, "length", usage=USED),
    "usage in detail": {
        **HEAD,
        "choices": [],
        "usage": {
            **USED,
            "prompt_tokens_details": {"cached_tokens": 5, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 3, "accepted_prediction_tokens": 0},
        },
    },
}
ODD = {
    "thinking under another name": chunk({"reasoning": "Hm."}),
    "a call without a number": chunk({"tool_calls": [{"id": "call_1", "function": FUNCTION}]}),
    "arguments as an object": chunk({"tool_calls": [{**CALL, "function": {"name": "f", "arguments": {"a": 1}}}]}),
    "a custom call": chunk({"tool_calls": [{"index": 0, "id": "c", "type": "custom", "custom": {"name": "f"}}]}),
    "signed thinking": chunk({"thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]}),
    "text in parts": chunk({"content": [{"type": "text", "text": "Hi"}]}),
    "fields of its own": chunk({"content": "", "provider_specific_fields": {"thought_signatures": ["s"]}}),
    "an end of its own": chunk({}, "eos"),
    "a cache of its own": {**HEAD, "choices": [], "usage": {**USED, "prompt_cache_hit_tokens": 5}},
    "nothing counted": {**HEAD, "choices": [], "usage": {**USED, "prompt_tokens": None}},
    "no choices": dict(HEAD),
    "two choices": {**HEAD, "choices": [*chunk({"content": "a"})["choices"], *chunk({"content": "b"})["choices"]]},
}


@pytest.mark.parametrize("said", PLAIN.values(), ids=PLAIN.keys())
async def test_a_plain_chunk_is_read_as_litellm_reads_it(said: Fields):
    litellm = await ensure_litellm()
    handler = litellm.llms.openai.chat.gpt_transformation.OpenAIChatCompletionStreamingHandler
    theirs = handler(streaming_response=None, sync_stream=False).chunk_parser(deepcopy(said))
    ours = plain_chunk(said)

    assert read(ours) == read(theirs)


@pytest.mark.parametrize("said", ODD.values(), ids=ODD.keys())
def test_a_chunk_of_another_form_is_left_to_litellm(said: Fields):
    assert plain_chunk(said) is None


def read(chunk: object) -> tuple[object, ...]:
    """All that an answer gets of it."""
    answer = Accumulator()
    answer.add_call(CallPiece(index=1, id="call_1", name="get_weather"))
    deltas = feed(answer, chunk)
    usage = usage_of(chunk, estimated=False) if has_usage(chunk) else Usage()
    return deltas, finish_of(chunk), usage, json.loads(answer.message("m").model_dump_json())
