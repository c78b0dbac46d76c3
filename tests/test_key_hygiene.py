"""A saved key is used, quoted back by the provider, and found nowhere but where it is kept."""

import asyncio
import io
import logging
import os
import shutil
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from app.domain.provenance import Trigger
from app.domain.tool_settings import HttpTool, McpServer, StdioTransport
from app.export.exports import FORMATS, Choice
from app.llm.providers.provider_desk import ProviderEntry
from app.store.folder.folder import DataFolder
from app.store.keys.key_places import FILE
from app.store.keys.provider_keys import saved_keys
from app.terminal.export import export_here
from app.tools.http.secret_refs import SecretRefs
from app.tools.worker.process import worker_environment
from app.workbench.tool_variables import tool_variables
from app.workbench.workbench import Workbench
from tests.fakes.openai import FakeOpenAI
from tests.tools.mcp.hubs import hostile, reached
from tests.waiting import until

OWNER = Trigger(kind="page")
KEY = "planted/key+0123456789~WXYZ"
"""Without any of the shapes by which keys are known."""


def holding(folder: Path) -> set[str]:
    """The files in which it is found."""
    found = set()
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # some come and go
            if path.is_file() and KEY.encode() in path.read_bytes():
                found.add(path.name)
    return found


def unpacked(content: bytes) -> bytes:
    if not content.startswith(b"PK"):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


async def answered(workbench: Workbench, model: str, text: str = "hello") -> str:
    """The run of that model's answer, after its end."""
    template = workbench.templates()[0].asking(model)
    agent = await workbench.agents.create(template.agent(workbench.agents.slugs(), "Asker"))
    session = await workbench.chat.new_session(agent.id)
    live = await workbench.chat.send(session.id, text)
    await asyncio.wait_for(live.ended(), 30)
    return live.run_id


async def test_a_saved_key_for_searching_reaches_the_tool_and_no_environment(tmp_path: Path):
    workbench = Workbench.open(tmp_path / "data")
    await workbench.data.provider_keys.save("brave:key", KEY)
    assert tool_variables(workbench.data)["BRAVE_API_KEY"] == KEY
    assert KEY not in " ".join(os.environ.values()) + " ".join(worker_environment().values())
    assert KEY in workbench.secrets()
    await workbench.close()


async def test_a_key_that_the_provider_quotes_back_is_found_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    workbench = Workbench.open(tmp_path / "data")
    async with FakeOpenAI() as fake:
        fake.key = "another-key"
        entry = ProviderEntry({"key": KEY}, {"address": fake.base})
        await workbench.provider_desk.save("openai", entry)
        findings = [finding async for finding in workbench.doctor.examine("openai", "ok")]
        refused = await answered(workbench, "openai/ok")
        assert f"Bearer {KEY}" in [headers.get("Authorization") for headers in fake.seen.headers]
        fake.key = KEY
        works = await answered(workbench, "openai/ok")

    exported = [
        (await workbench.exports.export(run, format, Choice())).content
        for run in (refused, works)
        for format in FORMATS
    ]
    traces = [(await workbench.runs.trace(run)).entries for run in (refused, works)]
    assert "[key]" in repr(findings) and "[key]" in repr(traces[0])
    assert KEY not in repr(findings) + repr(traces)
    assert not any(KEY.encode() in unpacked(content) for content in exported)
    assert KEY in workbench.secrets()
    assert KEY not in " ".join(os.environ.values()) + " ".join(worker_environment().values())
    assert KEY not in caplog.text
    await workbench.close()
    assert holding(tmp_path) == {FILE}


async def test_the_secrets_of_servers_and_requests_are_kept_with_the_keys(tmp_path: Path):
    workbench = Workbench.open(tmp_path / "data")
    transport = StdioTransport(command="nothing", env={"SERVICE_TOKEN": KEY})
    await workbench.mcp.add(McpServer(name="one", transport=transport))
    headers = {"X-Api-Key": KEY + "2"}
    form = HttpTool(name="ask", description="Asks.", address="https://example.org/", headers=headers)
    await workbench.http_tools.create(form)
    assert KEY not in repr(workbench.mcp.states()) + repr(workbench.http_tools.forms())
    assert holding(tmp_path) == {FILE}
    assert await workbench.known.ready(OWNER) and workbench.known.text(KEY) == "[redacted: secret of a tool]"
    await workbench.mcp.remove("one")
    await workbench.http_tools.delete("ask")
    await workbench.close()
    assert holding(tmp_path) == set()


def kept_of_tools(workbench: Workbench) -> list[str]:
    return list(SecretRefs(workbench.data.provider_keys).variables().values())


async def stored_in_clear(folder: Path) -> None:
    """A server that may start and a request, with their secrets where an earlier version stored them."""
    data = DataFolder.open(folder)
    server = hostile(name="one", env={"SERVICE_TOKEN": KEY})
    await data.mcp_servers.create(server.model_copy(update={"consented": server.transport.digest}))
    headers = {"X-Api-Key": KEY + "2"}
    form = HttpTool(name="ask", description="Asks.", address="https://example.org/", headers=headers)
    await data.http_tools.create(form)
    await data.close()
    assert holding(folder) == {"app.tdb"}


async def test_secrets_that_an_earlier_version_stored_in_clear_move_to_the_keys(tmp_path: Path):
    await stored_in_clear(tmp_path)
    workbench = Workbench.open(tmp_path)
    await workbench.start()
    before = await reached(workbench.mcp, "ready", name="one")
    await workbench.warm()
    (after,) = workbench.mcp.states()
    assert (after.status, after.log) == ("ready", before.log), "its connection goes on"
    assert KEY not in repr(after) + repr(workbench.http_tools.forms())
    await until(lambda: holding(tmp_path) == {FILE})
    secrets = sorted(kept_of_tools(workbench))
    await workbench.close()
    again = Workbench.open(tmp_path)
    await again.start()
    await reached(again.mcp, "ready", name="one")  # nobody is asked once more whether it may start
    await again.warm()
    assert sorted(kept_of_tools(again)) == secrets == [KEY, KEY + "2"]
    await again.close()


async def test_what_a_start_sealed_that_was_killed_is_gone_after_the_next(tmp_path: Path):
    await stored_in_clear(tmp_path)
    data = DataFolder.open(tmp_path)
    await data.mcp_servers.save(hostile(name="one"))
    await data.http_tools.delete("ask")
    left = tmp_path.with_name("left")
    shutil.copytree(tmp_path, left)  # as it is where it was killed: a good end would tidy up
    await data.close()
    assert holding(left) == {"app.tdb"}
    workbench = Workbench.open(left)
    await workbench.start()
    await workbench.warm()
    await until(lambda: holding(left) == set())
    await workbench.close()


async def test_a_server_that_is_gone_keeps_no_other_secret_in_clear(tmp_path: Path):
    await stored_in_clear(tmp_path)
    workbench = Workbench.open(tmp_path)
    await workbench.data.mcp_servers.create(hostile(name="two"))
    await workbench.start()
    await workbench.data.mcp_servers.delete("one")
    await workbench.warm()
    await until(lambda: holding(tmp_path) == {FILE})
    assert kept_of_tools(workbench) == [KEY + "2"]
    await workbench.close()


async def test_who_has_backups_with_secrets_in_clear_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    await stored_in_clear(tmp_path)
    workbench = Workbench.open(tmp_path)
    backup = await workbench.data.backups.take()
    await workbench.start()
    await workbench.warm()
    assert f"The backups taken before still hold them: {backup.name}." in caplog.text
    await workbench.close()


async def test_where_no_key_can_be_kept_they_stay_where_they_are(tmp_path: Path):
    await stored_in_clear(tmp_path)
    (tmp_path / FILE).mkdir()
    workbench = Workbench.open(tmp_path)
    await workbench.start()
    await workbench.warm()
    await workbench.mcp.enable("one", False)
    (server,) = workbench.data.mcp_servers.all()
    assert KEY in server.model_dump_json() and not server.enabled
    await workbench.close()
    assert holding(tmp_path) == {"app.tdb"}


async def test_the_terminal_exports_without_the_keys_that_were_saved(tmp_path: Path):
    workbench = Workbench.open(tmp_path / "data")
    run = await answered(workbench, "demo/agent", f"{KEY} before anybody knew it")
    await workbench.data.provider_keys.save("openai:key", KEY)
    await workbench.close()
    trace = tmp_path / "data" / "sessions"
    assert await saved_keys(tmp_path / "data") == [KEY]
    before = {path: path.read_bytes() for path in trace.iterdir()}
    exported = await export_here(tmp_path / "data", [run], "jsonl", Choice())
    assert KEY.encode() not in exported.content
    assert {path: path.read_bytes() for path in trace.iterdir()} == before
    assert any(KEY.encode() in content for content in before.values())
