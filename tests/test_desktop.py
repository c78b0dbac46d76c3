"""What is started to show a page, or a folder, sees of the app."""

import os
import subprocess
import sys

import pytest

from app.desktop import of_the_system

KEY = "planted-key-0123456789"
SEEN = "import os; print(*map(os.environ.get, ('PLANTED_API_KEY', 'PLANTED_FOLDER', 'LD_LIBRARY_PATH')))"


def seen() -> str:
    """What a program that is started now finds in its environment."""
    return subprocess.run([sys.executable, "-c", SEEN], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    monkeypatch.setenv("PLANTED_FOLDER", "/tmp")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)


def test_a_browser_is_given_no_key_and_the_app_keeps_it() -> None:
    with of_the_system():
        assert seen() == "None /tmp None"
        assert os.environ["PLANTED_API_KEY"] == KEY
    assert seen() == f"{KEY} /tmp None"


@pytest.mark.skipif(sys.platform != "linux", reason="libraries are found in another way elsewhere")
@pytest.mark.parametrize("before", ["/usr/lib", None])
def test_it_is_given_the_libraries_of_the_system(monkeypatch: pytest.MonkeyPatch, before: str | None) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/unpacked")
    if before:
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", before)
    with of_the_system():
        assert seen() == f"None /tmp {before}"
    assert seen() == f"{KEY} /tmp /unpacked"
