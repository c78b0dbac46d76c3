"""Paths of session files stay below `/`."""

import ntpath
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import ToolError
from app.tools.paths import session_path
from tests.tools.hostile_paths import HOSTILE

FRAGMENTS = ["/", "..", ".", "\\", "a", "B.txt", " ", "\0", "C:", "//", "é", "e\u0301", "\u202e", "．", "／", "con"]
PIECES = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3)).map("".join)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/notes.txt", "/notes.txt"),
        ("notes.txt", "/notes.txt"),
        ("./reports//may.csv", "/reports/may.csv"),
        ("/a/./b/", "/a/b"),
        ("/.env", "/.env"),
        ("/e\u0301.txt", "/é.txt"),
        ("/Ünï cødé 日本語 🎉.txt", "/Ünï cødé 日本語 🎉.txt"),
    ],
)
def test_a_plain_path_gets_its_one_spelling(text: str, path: str) -> None:
    assert session_path(text) == path


@pytest.mark.parametrize("text", HOSTILE)
def test_a_path_that_may_mean_another_is_refused_in_words(text: str) -> None:
    with pytest.raises(ToolError) as told:
        session_path(text)
    assert len(str(told.value)) > 20


@given(PIECES)
def test_every_path_that_is_taken_stays_inside(text: str) -> None:
    try:
        path = session_path(text)
    except ToolError:
        return
    assert path.startswith("/") and len(path) <= 513
    assert ".." not in path.split("/")
    assert session_path(path) == path
    assert posixpath.normpath("/root" + path) == "/root" + path
    assert ntpath.normpath("C:\\root" + path.replace("/", "\\")) == "C:\\root" + path.replace("/", "\\")
