"""The demo model's answers as JSON."""

import json
from typing import Any

import pytest

from app.domain.agents import PromptBehaviour
from app.domain.messages import user_message
from app.domain.streaming import ModelRequest, Reply, TextDelta
from app.engine.loop.output import check_output
from app.llm.demo.model import DemoModel
from app.llm.demo.shaped import shaped
from app.paths import assets
from tests.builtin_tools import builtin_registry

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"items": {"enum": ["a", "b"]}}},
    "required": ["name", "age"],
}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        PERSON,
        {"type": "string", "maxLength": 5},
        {"type": "number", "minimum": 50, "maximum": 60},
        {"type": "integer", "maximum": -1},
        {"type": "array", "items": PERSON, "minItems": 3},
        {"type": ["null", "string"]},
        {"type": "boolean"},
        {"const": {"a": 1}},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"properties": {"deep": {"properties": {"deeper": {"type": "array", "items": {"type": "number"}}}}}},
    ],
)
def test_a_simple_schema_is_met(schema):
    assert check_output(schema, shaped(schema, "In 2026 it was 1,234.5 dollars.")) == ()


def test_the_words_and_the_last_number_of_the_answer_are_in_it():
    assert json.loads(shaped(PERSON, "5 + 10 = 15")) == {"name": "5 + 10 = 15", "age": 15, "tags": ["a"]}


def test_a_text_is_one_short_line_without_markup():
    assert json.loads(shaped({"type": "string"}, "I am the **demo**.\n\nMore")) == "I am the demo."
    assert len(json.loads(shaped({"type": "string"}, "word " * 500))) <= 60


@pytest.mark.parametrize(
    ("kinds", "text", "value"),
    [
        (["string", "null"], "7", None),
        (["number", "null"], "7", 7),
        (["number", "null"], "x", None),
        (["string"], "x", "x"),
    ],
)
def test_what_may_be_null_is_null_unless_there_is_a_number_for_it(kinds, text, value):
    assert json.loads(shaped({"type": kinds}, text)) == value


@pytest.mark.parametrize("schema", [{"type": "array", "minItems": 10**9}, {"items": {"items": {}}}, {"enum": []}])
def test_an_odd_schema_still_gets_json(schema):
    json.loads(shaped(schema, "x"))


def test_a_schema_that_holds_itself_comes_to_an_end():
    schema: dict[str, object] = {"type": "object"}
    schema["properties"] = {"inner": schema}
    assert len(shaped(schema, "x")) < 10_000


async def reply_to(text: str, schema: dict[str, object] | None) -> Reply:
    request = ModelRequest("demo/agent", (user_message(text),), tools=builtin_registry().all(), output_schema=schema)
    said, last = "", None
    async for item in DemoModel(pace=0).stream(request):
        if isinstance(item, TextDelta):
            said += item.text
        last = item
    assert isinstance(last, Reply)
    assert last.message.text == said
    return last


async def test_an_answer_is_json_where_a_schema_is_set():
    assert check_output(PERSON, (await reply_to("hello", PERSON)).message.text) == ()
    assert "built-in demo model" in (await reply_to("hello", None)).message.text


async def test_where_no_script_knows_an_answer_the_json_is_about_what_was_said():
    said = "Invoice 4711 from Acme Ltd, 3 May 2026, total 1,299.00 EUR"
    reply = await reply_to(
        said, {"properties": {"summary": {"type": "string"}, "amount": {"type": ["number", "null"]}}}
    )
    assert json.loads(reply.message.text) == {"summary": said, "amount": 1299}


async def test_tools_are_still_called_before_the_answer():
    asked = await reply_to("What is 5 + 10?", PERSON)
    assert [call.name for call in asked.message.tool_calls] == ["calculator"]


TEMPLATES = [json.loads(path.read_bytes()) for path in sorted((assets() / "templates").glob("*.json"))]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template["name"])
async def test_each_template_with_a_schema_gets_an_answer_that_fits(template: dict[str, Any]):
    schema = PromptBehaviour.model_validate(template["behaviour"]).output_schema
    for example in template["examples"]:
        reply = await reply_to(example, schema)
        if schema is not None and not reply.message.tool_calls:
            assert check_output(schema, reply.message.text) == ()
