"""The app on a computer that others use too: their programs have ports, and what is ours is ours to read."""

import os
import socket
import stat
from pathlib import Path

import pytest

from app.domain.errors import WorkbenchError
from app.serve import FIRST_PORT, HOST, choose_port
from app.store.key_places import FILE, FilePlace
from app.workbench import Workbench
from tests.app_process import free_port


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
    assert readable == []


def test_a_port_that_another_program_has_is_passed_over_unless_it_was_asked_for():
    with socket.socket() as other:
        try:
            other.bind((HOST, FIRST_PORT))
            other.listen()
        except OSError:
            """Somebody else has it already, which is as good."""
        assert FIRST_PORT < choose_port(None) < FIRST_PORT + 200
        with pytest.raises(WorkbenchError, match=f"Port {FIRST_PORT} is in use by another program"):
            choose_port(FIRST_PORT)
    free = free_port()
    assert choose_port(free) == free
