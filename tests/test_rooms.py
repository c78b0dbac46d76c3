"""The floor plan: every folder of the app says what it is for, and is small enough to be looked through."""

import ast
from collections import Counter
from pathlib import Path

APP = Path(__file__).parent.parent / "app"
MOST = 30


def test_every_room_says_what_it_is_for() -> None:
    rooms = {path.parent for path in APP.rglob("*.py")}
    silent = [room for room in rooms if not ast.get_docstring(ast.parse((room / "__init__.py").read_text("utf-8")))]
    assert not silent


def test_no_room_has_more_files_than_can_be_looked_through() -> None:
    files = Counter(path.parent for path in APP.rglob("*.py") if path.name != "__init__.py")
    assert [room for room, count in files.items() if count > MOST] == []
