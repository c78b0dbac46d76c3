"""The form of a schema in this process: what it is given it says back, what is missing it tells."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from nicegui import Client, ui
from nicegui.page import page
from pydantic import JsonValue

from app.domain.tools import JsonSchema
from app.ui.schema_form.form import SchemaForm


@pytest.fixture(autouse=True)
def a_page() -> Iterator[None]:
    """What is built in a test stands on a page of nobody."""
    with Client(page("")) as client:
        yield
    client.delete()


def built(schema: JsonSchema, values: dict[str, JsonValue] | None) -> tuple[dict[str, JsonValue], list[str]]:
    """What the form would send, and the places of what keeps it from being sent."""
    form = SchemaForm(schema, values)
    return form.value, list(form.faults)


def of(**properties: JsonValue) -> JsonSchema:
    return {"type": "object", "properties": properties}


@pytest.fixture
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The time zone of this computer while a test runs."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


NODE: JsonSchema = of(name={"type": "string"}, next={"$ref": "#/$defs/Node"})
TRIPS: list[tuple[JsonSchema, dict[str, JsonValue]]] = [
    (of(a={"type": "string"}), {"a": "text\nof two lines"}),
    (of(a={"type": "string"}), {"a": ""}),
    (of(a={"type": "string"}), {}),
    (of(a={"type": "integer"}), {"a": 9007199254740993}),
    (of(a={"type": "number"}), {"a": -1.5e-7}),
    (of(a={"type": "boolean"}), {"a": False}),
    (of(a={"type": ["boolean", "null"]}), {"a": None}),
    (of(a={"enum": [1, "1", True, {"b": 2}]}), {"a": True}),
    (of(a={"const": "x"}), {"a": "x"}),
    (of(a={"const": "x"}), {}),
    (of(a={"type": "string", "format": "date"}), {"a": "2024-02-29"}),
    (of(a={"type": "string", "format": "date"}), {"a": "Leap day"}),
    (of(a={"type": "string", "format": "date-time"}), {"a": "2024-02-29T10:11:12.5Z"}),
    (of(a={"type": "string", "format": "date-time"}), {"a": "tomorrow"}),
    (of(a={"type": "array", "items": {"type": "integer"}}), {"a": [3, 1, 2]}),
    (of(a={"type": "array", "items": {"type": "integer"}}), {"a": []}),
    (of(a={"type": "array"}), {"a": [1, "x", None, {"b": []}]}),
    (of(a={"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}), {"a": ["x", 1, "more"]}),
    (of(a=of(b={"type": "string"}, c=of(d={"type": "number"}))), {"a": {"c": {"d": 1}}}),
    (of(a={"type": "object", "additionalProperties": {"type": "integer"}}), {"a": {"x": 1, "y": 2}}),
    (of(a={"type": "integer"}), {"a": "no number"}),
    (of(a={"type": "integer"}), {"unknown": [1]}),
    (of(a={"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}), {"a": ["x"]}),
    ({**NODE, "$defs": {"Node": NODE}}, {"name": "1", "next": {"name": "2", "next": {"name": "3"}}}),
    (of(a={}), {"a": {"any": ["thing"]}}),
    ({}, {"b": 1, "c": "x"}),
]


def test_a_form_says_back_what_it_was_given():
    schema = of(**{str(place): one for place, (one, _) in enumerate(TRIPS)})
    given: dict[str, JsonValue] = {str(place): values for place, (_, values) in enumerate(TRIPS)}
    schema["$defs"] = {"Node": NODE}
    form = SchemaForm(schema, given)
    for place, (_, values) in enumerate(TRIPS):
        assert form.value[str(place)] == values, TRIPS[place]


def test_what_does_not_fit_and_what_is_missing_is_told_with_its_place():
    schema: JsonSchema = {
        **of(
            name={"type": "string"},
            colour={"enum": ["red", "blue"]},
            age={"type": "integer", "minimum": 0},
            person={**of(name={"type": "number"}), "required": ["name"]},
            scores={"type": "array", "items": {"type": "number"}, "minItems": 2},
            short={"type": "string", "maxLength": 2},
        ),
        "required": ["name", "colour", "person"],
    }
    values: dict[str, JsonValue] = {"age": -1, "person": {"name": "x"}, "scores": [5], "short": "abc"}
    sent, places = built(schema, values)
    assert sent == {"name": "", **values}
    assert places == ["colour", "age", "person.name", "scores", "short"]


def test_defaults_are_filled_in_and_what_need_not_be_sent_is_left_out():
    schema = of(
        a={"type": "integer", "default": 3}, b={"type": "string"}, c={"type": ["string", "null"], "default": None}
    )
    whole: JsonSchema = {**of(inner=schema, left=schema), "required": ["inner"]}
    assert built(whole, None) == ({"inner": {"a": 3}}, [])


def test_a_schema_of_no_arguments_sends_an_empty_object():
    assert built({"type": "object", "properties": {}, "additionalProperties": False}, None) == ({}, [])


def test_an_endless_schema_is_written_as_json_from_the_third_level_on():
    node: JsonSchema = {**of(next={"$ref": "#"}), "required": ["next"]}
    assert built(node, None) == ({"next": {"next": {}}}, ["next.next"])


def test_what_lies_deep_is_written_as_json_beside_its_schema():
    rows: JsonSchema = {"type": "array", "items": {**of(age={"type": "integer"}), "required": ["age"]}}
    form = SchemaForm(of(rows=rows, inner=of(tags={"type": "array"})), {"rows": [{"age": "x"}], "inner": {"tags": []}})
    assert form.faults == {"rows": "[0].age: This should be: whole number."}
    boxes = [one.props["aria-label"] for one in form.descendants() if isinstance(one, ui.textarea)]
    schemas = [one.content for one in form.descendants() if isinstance(one, ui.html) and "<pre" in one.content]
    assert boxes == ["rows", "tags"]
    assert len(schemas) == 2
    assert "integer" in schemas[0]


def test_values_of_other_names_are_one_box_of_json():
    schema: JsonSchema = {**of(a={"type": "string"}), "additionalProperties": {"type": "integer"}}
    assert built(schema, {"a": "x", "b": 1, "c": "y"}) == ({"a": "x", "b": 1, "c": "y"}, ["*"])


def test_a_form_of_many_values_shows_the_first_of_those_that_need_not_be_sent():
    schema: JsonSchema = {**of(**{f"p{place}": {"type": "string"} for place in range(200)}), "required": ["p199"]}
    form = SchemaForm(schema, {"p198": "given"})
    assert form.value == {"p198": "given", "p199": ""}
    assert len(list(form.descendants())) < 150


@pytest.mark.parametrize(
    ("zone", "moment"),
    [("Asia/Tokyo", "9999-12-31T23:59:59Z"), ("America/New_York", "0001-01-01T00:00:00Z")],
    indirect=["zone"],
)
@pytest.mark.usefixtures("zone")
def test_a_moment_that_has_no_local_time_is_shown_as_it_was_written(moment: str):
    form = SchemaForm(of(until={"type": "string", "format": "date-time", "default": moment}))
    (box,) = (one for one in form.descendants() if isinstance(one, ui.input))
    assert (box.value, box.props["type"], form.value) == (moment, "text", {"until": moment})
    box.value = "2024-02-29T10:11:12+00:00"
    assert datetime.fromisoformat(str(form.value["until"])) == datetime(2024, 2, 29, 10, 11, 12, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["Europe/Berlin"], indirect=True)
@pytest.mark.usefixtures("zone")
def test_a_year_of_fewer_digits_is_shown_as_a_box_for_moments_takes_it():
    form = SchemaForm(of(since={"type": "string", "format": "date-time"}), {"since": "0800-12-25T12:00"})
    (box,) = (one for one in form.descendants() if isinstance(one, ui.input))
    assert (box.value, box.props["type"]) == ("0800-12-25T12:00", "datetime-local")


@pytest.mark.parametrize(
    ("limits", "value", "told"),
    [
        ({"minimum": 1000001}, 1, "At least 1000001, please."),
        ({"maximum": 1234567.5}, 10**400, "At most 1234567.5, please."),
        ({"minimum": 10**400}, 1, f"At least {10**400}, please."),
        ({"multipleOf": 5}, 10**400 + 1, "A multiple of 5, please."),
        ({"multipleOf": 0.5}, 10**400, None),
        ({"multipleOf": 0.1}, 0.3, None),
    ],
    ids=["many digits", "a fraction", "a huge limit", "a huge number", "a huge number in halves", "tenths"],
)
def test_limits_are_said_in_full_and_hold_for_numbers_of_any_size(
    limits: dict[str, JsonValue], value: float, told: str | None
):
    form = SchemaForm(of(n={"type": "number", **limits}), {"n": value})
    assert form.faults.get("n") == told


def test_the_limits_of_a_number_are_said_in_full_beside_it():
    form = SchemaForm(of(n={"type": "integer", "minimum": 1000001, "maximum": 20000000}), {})
    heads = [one.content for one in form.descendants() if isinstance(one, ui.html)]
    assert any("whole number, 1000001 to 20000000" in head for head in heads)
