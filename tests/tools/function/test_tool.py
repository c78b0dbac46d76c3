"""A function becomes a tool."""

import threading
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal, Optional

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from app.domain.errors import InvalidArguments, ToolError
from app.domain.messages import ImagePart
from app.domain.tools import CallContext, ToolOutput
from app.tools.function.arguments import InvalidTool
from app.tools.function.tool import Tool, tool
from tests.tools.context import Context


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A place."""

    x: float
    title: str = "here"


class Tree(BaseModel):
    children: "list[Tree]" = []


@dataclass
class Size:
    width: int
    height: int = 1


class Row(TypedDict):
    name: str


@tool(title="Draw", icon="brush", idempotent=True, side_effects=True, cancellable=False, handles=("image/png",))
async def shapes__draw_it(  # noqa: PLR0917  one of each
    context: CallContext,
    point: Point,
    colour: Colour = Colour.RED,
    mode: Literal["fill", "line"] = "fill",
    note: Optional[str] = None,  # noqa: UP045  the older spelling has to work too
    sizes: list[Size] = [],  # noqa: B006  only its schema is looked at
    weight: Annotated[int, Field(ge=1, le=9, description="How bold.")] = 1,
) -> str:
    """Draw a shape.

    Args:
        point: Where.
        weight: Overruled by the field.
    """
    context.printed("drawing")
    return f"{point.x} {colour.name} {mode} {note} {[size.width for size in sizes]} {weight}"


def schema_of(annotation: object) -> object:
    def example(value):
        """An example."""

    example.__annotations__ = {"value": annotation}
    return Tool(example).spec.parameters["properties"]["value"]


def test_the_face_of_a_tool_comes_from_its_signature() -> None:
    spec = shapes__draw_it.spec
    assert (spec.name, spec.kit, spec.title, spec.icon) == ("shapes__draw_it", "shapes", "Draw", "brush")
    assert (spec.idempotent, spec.side_effects, spec.cancellable, spec.handles) == (True, True, False, ("image/png",))
    assert spec.description == "Draw a shape."
    assert spec.parameters == {
        "type": "object",
        "additionalProperties": False,
        "required": ["point"],
        "properties": {
            "point": {
                "type": "object",
                "description": "Where.",
                "properties": {"x": {"type": "number"}, "title": {"type": "string", "default": "here"}},
                "required": ["x"],
            },
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "mode": {"type": "string", "enum": ["fill", "line"], "default": "fill"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "sizes": {
                "type": "array",
                "default": [],
                "items": {
                    "type": "object",
                    "properties": {"width": {"type": "integer"}, "height": {"type": "integer", "default": 1}},
                    "required": ["width"],
                },
            },
            "weight": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1, "description": "How bold."},
        },
    }


def test_the_title_is_made_from_the_name() -> None:
    @tool()
    def data__sort_rows(rows: list[str]) -> list[str]:
        return sorted(rows)

    assert data__sort_rows.spec.title == "Sort rows"


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (int, {"type": "integer"}),
        (bool, {"type": "boolean"}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (Row, {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    ],
)
def test_types_become_schemas(annotation: object, schema: object) -> None:
    assert schema_of(annotation) == schema


def test_what_refers_to_itself_keeps_its_definition() -> None:
    def walk(tree: Tree) -> str:
        """Walk."""

    assert Tool(walk).spec.parameters == {
        "type": "object",
        "additionalProperties": False,
        "required": ["tree"],
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {
            "Tree": {
                "type": "object",
                "properties": {"children": {"type": "array", "default": [], "items": {"$ref": "#/$defs/Tree"}}},
            }
        },
    }


async def test_arguments_arrive_in_the_types_of_the_signature() -> None:
    context = Context()
    output = await shapes__draw_it.run(
        {"point": {"x": "1.5"}, "colour": "blue", "sizes": [{"width": "3"}], "weight": "2"}, context
    )
    assert output == ToolOutput.of_text("1.5 BLUE fill None [3] 2")
    assert context.shown == ["drawing"]


async def test_every_argument_that_does_not_fit_is_named() -> None:
    with pytest.raises(InvalidArguments) as told:
        await shapes__draw_it.run({"colour": "green", "weight": 10, "sizes": [{}], "size": 1, "note": [1]}, Context())
    text = str(told.value)
    assert "shapes__draw_it" in text
    assert "- point: missing, expected object" in text
    assert "- colour: got 'green'. Input should be 'red' or 'blue'" in text
    assert "- weight: got 10. Input should be less than or equal to 9" in text
    assert "- sizes.0.width: got {}" in text
    assert "- size: unknown, shapes__draw_it takes point, colour, mode, note, sizes, weight" in text
    assert "- note: got [1]. Input should be a valid string" in text


async def test_an_argument_of_several_types_gets_one_line() -> None:
    def double(value: int | list[int]) -> str:
        """Double."""

    with pytest.raises(InvalidArguments) as told:
        await Tool(double).run({"value": "x"}, Context())
    assert str(told.value).splitlines()[1:] == ["- value: got 'x', expected integer or array of integer"]


async def test_the_context_cannot_be_given_by_the_model() -> None:
    with pytest.raises(InvalidArguments, match="context: unknown"):
        await shapes__draw_it.run({"point": {"x": 1}, "context": "mine"}, Context())


async def test_a_long_list_of_mistakes_is_cut() -> None:
    def add(numbers: list[int]) -> str:
        """Add."""

    with pytest.raises(InvalidArguments, match="and 988 more"):
        await Tool(add).run({"numbers": ["x"] * 1_000}, Context())


async def test_a_number_is_taken_for_a_text() -> None:
    def echo(text: str) -> str:
        """Echo."""
        return text

    assert await Tool(echo).run({"text": 5}, Context()) == ToolOutput.of_text("5")


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("plain", "plain"),
        (None, "(nothing returned)"),
        (1.5, "1.5"),
        (True, "true"),
        ({"a": [1, "ü"]}, '{"a":[1,"ü"]}'),
        ([Point(x=1)], '[{"x":1.0,"title":"here"}]'),
        ((Colour.RED, Size(1)), '["red",{"width":1,"height":1}]'),
        (float("nan"), "NaN"),
        ("half \ud800", "half ?"),
    ],
)
async def test_what_is_returned_becomes_text(returned: object, text: str) -> None:
    def give() -> object:
        """Give."""
        return returned

    assert await Tool(give).run({}, Context()) == ToolOutput.of_text(text)


async def test_an_output_is_passed_on_as_it_is() -> None:
    picture = ToolOutput(parts=(ImagePart(artifact="0" * 64, media_type="image/png"),), printed="x")

    async def paint() -> ToolOutput:
        """Paint."""
        return picture

    assert await Tool(paint).run({}, Context()) is picture


@pytest.mark.parametrize("returned", [object(), b"\xff", iter([1])])
async def test_what_is_no_json_is_told_to_the_model(returned: object) -> None:
    async def give() -> object:
        """Give."""
        return returned

    with pytest.raises(ToolError, match=type(returned).__name__):
        await Tool(give).run({}, Context())


async def test_a_plain_function_runs_beside_the_loop() -> None:
    def where() -> bool:
        """Where."""
        return threading.current_thread() is threading.main_thread()

    assert await Tool(where).run({}, Context()) == ToolOutput.of_text("false")


async def test_an_error_of_the_function_is_left_as_it_is() -> None:
    def fail() -> str:
        """Fail."""
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        await Tool(fail).run({}, Context())


def untyped(a, b: int) -> str: ...


def starred(*values: int) -> str: ...


def keywords(**values: int) -> str: ...


def positional(a: int, /) -> str: ...


def unheard(a: int, machine: threading.Lock) -> str: ...


def dangling(a: "Nowhere") -> str: ...  # noqa: F821


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (untyped, "'a' of untyped has no type"),
        (starred, r"starred takes \*values"),
        (keywords, r"keywords takes \*\*values"),
        (positional, "'a' of positional is positional-only"),
        (unheard, "'machine' of unheard is of type"),
        (dangling, "annotations of dangling"),
    ],
)
def test_a_function_that_says_too_little_is_refused_by_name(function, words: str) -> None:
    with pytest.raises(InvalidTool, match=words):
        Tool(function)


def test_a_tool_is_still_a_function() -> None:
    @tool()
    def double(value: int) -> int:
        """Double."""
        return value * 2

    assert double(4) == 8
