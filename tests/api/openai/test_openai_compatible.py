"""What clients of OpenAI get from runs that end in other ways than with an answer, over a real workbench."""

import asyncio
import json

import httpx
import pytest

from app.domain.agents import Limits, PromptBehaviour, ToolChoice, new_agent
from app.domain.tools import JsonSchema, Policy
from app.workbench import Workbench
from tests.api.over import api_over, asking

SUM = "What is 5 + 10, then multiply by 3?"


def client_of(workbench: Workbench) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=api_over(workbench)), base_url="http://here/v1", timeout=30
    )


async def agent(
    workbench: Workbench,
    *,
    policy: Policy = "auto",
    limits: Limits | None = None,
    schema: JsonSchema | None = None,
) -> str:
    """The slug of an agent that calculates."""
    tools = (ToolChoice(name="calculator", policy=policy),)
    behaviour = PromptBehaviour(tools=tools, limits=limits or Limits(), output_schema=schema)
    made = new_agent("Sums", behaviour, taken_slugs=workbench.agents.slugs())
    return (await workbench.agents.create(made)).slug


async def ask(workbench: Workbench, model: str, text: str = SUM, *, stream: bool = False) -> httpx.Response:
    body = {"model": model, "messages": [{"role": "user", "content": text}], "stream": stream}
    async with client_of(workbench) as client, asyncio.timeout(30):
        return await client.post("/chat/completions", json=body)


def events(answer: httpx.Response) -> list[str]:
    return [line.removeprefix("data: ") for line in answer.text.split("\n\n") if line.startswith("data: ")]


async def test_a_run_that_waits_for_a_person_is_told_at_once(workbench: Workbench):
    slug = await agent(workbench, policy="ask")
    answer = await ask(workbench, slug)
    assert answer.status_code == 409 and answer.json()["error"]["code"] == "paused"
    assert "decide about its call of 'calculator'" in answer.json()["error"]["message"]
    assert answer.headers["x-should-retry"] == "false"
    streamed = events(await ask(workbench, slug, stream=True))
    assert json.loads(streamed[-2])["error"]["code"] == "paused" and streamed[-1] == "[DONE]"
    assert [live.status for live in workbench.runs.live_runs()] == ["paused", "paused"]


async def test_a_run_that_reached_a_limit_without_an_answer_is_an_error(workbench: Workbench):
    answer = await ask(workbench, await agent(workbench, limits=Limits(max_steps=1)))
    assert answer.status_code == 422 and answer.json()["error"]["code"] == "limit"


async def test_an_answer_that_was_cut_off_says_so(workbench: Workbench):
    answer = await ask(workbench, await agent(workbench), "Please hit the token limit")
    assert answer.status_code == 200, answer.text
    assert answer.json()["choices"][0]["finish_reason"] == "length"


async def test_an_agent_with_a_form_of_its_own_takes_no_other(workbench: Workbench):
    slug = await agent(workbench, schema={"type": "object", "properties": {"sum": {"type": "number"}}})
    form = {"type": "json_schema", "name": "other", "schema": {"type": "object", "properties": {}}}
    async with client_of(workbench) as client, asyncio.timeout(30):
        refused = await client.post("/responses", json={"model": slug, "input": SUM, "text": {"format": form}})
        body = {"model": slug, "input": SUM, "text": {"format": {"type": "json_object"}}}
        answered = (await client.post("/responses", json=body)).json()
    assert refused.status_code == 400 and refused.json()["error"]["param"] == "text.format"
    assert "set in its editor, not by another one" in refused.json()["error"]["message"]
    assert json.loads(answered["output"][0]["content"][0]["text"]) == {"sum": 45}
    assert answered["text"] == {"format": {"type": "json_object"}}


async def test_a_response_that_waits_for_a_person_is_told_at_once(workbench: Workbench):
    slug = await agent(workbench, policy="ask")
    async with client_of(workbench) as client, asyncio.timeout(30):
        told = await client.post("/responses", json={"model": slug, "input": SUM, "stream": True})
    last = json.loads(told.text.split("data: ")[-1])
    assert last["type"] == "response.failed" and "Decide on the page" in last["response"]["error"]["message"]


async def test_a_version_is_the_number_of_a_variant(workbench: Workbench):
    slug = await agent(workbench)
    answer = await ask(workbench, f"{slug}@v1", "What is 2 + 2?")
    assert answer.json()["model"] == f"{slug}@v1"
    refused = await ask(workbench, f"{slug}@2")
    assert refused.status_code == 404 and "no variant 2" in refused.json()["error"]["message"]


async def test_an_empty_message_is_refused_in_their_shape(workbench: Workbench):
    answer = await ask(workbench, await agent(workbench), "  ")
    assert answer.status_code == 400 and "empty" in answer.json()["error"]["message"]


@pytest.mark.parametrize("url", ["data:image/png;base64,!!!", "data:image/png,abc", "data:text/html;base64,PGI+"])
async def test_an_image_that_is_none_is_refused(workbench: Workbench, url: str):
    content = [{"type": "image_url", "image_url": {"url": url}}]
    body = {"model": await agent(workbench), "messages": [{"role": "user", "content": content}]}
    async with client_of(workbench) as client:
        answer = await client.post("/chat/completions", json=body)
    assert answer.status_code == 400 and answer.json()["error"]["param"] == "messages"


async def test_what_is_not_there_is_told_in_their_shape(workbench: Workbench):
    async with client_of(workbench) as client:
        for method, path in (("POST", "/embeddings"), ("GET", "/chat/completions"), ("DELETE", "/models/x")):
            answer = await client.request(method, path)
            assert answer.status_code == 404 and "POST /v1/chat/completions" in answer.json()["error"]["message"]


async def test_what_the_agents_of_a_workflow_used_is_told_as_its_own(workbench: Workbench):
    slug = await asking(workbench)
    said = {"model": slug, "messages": [{"role": "user", "content": SUM}]}
    streamed = {**said, "stream": True, "stream_options": {"include_usage": True}}
    async with client_of(workbench) as client, asyncio.timeout(30):
        whole = (await client.post("/chat/completions", json=said)).json()["usage"]
        chunks = events(await client.post("/chat/completions", json=streamed))
        response = (await client.post("/responses", json={"model": slug, "input": SUM})).json()["usage"]
    used = json.loads(chunks[-2])["usage"]
    assert whole["prompt_tokens"] == used["prompt_tokens"] == response["input_tokens"] > 0
    assert whole["total_tokens"] == used["total_tokens"] == response["total_tokens"] > whole["prompt_tokens"]
