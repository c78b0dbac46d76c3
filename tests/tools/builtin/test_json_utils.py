"""JSON queried, validated, compared, merged and made flat."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import ToolError
from app.tools.builtin.json_utils.comparing import differences, flattened, merged, same
from app.tools.builtin.json_utils.kit import (
    built,
    json_utils__diff,
    json_utils__flatten,
    json_utils__merge,
    json_utils__query,
    json_utils__unflatten,
    json_utils__validate,
)
from app.tools.builtin.json_utils.places import leaves, read
from app.tools.function.tool import AnyTool
from tests.tools.builtin.using import told_by
from tests.tools.context import Context, MemoryFiles

PEOPLE = {"people": [{"name": "Ann", "age": 31}, {"name": "Bob", "age": 25}]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


async def told(tool: AnyTool, context: Context | None = None, **arguments: object) -> Any:
    return json.loads(await told_by(tool, context, **arguments))


async def test_a_query_finds_a_part_or_says_what_is_wrong_with_it():
    assert (await told(json_utils__query, data=PEOPLE, expression="people[?age > `30`].name"))["found"] == ["Ann"]
    context = Context(files=MemoryFiles(p_json=json.dumps(PEOPLE).encode()))
    assert (await told(json_utils__query, context, data="/p.json", expression="length(people)"))["found"] == 2
    wrong = (
        ("people[", "cannot be read"),
        ("nope(@)", "nope"),
        ("length(`1`)", "does not fit"),
        ("(" * 1500, "cannot|brackets"),
    )
    for expression, complaint in wrong:
        with pytest.raises(ToolError, match=complaint):
            await told(json_utils__query, data=PEOPLE, expression=expression)


@pytest.mark.parametrize(
    "expression", ["[@,@]" + "[][@,@]" * 60, "[@,@]" + ".[@,@]" * 60, "@" + " | join('', [@,@])" * 40]
)
async def test_a_query_that_grows_without_end_is_given_up(expression: str):
    began = time.process_time()  # a machine that is busy with something else takes none of it
    with pytest.raises(ToolError):
        await told(json_utils__query, data='"xx"' if "join" in expression else PEOPLE, expression=expression)
    assert time.process_time() - began < 5


async def test_validation_names_every_mistake_with_its_place():
    schema = {"properties": {"people": {"items": {"required": ["age"], "properties": {"age": {"type": "integer"}}}}}}
    assert (await told(json_utils__validate, data=PEOPLE, json_schema=schema))["valid"]
    result = await told(json_utils__validate, data={"people": [{"age": "x"}, {}]}, json_schema=schema)
    assert [(one["path"], one["rule"]) for one in result["problems"]] == [
        ("people[0].age", "type"),
        ("people[1]", "required"),
    ]


SEVEN = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"$schema": SEVEN, "dependencies": {"a": ["b"]}}, {"a": 1, "b": 2}, {"a": 1}),
        ({"$schema": SEVEN, "items": [{"type": "string"}], "additionalItems": False}, ["x"], [1]),
        ({"$schema": "https://json-schema.org/draft-07/schema", "dependencies": {"a": ["b"]}}, {}, {"a": 1}),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 3, "exclusiveMaximum": True}, [], 3),
        ({"$schema": "https://json-schema.org/draft/2019-09/schema", "items": [{"type": "null"}]}, [None], [1]),
        ({"prefixItems": [{"type": "string"}], "items": False}, ["x"], ["x", "y"]),
        ({"pattern": r"^\p{Letter}+$"}, '"añД"', '"a1"'),
        ({"patternProperties": {r"^\p{Lu}": {"type": "null"}}}, {"Ä": None, "ä": 1}, {"Ä": 1}),
    ],
)
async def test_a_schema_is_read_by_the_draft_it_names(schema: dict[str, object], valid: object, invalid: object):
    for data, fits in ((valid, True), (invalid, False)):
        result = await told(
            json_utils__validate, data=json.dumps(data) if isinstance(data, int) else data, json_schema=schema
        )
        assert (result["valid"], result["notes"]) == (fits, [])


async def test_a_draft_that_is_not_known_is_told():
    result = await told(json_utils__validate, data={}, json_schema={"$schema": "https://example.org/mine"})
    assert result["valid"] and "'https://example.org/mine' is not known here; https://json-schema" in result["notes"][0]


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"pattern": "("}, "The schema is wrong at pattern: '\\(' is not a 'regex'"),
        ({"$schema": SEVEN, "$ref": "#"}, "without end"),
        ({"type": 5}, "The schema is wrong at type"),
        ({"$ref": "#"}, "without end"),
        ({"$ref": "other.json"}, "which it does not hold"),
        ({"pattern": "(?=a)b"}, "look-around"),
        ({"patternProperties": {"a": {}}, "unevaluatedProperties": False}, "unevaluatedProperties beside"),
    ],
)
async def test_a_schema_that_cannot_be_used_is_told(schema: dict[str, object], complaint: str):
    data = {"a": 1} if "patternProperties" in schema else '"a"'
    with pytest.raises(ToolError, match=complaint):
        await told(json_utils__validate, data=data, json_schema=schema)


async def test_evil_patterns_and_unique_items_take_no_time():
    began = time.monotonic()
    assert not (
        await told(json_utils__validate, data=["a" * 5000 + "!"], json_schema={"items": {"pattern": "^(a+)+$"}})
    )["valid"]
    unique = {"items": {"type": "object"}, "uniqueItems": True}
    assert (await told(json_utils__validate, data=[{"n": n} for n in range(5000)], json_schema=unique))["valid"]
    assert not (await told(json_utils__validate, data=[{"n": 1}, {"n": 1.0}], json_schema=unique))["valid"]
    assert time.monotonic() - began < 5


async def test_a_difference_names_what_was_added_removed_and_changed():
    result = await told(
        json_utils__diff, before={"a": 1, "b": [1, 2], "c": 1}, after={"a": 2, "b": [1], "d d": None, "c": 1.0}
    )
    assert result["changed"] == [{"path": "a", "from": 1, "to": 2}]
    assert result["removed"] == [{"path": "b[1]", "value": 2}]
    assert result["added"] == [{"path": '["d d"]', "value": None}]


async def test_documents_are_merged_deeply():
    base, other = {"a": {"x": 1, "l": [1, {"k": 1}]}}, {"a": {"y": 2, "l": [1, {"z": 2}]}}
    assert (await told(json_utils__merge, base=base, other=other))["merged"] == {
        "a": {"x": 1, "y": 2, "l": [1, {"z": 2}]}
    }
    lists = {"append": [1, {"k": 1}, 1, {"z": 2}], "union": [1, {"k": 1}, {"z": 2}], "by_index": [1, {"k": 1, "z": 2}]}
    for arrays, expected in lists.items():
        assert (await told(json_utils__merge, base=base, other=other, arrays=arrays))["merged"]["a"]["l"] == expected


@settings(max_examples=60, deadline=None)
@given(JSON, JSON)
def test_what_is_the_same_has_no_differences_and_merging_with_itself_changes_nothing(one: Any, other: Any):
    assert (not list(differences(one, other))) == same(one, other)
    assert same(merged(one, one, "replace"), one) and same(merged(one, one, "union"), one)


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_flat_documents_come_back_as_they_were(document: Any):
    flat = flattened(leaves(document))
    assert same(built([(read(place), value) for place, value in flat.items()]), document)


async def test_places_that_contradict_each_other_are_told():
    assert (await told(json_utils__flatten, data={"a": {"b": [1, {}]}}))["flat"] == {"a.b[0]": 1, "a.b[1]": {}}
    for flat, complaint in (
        ({"a": 1, "a.b": 2}, "plain value"), ({"a[1]": 1}, "lacks its item 0"), ({"a[0]": 1, "a.b": 2}, "neither"),
        ({"a..b": 1}, "no place"), ({"a[999999999999]": 1}, "lacks"), ({".".join("a" * 150): 1}, "levels deep"),
    ):  # fmt: skip
        with pytest.raises(ToolError, match=complaint):
            await told(json_utils__unflatten, data=flat)


async def test_json_nested_too_deep_is_refused():
    with pytest.raises(ToolError, match=r"levels deep|no JSON"):
        await told(json_utils__flatten, data="[" * 100_000 + "]" * 100_000)
