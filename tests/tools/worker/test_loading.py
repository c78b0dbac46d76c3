"""What a tool file's source makes of tools, seen from inside of its process."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from app.tools.function import authoring
from app.tools.worker.loading import FileContents, FileTrouble, load
from app.tools.worker.protocol import FileFailed


@pytest.fixture(autouse=True)
def _own_modules(monkeypatch):
    monkeypatch.setitem(sys.modules, "agent_playground", authoring)
    monkeypatch.setattr(sys, "path", [*sys.path])


def loaded(tmp_path: Path, source: str) -> FileContents:
    return load(str(tmp_path / "mine.py"), dedent(source).lstrip())


def trouble(tmp_path: Path, source: str) -> FileFailed:
    with pytest.raises(FileTrouble) as raised:
        loaded(tmp_path, source)
    return raised.value.told


def test_public_documented_functions_of_the_file_itself_are_tools(tmp_path):
    file = loaded(
        tmp_path,
        '''
        from textwrap import dedent

        def add(a: int, b: int = 2) -> int:
            """Add numbers.

            Args:
                a: the first
            """
            return a + b

        async def later(text: str) -> str:
            """Wait."""
            return text

        def _helper(x: int) -> int:
            """Not a tool."""

        def helper(x):
            return x
        ''',
    )
    assert list(file.tools) == ["add", "later"]
    spec = file.tools["add"].spec
    assert spec.description == "Add numbers."
    assert spec.parameters["properties"] == {
        "a": {"type": "integer", "description": "the first"},
        "b": {"type": "integer", "default": 2},
    }


def test_where_something_is_marked_that_alone_is_a_tool(tmp_path):
    file = loaded(
        tmp_path,
        '''
        from agent_playground import tool

        @tool(title="Add up", icon="add", idempotent=True, handles=("text/csv",))
        def total(numbers: list[float]) -> float:
            return sum(numbers)

        @tool
        def half(number: float) -> float:
            """Half of it."""
            return number / 2

        def other(a: int) -> int:
            """Has words, and no mark."""
        ''',
    )
    assert list(file.tools) == ["total", "half"]
    spec = file.tools["total"].spec
    assert (spec.title, spec.icon, spec.idempotent, spec.handles) == ("Add up", "add", True, ("text/csv",))
    assert file.tools["half"].function(4) == 2


def test_a_marked_class_is_a_kit_whose_object_lives_on(tmp_path):
    file = loaded(
        tmp_path,
        '''
        from agent_playground import Context, tool

        @tool(icon="inventory")
        class ShoppingList:
            def __init__(self):
                self.items = []

            def add(self, item: str, context: Context) -> int:
                """Put it on the list."""
                self.items.append(item)
                return len(self.items)

            @tool(title="All of them", icon="list")
            async def show(self) -> list[str]:
                """The whole list."""
                return self.items

            def _secret(self) -> None:
                """Not a tool."""
        ''',
    )
    assert list(file.tools) == ["shopping_list__add", "shopping_list__show"]
    add, show = file.tools.values()
    assert (add.spec.kit, add.spec.icon, add.spec.title) == ("shopping_list", "inventory", "Add")
    assert (show.spec.title, show.spec.icon) == ("All of them", "list")
    assert list(add.spec.parameters["properties"]) == ["item"] and add.context_name == "context"
    assert [add.function(item="milk", context=None), add.function(item="tea", context=None)] == [1, 2]


@pytest.mark.parametrize("annotation", ["Context", "Context | None", "'Context'", "agent_playground.Context"])
def test_the_context_is_not_shown_to_the_model(tmp_path, annotation):
    file = loaded(
        tmp_path,
        f'''
        import agent_playground
        from agent_playground import Context
        def look(context: {annotation}) -> str:
            """Look."""
        ''',
    )
    assert file.tools["look"].context_name == "context"
    assert not file.tools["look"].spec.parameters["properties"]


@pytest.mark.parametrize(
    ("signature", "told"),
    [
        ("x", "'x' of f has no type"),
        ("**anything: int", "each argument"),
        ("x: object()", "f cannot be looked up|type"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_named_and_the_others_stay(tmp_path, signature, told):
    file = loaded(tmp_path, f'def f({signature}):\n    """F."""\n\ndef g() -> int:\n    """G."""\n    return 1')
    assert list(file.tools) == ["g"]
    [left_out] = file.left_out
    assert "f" in left_out and "line 1" in left_out
    assert any(part in left_out for part in told.split("|"))


def test_a_marked_function_that_cannot_be_a_tool_is_the_files_trouble(tmp_path):
    told = trouble(tmp_path, "from agent_playground import tool\n\n@tool\ndef f(x):\n    ...")
    assert "no type" in told.text and told.line == 3


def test_two_tools_of_one_name_are_the_files_trouble(tmp_path):
    source = """
        from agent_playground import tool

        @tool
        def kit__go() -> int: ...

        @tool
        class Kit:
            def go(self) -> int: ...
        """
    assert "'kit__go'" in trouble(tmp_path, source).text


def test_a_kit_that_cannot_be_made_tells_why(tmp_path):
    told = trouble(
        tmp_path, "from agent_playground import tool\n@tool\nclass Kit:\n    def __init__(self):\n        1 / 0"
    )
    assert told.text.startswith("ZeroDivisionError") and told.line == 5


@pytest.mark.parametrize(
    ("source", "line", "told"),
    [
        ("x = 1\ndef f(:\n    pass", 2, "SyntaxError"),
        ("x = 1\n\n1 / 0", 3, "ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(0)", 2, "ends the program"),
        ("raise KeyboardInterrupt", 1, "KeyboardInterrupt"),
        ("def f():\n    f()\nf()", 2, "RecursionError"),
        ("input()", 1, ""),
        ("'\\0'\n\0", None, "null bytes"),
    ],
)
def test_what_a_file_raises_while_it_is_loaded_is_told_with_its_line(tmp_path, source, line, told):
    failed = trouble(tmp_path, source)
    assert told in failed.text
    assert failed.line == line


def test_a_traceback_shows_the_files_own_frames(tmp_path):
    failed = trouble(tmp_path, "import json\n\ndef read():\n    json.loads('{')\n\nread()")
    assert "mine.py" in failed.traceback and "json.loads('{')" in failed.traceback
    assert "decoder.py" not in failed.traceback and "loading.py" not in failed.traceback
    assert failed.traceback.rstrip().splitlines()[-1] in failed.text


def test_a_missing_package_is_named(tmp_path):
    assert trouble(tmp_path, "import not_there.inside").missing == ("not_there",)


def test_of_a_script_block_what_is_missing_is_named_as_the_index_has_it(tmp_path):
    block = '# /// script\n# dependencies = ["pydantic>=2", "Not-There[fast]>=1"]\n# ///\n'
    assert trouble(tmp_path, f"{block}import nt").missing == ("Not-There",)


def test_dataclasses_and_postponed_annotations_of_the_file_are_found(tmp_path):
    file = loaded(
        tmp_path,
        '''
        from __future__ import annotations
        from dataclasses import dataclass

        @dataclass
        class Point:
            x: int

        def far(point: Point) -> int:
            """How far."""
            return point.x
        ''',
    )
    tool = file.tools["far"]
    assert tool.function(**tool.checked({"point": {"x": "3"}})) == 3
