"""The real `openai` client against the app as its users start it."""

import base64
import json

import httpx
import openai
import pytest
from openai import OpenAI

from tests.app_process import AppProcess

SUM = "What is 5 + 10, then multiply by 3?"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(64)).decode()


def test_an_agent_answers_as_a_model_does(client: OpenAI, owner: httpx.Client):
    done = client.chat.completions.create(model="assistant", messages=[{"role": "user", "content": SUM}])

    assert done.choices[0].message.role == "assistant"
    assert "45" in (done.choices[0].message.content or "")
    assert (done.choices[0].finish_reason, done.model, done.object) == ("stop", "assistant", "chat.completion")
    assert done.usage and done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens > 0
    run = owner.get(f"/runs/{done.id.removeprefix('chatcmpl-')}").json()["data"]
    assert run["user_query"] == SUM and len(run["calls"]) == 2
    assert "a program" in json.dumps(run["triggered_by"])


def test_an_answer_is_streamed_with_what_it_used(client: OpenAI):
    stream = client.chat.completions.create(
        model="assistant",
        messages=[{"role": "user", "content": SUM}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)

    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert "45" in text and chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-2:] == [None, "stop"]
    assert chunks[-1].choices == [] and chunks[-1].usage and chunks[-1].usage.total_tokens > 0
    assert all(chunk.usage is None for chunk in chunks[:-1]) and len({chunk.id for chunk in chunks}) == 1
    assert sum(bool(chunk.choices and chunk.choices[0].delta.content) for chunk in chunks) > 2


def test_what_was_said_before_and_how_to_answer_comes_from_the_client(client: OpenAI, owner: httpx.Client):
    done = client.chat.completions.create(
        model="assistant@1",
        temperature=0.7,
        max_tokens=16,
        messages=[
            {"role": "system", "content": "Answer like a pirate."},
            {"role": "user", "content": "My name is Ada."},
            {"role": "assistant", "content": "Aye, Ada."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is 2 + 2?"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                ],
            },
        ],
    )
    run_id = done.id.removeprefix("chatcmpl-")
    events = owner.get(f"/runs/{run_id}/events").json()["data"]
    events = events["events"] if isinstance(events, dict) else events
    started, asked = events[0]["event"], events[1]["event"]["message"]
    system = started["system"]["parts"][0]["text"]
    assert system.endswith("\n\nAnswer like a pirate.") and len(system) > 30
    assert [message["parts"][0]["text"] for message in started["history"]] == ["My name is Ada.", "Aye, Ada."]
    assert [part["type"] for part in asked["parts"]] == ["text", "image"]
    assert started["parameters"]["max_tokens"] != 16


def test_the_tools_of_a_client_are_refused_clearly(client: OpenAI):
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    with pytest.raises(openai.BadRequestError, match="tools of the client cannot be called") as refused:
        client.chat.completions.create(
            model="assistant",
            messages=[{"role": "user", "content": "hi"}],
            tools=[tool],  # type: ignore[list-item]
        )
    assert (refused.value.param, refused.value.code) == ("tools", "unsupported_parameter")


def test_a_wrong_key_is_an_authentication_error(app: AppProcess):
    with (
        OpenAI(base_url=f"{app.url}/v1", api_key="sk-wrong") as client,
        pytest.raises(openai.AuthenticationError, match="no such key"),
    ):
        client.models.list()


def test_models_are_the_agents_a_key_may_use(app: AppProcess, client: OpenAI, owner: httpx.Client):
    assert {"assistant"} < {model.id for model in client.models.list()}
    assert client.models.retrieve("assistant@1").id == "assistant@1"
    made = owner.post("/keys", json={"name": "one agent", "agents": ["assistant"], "expires_days": 1}).json()["data"]
    with OpenAI(base_url=f"{app.url}/v1", api_key=made["key"]) as scoped:
        assert [model.id for model in scoped.models.list()] == ["assistant"]
        other = next(model.id for model in client.models.list() if model.id != "assistant")
        with pytest.raises(openai.NotFoundError, match="no agent"):
            scoped.chat.completions.create(model=other, messages=[{"role": "user", "content": "hi"}])
        assert owner.delete(f"/keys/{made['id']}").is_success
        with pytest.raises(openai.AuthenticationError, match="was revoked"):
            scoped.models.list()


@pytest.mark.parametrize("model", ["nobody", "assistant@99", "assistant@x", ""])
def test_an_unknown_model_is_not_found(client: OpenAI, model: str):
    with pytest.raises(openai.NotFoundError) as refused:
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": "hi"}])
    assert refused.value.code == "model_not_found"


def test_a_failed_run_is_an_error_that_is_not_tried_again_by_the_client(app: AppProcess, owner: httpx.Client):
    before = owner.get("/runs", params={"limit": 1}).json()["count"]
    with OpenAI(base_url=f"{app.url}/v1", api_key=app.token, max_retries=3) as client:
        with pytest.raises(openai.APIStatusError) as failed:
            client.chat.completions.create(
                model="assistant", messages=[{"role": "user", "content": "fail: invalid_key"}]
            )
        assert (failed.value.status_code, failed.value.code) == (502, "invalid_key")
        with pytest.raises(openai.APIError) as broken:
            list(
                client.chat.completions.create(
                    model="assistant", messages=[{"role": "user", "content": "fail: safety_filter"}], stream=True
                )
            )
        assert broken.value.code == "content_filter"
    assert owner.get("/runs", params={"limit": 1}).json()["count"] == before + 2


def test_a_request_sent_twice_begins_one_run(client: OpenAI):
    def ask(text: str, key: str) -> str:
        return client.chat.completions.create(
            model="assistant",
            messages=[{"role": "user", "content": text}],
            extra_headers={"Idempotency-Key": key},
        ).id

    first = ask("What is 2 + 2?", "a")
    assert ask("What is 2 + 2?", "a") == first != ask("What is 2 + 2?", "b")
    with pytest.raises(openai.ConflictError, match="sent before with another request"):
        ask("hello", "a")


def test_a_workflow_answers_as_a_model_does_and_streams_its_last_agent(client: OpenAI, owner: httpx.Client):
    ask = {"id": "ask", "kind": "agent", "agent": "assistant", "message": {"kind": "text", "text": "{{input.text}}"}}
    nodes = [{"id": "input", "kind": "input"}, ask,
             {"id": "output", "kind": "output", "value": {"kind": "text", "text": "{{ask}}"}}]  # fmt: skip
    edges = [{"source": "input", "target": "ask"}, {"source": "ask", "target": "output"}]
    made = owner.post("/workflows", json={"name": "Passed on", "workflow": {"nodes": nodes, "edges": edges}})
    assert made.status_code == 201
    asked = [{"role": "user", "content": SUM}]
    done = client.chat.completions.create(model="passed-on@1", messages=asked)
    assert "45" in (done.choices[0].message.content or "") and done.choices[0].finish_reason == "stop"
    stream = client.chat.completions.create(model="passed-on", messages=asked, stream=True)
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    assert "".join(pieces).endswith(done.choices[0].message.content or "?") and sum(map(bool, pieces)) > 2
    assert client.responses.create(model="passed-on", input=SUM).output_text == done.choices[0].message.content
