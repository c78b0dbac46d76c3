"""What clients of OpenAI may ask for, and what is refused in words."""

import json

import pytest

from app.api.openai.errors import STATUS_OF_FAILURE, OpenAiError
from app.api.openai.request import read

HI = {"role": "user", "content": "hi"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://pictures.example/cat.png"}}


def asked(**fields: object) -> bytes:
    return json.dumps({"model": "assistant", "messages": [HI]} | fields).encode()


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": 0.7, "top_p": 1, "max_tokens": 10, "seed": 1, "user": "x", "metadata": {"a": "b"}},
        {"tools": [], "functions": None, "tool_choice": "auto", "stop": None, "logprobs": False, "n": 1},
        {"response_format": {"type": "text"}, "stop": "", "modalities": ["text"], "stream_options": None},
        {"messages": [{"role": "developer", "content": "Be brief."}, HI]},
        {"messages": [HI, {"role": "system", "content": "Be brief."}]},
        {"messages": [HI, {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, HI]},
    ],
)
def test_what_only_tunes_a_model_or_asks_for_nothing_is_passed_over(fields: dict[str, object]):
    assert read(asked(**fields)).model == "assistant"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"functions": [{"name": "f"}]}, "functions"),
        ({"n": 2}, "n"),
        ({"audio": {"voice": "x"}}, "audio"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"logprobs": True}, "logprobs"),
        ({"messages": [HI, {"role": "tool", "content": "1", "tool_call_id": "a"}, HI]}, "messages.1"),
        ({"messages": [{"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}, HI]}, "messages.0"),
        ({"messages": [{"role": "user", "content": [IMAGE]}]}, "messages.0.content.0"),
        ({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "messages.0.content.0"),
        (
            {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "a"}}]}]},
            "messages.0.content.0",
        ),
    ],
)
def test_what_an_agent_has_not_is_refused_by_name(fields: dict[str, object], param: str):
    with pytest.raises(OpenAiError) as refused:
        read(asked(**fields))
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "unsupported_parameter", param)
    assert refused.value.message.endswith(".")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "The body"),
        (b"[]", "The body"),
        (b'{"model": "a"}', "messages"),
        (asked(messages=[]), "messages"),
        (asked(response_format={"type": "yaml"}), "response_format.type"),
        (asked(response_format={"type": "json_schema"}), "no 'schema' in it"),
        (asked(response_format={"type": "json_schema", "json_schema": {"schema": {"type": 7}}}), "cannot be used"),
        (asked(stop=["a", "b", "c", "d", "e"]), "stop"),
        (asked(messages=[{"role": "king", "content": "x"}]), "messages.0.role"),
        (asked(messages=[HI, {"role": "assistant", "content": "x"}]), "last message has to be the user's"),
        (asked(messages=[{"role": "system", "content": "x"}]), "last message has to be the user's"),
        (asked(model="x" * 201), "model"),
        (asked(stop=5), "^stop: Send a text, or a list of texts"),
        (asked(messages=[{"role": "user", "content": 5}]), r"^messages\.0\.content: Send a text, or a list"),
        (asked(messages=[{"role": "user", "content": [{"type": "video"}]}]), r"^messages\.0\.content\.0\.type: Input"),
        (b'{"model": "a", "messages": [{"role": "user", "content": "\xff"}]}', "The body"),
    ],
)
def test_what_does_not_fit_is_named(body: bytes, words: str):
    with pytest.raises(OpenAiError, match=words) as refused:
        read(body)
    assert refused.value.status == 400


def test_every_error_has_the_shape_that_clients_read():
    for failure, status in STATUS_OF_FAILURE.items():
        error = OpenAiError("Words.", status=status, code=failure, of_run=True)
        told = json.loads(bytes(error.response.body))["error"]
        assert set(told) == {"message", "type", "param", "code"} and told["type"].endswith("_error")
        assert error.response.headers["x-should-retry"] == "false"
