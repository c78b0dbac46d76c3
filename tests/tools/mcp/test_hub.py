"""Adding, agreeing to, switching and removing servers; what the registry gets of them."""

import asyncio
import os
from pathlib import Path

import pytest

from app.domain.errors import Conflict, NotFound, StorageError, ToolError, WorkbenchError
from app.domain.messages import ToolCall
from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport
from app.store.journal.database import JournalDB
from app.store.records.tables import McpServers
from app.tools.http.secret_refs import SecretRefs
from app.tools.mcp.hub import McpHub
from app.tools.mcp.launching import command_line
from app.tools.registry import Registry
from tests.cancelling import AtAwait
from tests.processes import alive
from tests.tools.context import Context
from tests.tools.mcp.hubs import called, hostile, hub_of, reached, text_of
from tests.tools.vault import Keys, no_secrets


def test_consent_shows_the_exact_command():
    transport = StdioTransport(command="npx", args=("-y", "a b"), env={"KEY": "$KEY", "A": "x y"}, cwd="/srv/my data")
    shown = command_line(McpServer(name="one", transport=transport))
    assert shown == "cd '/srv/my data' && A='x y' KEY='$KEY' npx -y 'a b'"
    http = HttpTransport(url="https://example.org/mcp", headers={"Authorization": "Bearer $KEY"})
    assert command_line(McpServer(name="one", transport=http)) == (
        "https://example.org/mcp\nAuthorization: Bearer $KEY"
    )


async def test_nothing_is_started_before_consent(tmp_path: Path):
    mark = tmp_path / "started"
    transport = StdioTransport(command="/bin/sh", args=("-c", f"touch {mark}"))
    async with hub_of(tmp_path) as hub:
        agreed = McpServer(name="sneaky", transport=transport, consented=transport.digest)
        await hub.add(agreed)
        [state] = hub.states()
        assert (state.status, hub.tools(), mark.exists()) == ("consent", {}, False)
        await hub.consent("sneaky")
        await reached(hub, "failed", name="sneaky")
        assert mark.exists()


async def test_another_command_asks_for_consent_again(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        await hub.change(hostile("other"))
        [state] = hub.states()
        assert (state.status, hub.tools()) == ("consent", {})
        with pytest.raises(Conflict, match=r"Somebody changed what bad starts"):
            await hub.consent("bad", hostile().transport)  # as it was before
        assert hub.states()[0].status == "consent"
        await hub.consent("bad", state.server.transport)
        await reached(hub, "ready")


async def test_tools_carry_the_name_of_their_server_and_no_hint_of_it_is_believed(tmp_path: Path):
    async with hub_of(tmp_path, hostile(name="my-server")) as hub:
        await reached(hub, "ready", name="my-server")
        give, calm = hub.tools()["my_server__give"].spec, hub.tools()["my_server__peaceful"].spec
        assert (give.kit, give.title, give.description) == ("my_server", "give", "Does give.")
        assert give.parameters == {"type": "object", "properties": {}}
        assert calm.title == "Calm"
        assert {(spec.side_effects, spec.idempotent) for spec in (give, calm)} == {(True, False)}


async def test_hints_that_an_earlier_version_believed_are_forgotten_and_nobody_is_asked_again(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        agreed = (await reached(hub, "ready")).server
    believed = [spec.model_copy(update={"idempotent": True, "side_effects": False}) for spec in agreed.seen_tools or ()]
    store = McpServers(JournalDB(tmp_path / "app.tdb"))
    await store.save(agreed.model_copy(update={"seen_tools": tuple(believed)}))
    async with hub_of(tmp_path) as hub:
        first = hub.tools()["bad__peaceful"].spec
        await reached(hub, "ready", "changed")
        assert hub.states()[0].status == "ready"
        assert (first.side_effects, first.idempotent) == (True, False)


async def test_a_server_is_known_again_after_a_restart_before_it_is_connected(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
    async with hub_of(tmp_path) as hub:
        assert "bad__give" in hub.tools()
        assert text_of(await called(hub, "bad__peaceful")) == "calm"


async def test_the_registry_calls_a_servers_tool(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        registry = Registry([], sources=[hub])
        assert registry.specs(("bad",)) == ()
        await reached(hub, "ready")
        assert len(registry.specs(("bad",))) == 12
        assert registry.listed()[0].source == "MCP servers"
        call = ToolCall(call_id="1", name="bad__peaceful")
        assert text_of(await registry.call(call, Context())) == "calm"


async def test_switched_off_and_removed_servers_have_no_process_and_no_tools(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        tool = hub.tools()["bad__peaceful"]
        await hub.enable("bad", False)
        [state] = hub.states()
        assert (state.status, hub.tools()) == ("off", {})
        with pytest.raises(ToolError, match=r"The MCP server bad is switched off. Switch it on on the Tools page."):
            await tool.run({}, Context())
        await hub.enable("bad", True)
        await reached(hub, "ready")
        await hub.remove("bad")
        assert (hub.states(), hub.tools()) == ((), {})
        with pytest.raises(NotFound):
            await hub.reconnect("bad")


async def test_a_server_that_is_switched_off_while_it_begins_again_stays_off(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        await asyncio.gather(hub.reconnect("bad"), hub.enable("bad", False), hub.reconnect("bad"))
        [state] = hub.states()
        assert (state.status, state.server.enabled) == ("off", False)


async def test_a_command_that_is_changed_while_its_server_begins_again_is_asked_about(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        await asyncio.gather(hub.reconnect("bad"), hub.change(hostile("other")))
        [state] = hub.states()
        assert (state.status, state.server.transport) == ("consent", hostile("other").transport)


async def test_a_server_is_off_wherever_it_is_cancelled_that_somebody_switches_it_off(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        for nth in range(1, 100):
            await hub.enable("bad", True)
            process = (await reached(hub, "ready")).pid
            factory = AtAwait("McpHub.enable", nth)
            asyncio.get_running_loop().set_task_factory(factory)
            await asyncio.wait({asyncio.create_task(hub.enable("bad", False))})
            asyncio.get_running_loop().set_task_factory(None)
            await reached(hub, "off")
            assert process is not None and not alive(process)
            if not factory.reached:
                break
        assert nth > 1


async def test_a_server_that_cannot_be_forgotten_goes_on_and_is_removed_the_next_time(tmp_path: Path):
    class Locked(Keys):
        locked = True

        async def forget(self, name: str) -> None:
            if self.locked:
                raise StorageError("The keyring is locked.")
            await super().forget(name)

    keys = Locked()
    async with hub_of(tmp_path, hostile(), refs=lambda: SecretRefs(keys)) as hub:
        process = (await reached(hub, "ready")).pid
        with pytest.raises(StorageError, match="keyring is locked"):
            await hub.remove("bad")
        assert text_of(await called(hub, "bad__peaceful")) == "calm"
        assert (hub.states()[0].status, hub.states()[0].pid) == ("ready", process)
        keys.locked = False
        await hub.remove("bad")
        assert hub.states() == () and process is not None and not alive(process)


async def test_names_that_would_collide_or_cannot_be_are_refused(tmp_path: Path):
    async with hub_of(tmp_path) as hub:
        await hub.add(hostile(name="my-server"))
        with pytest.raises(Conflict, match="There is an MCP server 'my-server' already"):
            await hub.add(hostile(name="my_server"))
        for name in ("", "a b", "a__b", "x" * 33, "-a"):
            with pytest.raises(WorkbenchError, match="cannot be called"):
                await hub.add(hostile(name=name))


async def test_a_server_gets_only_the_environment_that_was_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET_KEY", "not for you")
    monkeypatch.setenv("TOKEN", "t0ken")
    async with hub_of(tmp_path, hostile(env={"MINE": "yes", "KEY": "$TOKEN", "PRICE": "$5 off"})) as hub:
        await reached(hub, "ready")
        told = text_of(await called(hub, "bad__env"))
    assert '"MINE": "yes"' in told
    assert '"KEY": "t0ken"' in told
    assert '"PRICE": "$5 off"' in told
    assert "PATH" in told
    assert "not for you" not in told


async def test_a_variable_that_is_not_set_is_named(tmp_path: Path):
    async with hub_of(tmp_path, hostile(env={"KEY": "$NEVER_SET_HERE"})) as hub:
        state = await reached(hub, "failed")
        assert "the environment variable NEVER_SET_HERE, which is not set" in state.problem


async def test_a_stored_consent_to_another_command_does_not_count(tmp_path: Path):
    servers = McpServers(JournalDB(tmp_path / "app.tdb"))
    await servers.create(hostile(name="one").model_copy(update={"consented": "0" * 64}))
    hub = McpHub(servers, version="1.0", refs=no_secrets)
    await hub.start()
    assert [state.status for state in hub.states()] == ["consent"]
    await hub.close()


async def test_a_program_without_the_right_to_run_is_told_of(tmp_path: Path):
    program = tmp_path / "server"
    program.write_text("#!/bin/sh\n")
    os.chmod(program, 0o600)  # noqa: PTH101
    async with hub_of(tmp_path, McpServer(name="bad", transport=StdioTransport(command=str(program)))) as hub:
        state = await reached(hub, "failed")
        assert "cannot be run as a program" in state.problem
