import json
import random

import pytest

from app.ui.markdown.json_text import JsonIndenter, begins_as_json, indented

VALUES = (
    {"name": "Ada", "born": 1815, "tags": ["a", "b"], "none": {}, "empty": [], "deep": {"x": [[1], {}]}},
    [1, [2, [3, []]], {"a": None}],
    {'quo"te': "back\\slash, {brace} [x]: \n", "ü": "\u2028"},
    [],
    {},
)


@pytest.mark.parametrize("value", VALUES)
def test_it_looks_as_python_writes_it(value: object) -> None:
    wanted = json.dumps(value, indent=2)
    for written in (json.dumps(value), json.dumps(value, separators=(",", ":")), wanted, json.dumps(value, indent=7)):
        assert indented(written) == wanted


def test_pieces_are_indented_as_the_whole_is() -> None:
    chance = random.Random(5)
    for value in VALUES * 5:
        text, indenter, shown = json.dumps(value), JsonIndenter(), ""
        while text:
            cut = chance.randint(1, 5)
            shown += indenter.feed(text[:cut])
            text = text[cut:]
        assert shown == json.dumps(value, indent=2)


def test_numbers_and_strings_stay_as_they_are_written() -> None:
    assert indented('[1e400,0.10,"\\u00e4"]') == '[\n  1e400,\n  0.10,\n  "\\u00e4"\n]'


def test_what_is_no_json_keeps_its_words() -> None:
    assert indented("{not json at all}\n and more, of it") == "{\n  not json at all\n}\n and more, of it"
    assert indented("]]}{") == "]]}{"


def test_brackets_that_only_open_do_not_grow_without_end() -> None:
    assert len(indented("[" * 2000)) < 2000 * 90


def test_only_an_object_or_an_array_counts_as_json() -> None:
    assert begins_as_json('\n {"a"')
    assert begins_as_json("[")
    assert not begins_as_json("An answer: {}")
    assert not begins_as_json("  ")
