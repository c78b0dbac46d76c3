"""Whether an answer fits its output schema."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from app.engine.loop.output import check_output, schema_problem
from tests.processor import at_work

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "age": 36}',
        ' \n{"name": "Ada"}\n ',
        '```json\n{"name": "Ada"}\n```',
        '```\n{"name": "Ada"}\n```',
    ],
)
def test_an_answer_that_fits_has_no_problems(text):
    assert check_output(PERSON, text) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name": 5}', "/name: 5 is not of type 'string'"),
        ('{"name": "ada"}', "/name: 'ada' does not match '^[A-Z]'"),
        ('{"name": "Ada", "age": -1}', "/age: -1 is less than the minimum of 0"),
        ("{}", "'name' is a required property"),
        ('{"name": "Ada", "x": 1}', "Additional properties are not allowed ('x' was unexpected)"),
        ("[]", "[] is not of type 'object'"),
    ],
)
def test_a_problem_names_the_place_and_what_is_wrong(text, said):
    assert check_output(PERSON, text) == (said,)


@pytest.mark.parametrize("text", ["", "Ada is 36.", "{'name': 'Ada'}", '{"name": NaN}', '{"a": "\\ud800"}', "[" * 5000])
def test_an_answer_that_is_no_json_is_told_so(text):
    [problem] = check_output(PERSON, text)
    assert problem.startswith("The answer is not JSON: ")


def test_all_problems_are_told_up_to_twenty_and_none_is_long():
    schema = {"type": "array", "items": {"type": "integer"}}
    assert len(check_output(schema, json.dumps(["x", "y"]))) == 2
    problems = check_output(schema, json.dumps(["x" * 5000] * 50))
    assert len(problems) == 20 and all(len(problem) <= 300 for problem in problems)


@pytest.mark.parametrize(
    "schema", [{"type": "strin"}, {"properties": 5}, {"required": "name"}, {"minimum": "0"}, {"anyOf": []}]
)
def test_a_schema_that_is_none_is_told_so(schema):
    assert schema_problem(schema)
    [problem] = check_output(schema, "{}")
    assert problem.startswith("The output schema cannot be used: ")


def test_a_good_schema_has_no_problem():
    assert schema_problem(PERSON) == "" == schema_problem({})


def test_references_inside_the_schema_are_followed():
    tree = {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}, "type": "object"}},
    }
    assert check_output(tree, '{"next": {"next": {}}}') == ()
    assert check_output(tree, '{"next": {"next": 5}}') == ("/next/next: 5 is not of type 'object'",)


@pytest.fixture
def web_server() -> Iterator[tuple[str, list[str]]]:
    """Its address, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()


def test_nothing_is_fetched_for_a_reference(web_server):
    address, asked = web_server
    [problem] = check_output({"$ref": f"{address}schema.json"}, "{}")
    assert "which it does not hold" in problem
    assert asked == []


HOSTILE = [
    {"type": "string", "pattern": "^(a+)+$"},
    {"type": "string", "pattern": "^(a|a?)+$"},
    {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"},
    {"allOf": [{"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}]},
    {"$ref": "#"},
    {"$dynamicRef": "#"},
    {
        "$ref": "#/$defs/d30",
        "$defs": {
            "d0": {"type": "string"},
            **{f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n - 1}"}] * 2} for n in range(1, 31)},
        },
    },
]


@pytest.mark.parametrize("schema", HOSTILE)
def test_a_hostile_schema_takes_no_time(schema):
    with at_work() as work:
        check_output(schema, json.dumps("a" * 40 + "!"))
    assert work.seconds < 2


@pytest.mark.parametrize("schema", HOSTILE[-3:])
def test_a_schema_without_an_end_is_told_so(schema):
    [problem] = check_output(schema, '"x"')
    assert "without end" in problem


def test_a_hostile_pattern_of_names_takes_no_time():
    with at_work() as work:
        check_output({"patternProperties": {"^(a+)+$": {"type": "string"}}}, json.dumps({"a" * 40 + "!": 1}))
        assert check_output({"patternProperties": {"^a": {"type": "string"}}}, '{"ab": 1, "b": 1}') == (
            "/ab: 1 is not of type 'string'",
        )
    assert work.seconds < 2


@pytest.mark.parametrize("word", ["additionalProperties", "unevaluatedProperties"])
def test_a_hostile_pattern_takes_no_time_where_other_names_are_forbidden(word):
    schema = {"patternProperties": {"^(a|a)*$": {}}, word: False}
    check_output(schema, json.dumps({"a" * 40 + "!": 1}))


def test_names_that_no_pattern_names_are_checked():
    schema = {"properties": {"x": {}}, "patternProperties": {"^a": {}}, "additionalProperties": {"type": "string"}}
    assert check_output(schema, '{"x": 1, "ab": 1, "b": "", "c": 1}') == ("/c: 1 is not of type 'string'",)
    [forbidden] = check_output({**schema, "additionalProperties": False}, '{"x": 1, "ab": 1, "c": 1}')
    assert "'c' was unexpected" in forbidden


def test_a_pattern_that_needs_backtracking_is_not_checked():
    assert check_output({"pattern": "^(?!x)"}, '"x"') == ()
