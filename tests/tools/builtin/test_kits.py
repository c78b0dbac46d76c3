"""What models are told of the kits with data: enough to call them right, and little enough to send with every call."""

import json

from app.domain.tools import JsonSchema
from app.tools.builtin.data_transform.kit import data_transform_tools
from app.tools.builtin.date_utils.kit import date_utils_tools
from app.tools.builtin.formula_engine.kit import formula_engine_tools
from app.tools.builtin.json_utils.kit import json_utils_tools

KITS = (*data_transform_tools(), *date_utils_tools(), *formula_engine_tools(), *json_utils_tools())
MOST_IN_ALL = 12_500
"""Characters as they are sent; some 3,000 tokens."""
MOST_OF_AN_ARGUMENT = 80


def properties(schema: JsonSchema) -> dict[str, JsonSchema]:
    return schema["properties"]


def test_all_kits_together_take_little_of_a_model_call():
    told = [json.dumps([tool.spec.description, tool.spec.parameters], separators=(",", ":")) for tool in KITS]
    assert len(KITS) == 23 and sum(map(len, told)) < MOST_IN_ALL


def test_each_tool_says_what_it_does_in_a_sentence_and_each_argument_in_a_line():
    for tool in KITS:
        first, *more = tool.spec.description.splitlines()
        assert 40 < len(first) <= 110 and first.endswith("."), tool.spec.name
        assert not more or tool.spec.kit == "formula_engine"
        for name, argument in properties(tool.spec.parameters).items():
            assert len(argument.get("description", "")) <= MOST_OF_AN_ARGUMENT, (tool.spec.name, name)


def test_null_is_taken_for_what_is_null_when_left_out():
    for tool in KITS:
        known = properties(tool.spec.parameters)
        needed = {name: [] if known[name].get("type") == "array" else "[]" for name in tool.spec.parameters["required"]}
        for name in (name for name, argument in known.items() if argument.get("default", "") is None):
            assert tool.checked({**needed, name: None})[name] is None
