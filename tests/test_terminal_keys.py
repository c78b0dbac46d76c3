"""Keys in a terminal, with the app up and without it."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.__main__ import main
from app.domain.keys import RIGHTS
from tests.app_process import AppProcess


class Terminal:
    """What is typed behind `agent-playground --data DIR key`, and what it prints."""

    def __init__(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._data = data
        self._capsys = capsys

    def key(self, *arguments: str) -> str:
        assert main(["--data", str(self._data), "key", *arguments]) == 0
        return self._capsys.readouterr().out

    def refused(self, *arguments: str) -> str:
        assert main(["key", *arguments, "--data", str(self._data)]) == 1
        printed = self._capsys.readouterr()
        assert printed.out == ""
        return printed.err


@pytest.fixture
def terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(tmp_path / "data", capsys)


@pytest.fixture
def serving(tmp_path: Path, terminal: Terminal) -> Iterator[AppProcess]:
    assert terminal.key("create", "first").startswith("ap_")
    process = AppProcess(tmp_path / "data")
    process.start()
    yield process
    process.stop()


def agents_with(key: str, serving: AppProcess) -> list[str]:
    request = urllib.request.Request(f"{serving.url}/api/v1/agents", headers={"X-API-Key": key})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return [agent["slug"] for agent in json.load(answer)["data"]]


def work_with_keys(terminal: Terminal) -> str:
    """Make a key that stays, with all that can go wrong; what it is."""
    key = terminal.key("create", "n8n", "--agents", "assistant", "--expires", "30").strip()
    assert "There is a key 'n8n' already" in terminal.refused("create", "n8n")
    assert "There is no agent 'nobody'" in terminal.refused("create", "x", "--agents", "nobody")
    listed = terminal.key("list").splitlines()[0].split("\t")
    assert listed[:4] == ["n8n", "valid", f"…{key[-4:]}", "assistant"]
    assert (listed[4][:6], listed[5], listed[6]) == ("until ", "never used", "may nothing more")
    terminal.key("create", "allowed", "--agents", "assistant", "--may", "variants", "--may", "approve")
    assert terminal.key("list").splitlines()[0].endswith("\tnever used\tmay approve, variants")
    made = terminal.key("create", "brief").strip()
    assert "opens nothing any more" in terminal.key("revoke", "brief")
    assert terminal.refused("revoke", "brief").startswith("There is no key 'brief'. Keys: ")
    assert terminal.key("list").startswith(f"brief\trevoked\t…{made[-4:]}\tall agents\tfor good\t")
    return key


def test_every_right_can_be_given_in_the_terminal(terminal: Terminal):
    for right in RIGHTS:
        assert terminal.key("create", right, "--agents", "assistant", "--may", right).startswith("ap_")
    with pytest.raises(SystemExit):
        terminal.key("create", "x", "--may", "everything")


def test_keys_are_made_and_revoked_without_the_app(terminal: Terminal):
    work_with_keys(terminal)


def test_keys_are_made_and_revoked_through_the_app_that_is_up(terminal: Terminal, serving: AppProcess):
    key = work_with_keys(terminal)
    assert agents_with(key, serving) == ["assistant"]
    terminal.key("revoke", "n8n")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        agents_with(key, serving)
