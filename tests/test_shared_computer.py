"""The app on a computer that others use too: their programs have ports, and what is ours is ours to read."""

import os
import socket
import stat
from pathlib import Path

import httpx
import pytest

from app.api.door.security import HOST
from app.domain.errors import WorkbenchError
from app.start.port import FIRST_PORT, open_port
from app.store.folder.folder import DataFolder
from app.store.keys.key_places import FILE, FilePlace
from app.workbench import Workbench
from tests.app_process import AppProcess, free_port


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
async def test_others_read_nothing_in_a_folder_that_they_may_open(tmp_path: Path):
    """It was there before, open to all, as a folder is that somebody made by hand."""
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    workbench = Workbench.open(data, demo_pace=0)
    await workbench.start()
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    live = await workbench.chat.send(session.id, "What is 5 + 10?")
    await live.ended()
    await workbench.artifacts.put(b"picture")
    await FilePlace(data / FILE).write("openai:key", "sk-0123456789abcdef")
    await workbench.data.backups.take()
    await workbench.search.ready()
    readable = [
        path.relative_to(data).as_posix()
        for path in sorted(data.rglob("*"))
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    await workbench.close()
    assert readable == [] and modes(data) == 0o700


def modes(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
async def test_a_folder_that_holds_more_than_our_data_stays_as_it_is_and_that_is_said(tmp_path: Path, monkeypatch):
    home = tmp_path / "home"
    documents = tmp_path / "documents"
    for folder in (home, documents):
        folder.mkdir()
        folder.chmod(0o755)
    (documents / "letter.txt").write_text("mine")
    monkeypatch.setenv("HOME", str(home))
    for folder in (home, documents):
        for _ in range(2):  # and at the next start, when data is there
            data = DataFolder.open(folder)
            assert "Others who use this computer may look into" in data.open_to_others
            assert f"chmod 700 '{folder}'" in data.open_to_others
            await data.close()
        assert modes(folder) == 0o755
        folder.chmod(0o700)
        data = DataFolder.open(folder)
        assert data.open_to_others == ""
        await data.close()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_a_folder_that_the_app_has_used_is_closed_though_others_could_open_it(tmp_path: Path):
    """Also that all names in it are known: a new one would keep it open."""
    app = AppProcess(tmp_path / "data")
    app.start()
    httpx.get(app.address, follow_redirects=True)
    assert app.stop() == 0
    (tmp_path / "data").chmod(0o755)
    app.start()
    assert app.stop() == 0
    assert modes(tmp_path / "data") == 0o700 and "Others who use" not in app.log


def test_a_port_that_another_program_has_is_passed_over_unless_it_was_asked_for():
    with socket.socket() as other:
        try:
            other.bind((HOST, FIRST_PORT))
            other.listen()
        except OSError:
            """Somebody else has it already, which is as good."""
        with open_port(None) as first, open_port(None) as second:
            assert FIRST_PORT < first.getsockname()[1] < second.getsockname()[1] < FIRST_PORT + 200
        with pytest.raises(WorkbenchError, match=f"Port {FIRST_PORT} is in use by another program"):
            open_port(FIRST_PORT)
    free = free_port()
    with open_port(free) as asked_for:
        assert asked_for.getsockname() == (HOST, free)
        with socket.socket() as late, pytest.raises(OSError, match="in use"):
            if os.name == "posix":
                late.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            late.bind((HOST, free))
            late.listen()
