"""What is read from a file's text without running it."""

import pytest

from app.tools.user_tools.preview import LONGEST_PREVIEWED, preview
from app.tools.worker.script_block import BadScriptBlock, required_packages


def names(source: str) -> list[str]:
    return [tool.name for tool in preview(source, "a.py").tools]


def test_public_functions_with_a_docstring_are_tools() -> None:
    source = (
        'def one(a: int):\n    """One.\n\n    Args:\n        a: A number.\n    """\n'
        'async def two():\n    """Two."""\n'
        'def _private():\n    """No."""\n'
        "def silent(): ...\n"
        'class Other:\n    def method(self):\n        """No."""\n'
    )
    found = preview(source, "a.py").tools
    assert [(tool.name, tool.description, tool.line) for tool in found] == [("one", "One.", 1), ("two", "Two.", 7)]


def test_where_something_is_decorated_only_that_is_a_tool() -> None:
    source = (
        "@tool\ndef one(): ...\n"
        "@agent_playground.tool(icon='x')\ndef two(): ...\n"
        "@other\ndef three():\n    '''No.'''\n"
        "@tool()\nclass MyKit:\n    def __init__(self): ...\n    async def go(self): ...\n    def _no(self): ...\n"
    )
    assert names(source) == ["one", "two", "my_kit__go"]


@pytest.mark.parametrize("source", ["-" * 30_000 + "1", "1" + "+1" * 15_000, "(" * 1000, "x = '\0'", "x = \ud800"])
def test_text_that_python_chokes_on_is_a_problem(source: str) -> None:
    assert preview(source, "a.py").problem


def test_a_text_too_long_to_be_parsed_in_time_promises_nothing() -> None:
    source = "def one():\n    '''One.'''\n"
    assert names(source) == ["one"]
    assert preview(source + "#" * LONGEST_PREVIEWED, "a.py").problem is None
    assert names(source + "#" * LONGEST_PREVIEWED) == []


def test_packages_are_read_from_the_script_block() -> None:
    source = '#!/usr/bin/env python\n# /// script\n# dependencies = [\n#   "a>=1",\n#\n#   "b[c]",\n# ]\n# ///\nx = 1\n'
    assert required_packages(source) == ("a>=1", "b[c]")
    assert required_packages('# /// other\n# dependencies = ["a"]\n# ///\n') == ()
    assert required_packages("# /// script\n# requires-python = '>=3.11'\n# ///\n") == ()


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("x = 1\n# /// script\n# dependencies = [\n# ///\n", 2, "no TOML"),
        ("# /// script\n# dependencies = []\n", 1, "no end"),
        ("# /// script\n# dependencies = 'a'\n# ///\n", 1, "list of texts"),
        ("# /// script\n# dependencies = [1]\n# ///\n", 1, "list of texts"),
        ("# /// script\n# ///\n\n# /// script\n# ///\n", 4, "two"),
    ],
)
def test_a_bad_script_block_is_told_with_its_line(source: str, line: int, words: str) -> None:
    with pytest.raises(BadScriptBlock, match=words) as told:
        required_packages(source)
    assert told.value.line == line
