"""What a new file begins as works as it is, and when what it suggests is followed."""

import ast

import pytest

from app.domain.messages import FilePart, TextPart
from app.tools.user_tools.template import template
from app.tools.worker.script_block import required_packages
from tests.tools.context import Context
from tests.tools.user_tools.conftest import Folder


async def test_the_template_is_two_tools_that_work(folder: Folder) -> None:
    name = (await folder.tools.new_file("orders")).name
    await folder.tools.trust(name)
    file = await folder.seen(name, "ready")
    assert [tool.name for tool in file.tools] == [tool.name for tool in file.preview] == ["orders", "orders_table"]
    assert await folder.call("orders", text="one two three") == "3"
    context = Context()
    output = await folder.tools.tools()["orders_table"].run({"size": 12}, context)
    text, attached = output.parts
    assert isinstance(text, TextPart) and isinstance(attached, FilePart) and attached.filename == "table.csv"
    assert b"12,24,36" in context.kept[attached.artifact]
    assert context.progress[-1].done == 12 and "".join(context.shown) == "144 products\n"


async def test_what_the_template_suggests_works_too(folder: Folder) -> None:
    lines = template("a.py").splitlines()
    block = [line.removeprefix("# ") for line in lines if line.startswith("# # ")]
    assert required_packages("\n".join(block)) == ("requests>=2",)
    start = lines.index('# @tool(icon="sticky_note_2")')
    kit = [line.removeprefix("#").removeprefix(" ") for line in lines[start:]]
    file = await folder.add("a.py", "\n".join([*lines[:start], *kit]))
    assert [tool.name for tool in file.tools] == ["a", "a_table", "notes__add", "notes__all"]
    assert {tool.name for tool in file.preview} == {tool.name for tool in file.tools}
    assert await folder.call("notes__add", text="Call Ann") == "Kept as note 1."
    assert "Call Ann" in await folder.call("notes__all")


async def test_two_new_files_do_not_clash(folder: Folder) -> None:
    previews = [(await folder.tools.new_file(name)).preview for name in ("first", "second")]
    names = [tool.name for preview in previews for tool in preview]
    assert names == ["first", "first_table", "second", "second_table"]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("orders.py", "orders"),
        ("my/Look up-it.py", "look_up_it"),
        ("2024.py", "tool_2024"),
        ("class.py", "tool_class"),
        ("--.py", "tool"),
    ],
)
def test_tools_are_called_after_their_file(file: str, name: str) -> None:
    defined = [item.name for item in ast.parse(template(file)).body if isinstance(item, ast.FunctionDef)]
    assert defined == [name, f"{name}_table"]
