"""OpenAI's responses by the real `openai` client, and by LiteLLM, against the app as its users start it."""

import asyncio
import base64
import json
import sys
from itertools import pairwise

import httpx
import openai
import pytest
from openai import OpenAI
from openai.types.responses import Response, ResponseCompletedEvent, ResponseFailedEvent, ResponseOutputMessage
from pydantic import BaseModel

from app.api.openai.errors import OpenAiError
from app.api.openai.response_request import read
from tests.app_process import AppProcess

SUM = "What is 5 + 10, then multiply by 3?"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(64)).decode()
CSV = base64.b64encode(b"a,b\n1,2\n").decode()


class Answer(BaseModel):
    text: str
    number: float


def started(owner: httpx.Client, response: Response) -> dict[str, dict[str, object]]:
    """How the run of the response began, and the message it answers."""
    told = owner.get(f"/runs/{response.id.removeprefix('resp_')}/events").json()["data"]
    entries = told["events"] if isinstance(told, dict) else told
    return {"run": entries[0]["event"], "asked": entries[1]["event"]["message"]}


def test_an_agent_answers_as_a_response(client: OpenAI, owner: httpx.Client):
    raw = client.responses.with_raw_response.create(
        model="assistant", input=SUM, instructions="Be brief.", metadata={"order": "7"}, store=False, temperature=0
    )
    done = raw.parse()
    assert "45" in done.output_text and len(done.output) == 1
    assert (done.status, done.error, done.model, done.instructions) == ("completed", None, "assistant", "Be brief.")
    assert done.metadata == {"order": "7"} and done.usage
    assert done.usage.total_tokens == done.usage.input_tokens + done.usage.output_tokens > 0
    Response.model_validate(raw.http_response.json())  # whole, not only as far as the client looks
    run_id = done.id.removeprefix("resp_")
    assert raw.headers["x-request-id"] == run_id == raw.headers["x-run-id"]
    assert owner.get(f"/runs/{run_id}").json()["data"]["user_query"] == SUM
    run = started(owner, done)["run"]
    assert str(run["system"]).count("Be brief.") == 1


def test_a_response_is_streamed_in_the_documented_order(client: OpenAI):
    events = list(client.responses.create(model="assistant", input=SUM, stream=True))

    kinds = [event.type.removeprefix("response.") for event in events]
    assert kinds[:4] == ["created", "in_progress", "output_item.added", "content_part.added"]
    assert kinds[-4:] == ["output_text.done", "content_part.done", "output_item.done", "completed"]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    for event in events:
        type(event).model_validate(event.model_dump())
    completed = events[-1]
    assert isinstance(completed, ResponseCompletedEvent) and completed.response.usage
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert len(deltas) > 2 and "".join(deltas) == completed.response.output_text
    items = [item for item in completed.response.output if isinstance(item, ResponseOutputMessage)]
    assert [item.phase for item in items][-1] == "final_answer"
    opened = [kind for kind in kinds if kind in ("output_item.added", "output_item.done")]
    assert all(one != other for one, other in pairwise(opened)) and len(opened) == 2 * len(items)


def test_a_response_goes_on_behind_an_earlier_one(client: OpenAI, owner: httpx.Client):
    first = client.responses.create(model="assistant", input="My name is Ada.")
    second = client.responses.create(model="assistant", input="And now?", previous_response_id=first.id)
    branch = client.responses.create(model="assistant", input="Or else?", previous_response_id=first.id)
    runs = [owner.get(f"/runs/{one.id.removeprefix('resp_')}").json()["data"] for one in (first, second, branch)]
    assert len({run["session_id"] for run in runs}) == 1
    assert [run["follows"] for run in runs] == ["", runs[0]["id"], runs[0]["id"]]
    assert "My name is Ada." in str(started(owner, branch)["run"]["history"])
    assert branch.previous_response_id == first.id
    with pytest.raises(openai.NotFoundError) as refused:
        client.responses.create(model="assistant", input="hi", previous_response_id="resp_nobody")
    assert (refused.value.code, refused.value.param) == ("previous_response_not_found", "previous_response_id")


def test_what_was_said_before_images_and_files_come_from_the_client(client: OpenAI, owner: httpx.Client):
    done = client.responses.create(
        model="assistant@1",
        input=[
            {"role": "developer", "content": "Answer like a pirate."},
            {"role": "user", "content": "My name is Ada."},
            {"role": "assistant", "content": "Aye, Ada."},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is 2 + 2?"},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
                    {"type": "input_file", "file_data": f"data:text/csv;base64,{CSV}", "filename": "sums.csv"},
                ],
            },
        ],
    )
    began = started(owner, done)
    assert "Answer like a pirate." in str(began["run"]["system"]) and "Aye, Ada." in str(began["run"]["history"])
    parts = began["asked"]["parts"]
    assert isinstance(parts, list) and [part["type"] for part in parts] == ["text", "image", "file"]
    assert parts[2]["path"] == "/sums.csv"


def test_an_answer_has_the_form_that_its_client_asks_for(client: OpenAI):
    parsed = client.responses.parse(model="assistant", input=SUM, text_format=Answer)
    assert parsed.output_parsed and parsed.output_parsed.number == 45
    assert parsed.text and parsed.text.format and parsed.text.format.type == "json_schema"
    assert (parsed.text.format.name, parsed.text.format.strict) == ("Answer", True)
    with client.responses.stream(model="assistant", input=SUM, text_format=Answer) as stream:
        final = stream.get_final_response()
    assert final.output_parsed == parsed.output_parsed and len(final.output) == 1
    done = client.chat.completions.parse(
        model="assistant", messages=[{"role": "user", "content": SUM}], response_format=Answer
    )
    assert done.choices[0].message.parsed == parsed.output_parsed
    loose = client.chat.completions.create(
        model="assistant",
        messages=[{"role": "user", "content": SUM}],
        response_format={"type": "json_object"},
        stream=True,
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in loose if chunk.choices)
    assert text.startswith("{") and text.endswith("}")


def test_words_at_which_an_answer_stops_reach_its_model(client: OpenAI, owner: httpx.Client):
    done = client.chat.completions.create(
        model="assistant", messages=[{"role": "user", "content": "hi"}], stop=["\nObservation"]
    )
    run = owner.get(f"/runs/{done.id.removeprefix('chatcmpl-')}/events").json()["data"]
    entries = run["events"] if isinstance(run, dict) else run
    assert entries[0]["event"]["parameters"]["stop"] == ["\nObservation"]


def test_a_failed_run_is_an_error_and_in_a_stream_a_failed_response(app: AppProcess):
    with OpenAI(base_url=f"{app.url}/v1", api_key=app.token, max_retries=3) as client:
        with pytest.raises(openai.APIStatusError) as failed:
            client.responses.create(model="assistant", input="fail: invalid_key")
        assert failed.value.code == "invalid_key"
        assert failed.value.request_id == failed.value.response.headers["x-run-id"]
        last = list(client.responses.create(model="assistant", input="fail: safety_filter", stream=True))[-1]
    assert isinstance(last, ResponseFailedEvent) and last.response.status == "failed"
    assert last.response.error and last.response.error.code == "invalid_prompt"


def test_an_answer_that_was_cut_off_is_incomplete(client: OpenAI):
    done = client.responses.create(model="assistant", input="Please hit the token limit")
    assert done.status == "incomplete" and done.incomplete_details
    assert done.incomplete_details.reason == "max_output_tokens"
    *_, last = client.responses.create(model="assistant", input="Please hit the token limit", stream=True)
    assert last.type == "response.incomplete"


def test_every_answer_names_its_request(app: AppProcess, client: OpenAI):
    refused = httpx.get(f"{app.url}/v1/models", headers={"Authorization": "Bearer sk-wrong"})
    assert refused.status_code == 401 and refused.headers["x-request-id"].startswith("req_")
    assert client.models.with_raw_response.list().headers["x-request-id"].startswith("req_")


CALLED = """
import asyncio, sys, litellm
async def main(base, key):
    told = dict(model="openai/assistant", api_base=base, api_key=key)
    plain = await litellm.aresponses(input="What is 2 + 2?", **told)
    parts = [event async for event in await litellm.aresponses(input="What is 2 + 2?", stream=True, **told)]
    chat = await litellm.acompletion(messages=[{"role": "user", "content": "What is 2 + 2?"}], **told)
    more = await litellm.aresponses(input="Again", previous_response_id=plain.id, **told)
    print(plain.output[0].content[0].text, parts[-1].type, chat.choices[0].message.content, more.status)
asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.long
async def test_litellm_speaks_with_agents_as_with_models(app: AppProcess):
    """In a process of its own: it changes the one that imports it."""
    asked = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CALLED, f"{app.url}/v1", app.token),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complaints = await asyncio.wait_for(asked.communicate(), 60)
    assert asked.returncode == 0, complaints.decode()
    assert said.count(b"4") >= 2 and b"RESPONSE_COMPLETED" in said and said.rstrip().endswith(b"completed")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ('"tools": [{"type": "function", "name": "f"}]', "tools"),
        ('"background": true', "background"),
        ('"conversation": "conv_1"', "conversation"),
        ('"prompt": {"id": "p"}', "prompt"),
        ('"input": [{"type": "function_call_output", "call_id": "a", "output": "1"}]', "input.0"),
        ('"input": [{"type": "item_reference", "id": "a"}]', "input.0"),
        ('"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "a"}]}]', "input.0.content.0"),
        ('"input": [{"role": "user", "content": [{"type": "video"}]}]', "input.0.content.0"),
    ],
)
def test_what_an_agent_has_not_is_refused_by_name(fields: str, param: str):
    with pytest.raises(OpenAiError) as refused:
        read(f'{{"model": "assistant", "input": "hi", {fields}}}'.encode())
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, "unsupported_parameter", param)
    assert refused.value.message.endswith(".")


def test_thoughts_that_a_client_gives_back_are_passed_over():
    body = b'{"model": "a", "tool_choice": "auto", "include": ["reasoning.encrypted_content"], "input": ['
    wanted = read(body + b'{"type": "reasoning", "id": "rs", "summary": []}, {"role": "user", "content": "hi"}]}')
    assert [message.text for message in wanted.messages.values()] == ["hi"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (5, "input: Send a text, or a list of items."),
        ([{"role": "king", "content": "x"}], "input.0.role: Input should be"),
        ([{"role": "user", "content": 5}], "input.0.content: Send a text, or a list of its parts."),
        ([{"role": "user", "content": [{"type": "input_text", "text": 5}]}], "input.0.content.0.text: Input should be"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(said: object, words: str):
    with pytest.raises(OpenAiError) as refused:
        read(json.dumps({"model": "assistant", "input": said}).encode())
    assert refused.value.message.startswith(words) and refused.value.param == words.partition(":")[0]
