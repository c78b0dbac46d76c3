import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from app.domain.json_schema import mistakes
from app.domain.workflows.fitting import along, described, fit, value_fit
from tests.processor import at_work

TEXT, WHOLE, NUMBER, LIST = ({"type": name} for name in ("string", "integer", "number", "array"))


def thing(*required, closed=False, **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {**schema, "additionalProperties": False} if closed else schema


@pytest.mark.parametrize(
    ("given_", "wanted", "answer"),
    [
        (TEXT, TEXT, "fits"),
        (TEXT, {}, "fits"),
        (TEXT, {"title": "Name", "description": "Any"}, "fits"),
        ({}, TEXT, "may"),
        (WHOLE, NUMBER, "fits"),
        (NUMBER, WHOLE, "may"),
        (TEXT, NUMBER, "cannot"),
        ({"type": ["string", "null"]}, TEXT, "may"),
        ({"type": ["string", "null"]}, {"type": ["null", "string", "array"]}, "fits"),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a", "c"]}, "fits"),
        ({"enum": ["a", "b"]}, {"enum": ["b"]}, "may"),
        ({"enum": ["a"]}, {"const": "b"}, "cannot"),
        (TEXT, {"enum": ["a"]}, "may"),
        (TEXT, {"const": 3}, "cannot"),
        (TEXT, {"type": "string", "maxLength": 3}, "may"),
        (TEXT, {"anyOf": [NUMBER, TEXT]}, "fits"),
        (TEXT, {"anyOf": [NUMBER, LIST]}, "cannot"),
        ({"anyOf": [TEXT, NUMBER]}, TEXT, "may"),
        (thing("a", a=TEXT), thing("a", a=TEXT), "fits"),
        (thing(a=TEXT), thing("a", a=TEXT), "may"),
        (thing("a", a=TEXT), thing(a=NUMBER), "cannot"),
        (thing(a=TEXT), thing(a=NUMBER), "may"),
        (thing(a=TEXT, closed=True), thing("b"), "cannot"),
        (thing("a", "b", a=TEXT, b=TEXT), thing(a=TEXT, closed=True), "cannot"),
        (thing("a", a=TEXT), thing(a=TEXT, closed=True), "may"),
        (thing("a", a=TEXT, closed=True), thing(a=TEXT, closed=True), "fits"),
        ({**thing(a=TEXT, closed=True), "patternProperties": {"b": TEXT}}, thing(a=TEXT, closed=True), "may"),
        ({**thing(closed=True), "patternProperties": {"b": {}}}, thing("b"), "may"),
        ({"const": {"b": 1}}, {**thing(closed=True), "patternProperties": {"b": {}}}, "may"),
        ({**LIST, "items": TEXT}, {**LIST, "items": TEXT}, "fits"),
        ({**LIST, "items": TEXT}, {**LIST, "items": NUMBER}, "cannot"),
        (LIST, {**LIST, "items": NUMBER}, "may"),
        ({"type": "object"}, thing(a=TEXT), "may"),
        ({"type": "object"}, thing(a={}), "fits"),
        (thing(b=TEXT, closed=True), thing(a=TEXT), "fits"),
        (TEXT, {"$ref": "#/$defs/a"}, "may"),
        ({"const": {"a": 1}}, thing("b"), "cannot"),
        ({"const": [1, "a"]}, {**LIST, "items": NUMBER}, "cannot"),
        ({"const": True}, {"enum": [1]}, "cannot"),
        ({"const": {"a": 1}}, {"const": {"a": True}}, "cannot"),
        ({"const": {"a": 1}}, {"const": {"a": 1.0}}, "fits"),
        ({"const": {"a": 1, "b": 2}}, thing(a=NUMBER, closed=True), "cannot"),
    ],
)
def test_schemas_fit_cannot_fit_or_may(given_, wanted, answer):
    assert fit(given_, wanted) == answer


COUNTRIES = [f"country {number}" for number in range(249)]
NO_COUNTRIES = [f"planet {number}" for number in range(249)]
EACH_COUNTRY = [{"const": country} for country in COUNTRIES]


@pytest.mark.parametrize(
    ("given_", "wanted", "answer"),
    [
        ({"const": COUNTRIES[-1]}, {"enum": COUNTRIES}, "fits"),
        ({"const": "Atlantis"}, {"enum": COUNTRIES}, "cannot"),
        ({"const": [COUNTRIES[-1]]}, {**LIST, "items": {"enum": COUNTRIES}}, "fits"),
        ({"const": COUNTRIES}, {**LIST, "items": {"enum": COUNTRIES[:60]}}, "may"),
        ({"enum": COUNTRIES[::-1]}, {"enum": COUNTRIES}, "may"),
        ({"enum": [*NO_COUNTRIES, COUNTRIES[0]]}, {"enum": COUNTRIES}, "may"),
        ({"const": COUNTRIES[-1]}, {"anyOf": EACH_COUNTRY}, "may"),
        ({"const": COUNTRIES[0]}, {"anyOf": EACH_COUNTRY}, "fits"),
        (TEXT, {"anyOf": [*[NUMBER] * 60, TEXT]}, "may"),
        ({"anyOf": [*[NUMBER] * 60, TEXT]}, TEXT, "may"),
    ],
)
def test_what_stands_far_down_a_long_list_is_never_told_as_what_cannot_be(given_, wanted, answer):
    assert fit(given_, wanted) == answer


def test_a_path_may_lead_into_what_stands_far_down_a_long_list():
    assert along({"enum": [*COUNTRIES, {"code": "FR"}]}, ("code",)) == {}


def test_many_values_are_looked_for_among_many_in_time():
    with at_work() as work:
        fit({"enum": NO_COUNTRIES}, {"enum": COUNTRIES * 100})
    assert work.seconds < 1


SCALARS = some.sampled_from([None, True, False, 0, 1, 1.0, 1.5, "", "a", "b"])
VALUES = some.recursive(
    SCALARS,
    lambda inner: some.lists(inner, max_size=2) | some.dictionaries(some.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
TYPES = some.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def schemas():
    leaves = some.one_of(
        some.just({}),
        some.builds(lambda name: {"type": name}, TYPES),
        some.builds(lambda names: {"type": names}, some.lists(TYPES, min_size=1, max_size=2, unique=True)),
        some.builds(lambda values: {"enum": values}, some.lists(SCALARS, min_size=1, max_size=3)),
        some.builds(lambda value: {"const": value}, VALUES),
        some.just({"type": "string", "maxLength": 0}),
    )
    return some.recursive(
        leaves,
        lambda inner: some.one_of(
            some.builds(lambda one: {"type": "array", "items": one, "minItems": 1}, inner),
            some.builds(lambda both: {"anyOf": both}, some.lists(inner, min_size=1, max_size=2)),
            some.builds(
                lambda a, names, closed: {
                    "type": "object", "properties": {"a": a}, "required": names,
                    **({"additionalProperties": False} if closed else {}),
                },
                inner, some.lists(some.sampled_from("ab"), unique=True), some.booleans(),
            ),
        ),
        max_leaves=4,
    )  # fmt: skip


def valid(value, schema):
    return not list(mistakes(schema, value, most_references=10))


@settings(max_examples=150)
@given(schemas(), schemas(), VALUES)
def test_what_is_said_of_schemas_holds_for_values(given_, wanted, value):
    answer = value_fit(value, wanted)
    assert answer == "may" or (answer == "fits") == valid(value, wanted)
    told = fit(given_, wanted)
    if told != "may" and valid(value, given_):
        assert (told == "fits") == valid(value, wanted)


def test_what_stands_along_a_path():
    schema = thing(a={**LIST, "items": thing(b=TEXT, closed=True)})
    assert along(schema, ("a", 0, "b")) == TEXT
    assert along(schema, ("a", 0, "c")) is along(schema, ("a", "b")) is along(schema, (0,)) is None
    assert along({**thing(closed=True), "patternProperties": {"b": TEXT}}, ("b",)) == {}
    assert along(schema, ("other",)) == along({}, ("a", 1)) == {}


def test_kinds_of_values_are_named_in_words():
    assert [described(one) for one in (TEXT, WHOLE, {"type": ["object", "null"]}, {}, {"const": 1.5})] == [
        "text", "a whole number", "nothing or an object", "any value", "a number",
    ]  # fmt: skip
