"""Arguments of a call by hand in this process."""

from nicegui.testing.user_simulation import user_simulation
from pydantic import JsonValue

from app.domain.tools import JsonSchema
from app.ui.tools.hand_call import still_known
from app.ui.tools.hand_call_arguments import ArgumentsEditor


async def test_arguments_keep_what_was_typed_over_both_ways_to_write_them():
    heard: list[dict[str, JsonValue]] = []
    schema: JsonSchema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
    editors: list[ArgumentsEditor] = []

    def build() -> None:
        editors.append(ArgumentsEditor(schema, {"a": 1}, on_change=heard.append))

    async with user_simulation(build) as user:
        await user.open("/")
        editor = editors[0]
        assert editor.ready() == {"a": 1}
        editor.show("json")
        editor.text = '{"a": 2, "b"'
        assert (editor.ready(), editor.value, editor.text) == (None, {"a": 1}, '{"a": 2, "b"')
        editor.show("form")
        assert editor.ready() == {"a": 1}
        editor.show("json")
        assert editor.text == '{"a": 2, "b"'
        editor.text = '{"a": "two", "z": []}'
        assert editor.ready() == {"a": "two", "z": []}
        editor.show("form")
        assert (editor.ready(), editor.value) == (None, {"a": "two", "z": []})
        assert heard[-1] == {"a": "two", "z": []}


def test_arguments_that_a_tool_no_longer_takes_are_left_out():
    schema: JsonSchema = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}
    assert still_known(schema, {"text": "a", "what": "words"}) == {"text": "a"}
    assert still_known({"type": "object"}, {"what": "words"}) == {"what": "words"}
    assert still_known(schema, None) is None
