"""Servers that do what they should not: each is told of in plain words, and leaves nothing behind."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.domain.errors import Conflict, ToolError
from app.domain.tool_settings import McpServer, StdioTransport
from app.tools.mcp.server_log import LONGEST_LINE, MOST_LINES, ServerLog
from app.tools.mcp.states import Patience
from tests.processes import alive
from tests.processor import at_work
from tests.tools.context import Context
from tests.tools.mcp.hubs import called, hostile, hub_of, reached, text_of
from tests.waiting import until


async def test_a_command_that_is_not_there(tmp_path: Path):
    server = McpServer(name="bad", transport=StdioTransport(command="npxx"))
    async with hub_of(tmp_path, server, patience=Patience()) as hub:
        state = await reached(hub, "failed")
        assert state.problem.startswith("The command npxx was not found on the PATH.")
        assert state.retry_at is not None


async def test_a_server_that_crashes_at_its_start_is_tried_again(tmp_path: Path):
    async with hub_of(tmp_path, hostile("crash")) as hub:
        state = await reached(hub, "failed")
        assert state.problem == (
            "It ended by itself, with exit code 3. Its last words:\nTraceback: no configuration found"
        )
        await until(lambda: sum("Connecting" in line for line in hub.states()[0].log) > 2)
        assert hub.tools() == {}


async def test_retries_come_after_longer_and_longer_waits():
    patience = Patience()
    assert [patience.before_retry(failures) for failures in (1, 2, 3, 6, 7, 50)] == [1, 2, 4, 32, 60, 60]


async def test_reconnecting_does_not_wait(tmp_path: Path):
    async with hub_of(tmp_path, hostile("crash"), patience=Patience(retries=(1000,))) as hub:
        first = await reached(hub, "failed")
        await hub.reconnect("bad")
        await until(lambda: hub.states()[0].retry_at not in (None, first.retry_at))


async def test_a_server_that_hangs_in_its_handshake(tmp_path: Path, started: Callable[[], list[str]]):
    async with hub_of(tmp_path, hostile("silent"), patience=Patience(handshake=0.3, retries=(1000,))) as hub:
        state = await reached(hub, "failed")
        assert state.problem == "It did not answer within 0.3 seconds."
        assert not started()


async def test_a_server_that_floods_its_standard_error(tmp_path: Path):
    before = psutil.Process().memory_info().rss
    async with hub_of(tmp_path, hostile("flood")) as hub:
        await reached(hub, "ready")
        await until(lambda: len(hub.states()[0].log) == MOST_LINES)
        slowest = 0.0
        for _ in range(50):
            with at_work() as turn:
                await asyncio.sleep(0)
            slowest = max(slowest, turn.seconds)
        assert text_of(await called(hub, "bad__peaceful")) == "calm"
        assert all(len(line) <= LONGEST_LINE for line in hub.states()[0].log)
    assert slowest < 0.1
    assert psutil.Process().memory_info().rss - before < 100e6


async def test_a_server_that_writes_garbage_to_its_standard_output(tmp_path: Path):
    async with hub_of(tmp_path, hostile("garbage")) as hub:
        state = await reached(hub, "ready")
        assert text_of(await called(hub, "bad__peaceful")) == "calm"
        assert "(no MCP message, on its standard output) Welcome to my server!" in state.log


async def test_a_server_that_answers_nonsense(tmp_path: Path):
    async with hub_of(tmp_path, hostile("nonsense")) as hub:
        state = await reached(hub, "failed")
        assert state.problem.startswith("It does not speak MCP as it should: ")


async def test_a_program_that_is_no_server(tmp_path: Path):
    transport = StdioTransport(command=sys.executable, args=("-c", "print('Usage: me FILE')"))
    async with hub_of(tmp_path, McpServer(name="bad", transport=transport)) as hub:
        state = await reached(hub, "failed")
        assert state.problem.startswith("It ended by itself, with exit code 0. It wrote 1 lines to its standard output")
        assert "Usage: me FILE" in state.problem


async def test_a_server_that_dies_in_a_call_is_connected_again(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        slow = asyncio.create_task(called(hub, "bad__slow", Context()))
        with pytest.raises(ToolError) as died:
            await called(hub, "bad__die")
        assert str(died.value).startswith(
            "The MCP server bad was lost during the call: It ended by itself, with exit code 7. Its last words:\n"
        )
        assert "I die now" in str(died.value)
        with pytest.raises(ToolError, match="was lost during the call"):
            await slow
        assert text_of(await called(hub, "bad__peaceful")) == "calm"


async def test_a_call_of_a_server_that_is_long_gone_says_so_at_once(tmp_path: Path):
    async with hub_of(tmp_path, hostile(), patience=Patience(retries=(1000,))) as hub:
        await reached(hub, "ready")
        with pytest.raises(ToolError):
            await called(hub, "bad__die")
        await reached(hub, "waiting")
        with pytest.raises(ToolError, match=r"The MCP server bad is not connected. It ended by itself"):
            await called(hub, "bad__peaceful")


async def test_a_call_that_is_cancelled_while_it_waits_for_its_server_leaves_nothing_behind(tmp_path: Path):
    gone = McpServer(name="bad", transport=StdioTransport(command="npxx"))
    async with hub_of(tmp_path, gone, patience=Patience(retries=(4,), call=5)) as hub:
        await reached(hub, "failed")
        server, before = hub.app_server("bad"), asyncio.all_tasks()
        assert server is not None
        call = asyncio.create_task(server.asked("tools/list", {}))
        await asyncio.sleep(0)  # it waits for the next try now
        call.cancel()
        await asyncio.wait({call})
        assert asyncio.all_tasks() == before


async def test_no_process_is_left_of_a_deaf_server_and_its_children(tmp_path: Path, started: Callable[[], list[str]]):
    async with hub_of(tmp_path, hostile("deaf")) as hub:
        await reached(hub, "ready")
        child = psutil.Process(int(text_of(await called(hub, "bad__spawn"))))
        [server] = [one for one in psutil.Process().children() if "hostile.py" in " ".join(one.cmdline())]
    assert not server.is_running()
    await until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    assert not started()


async def test_children_of_a_server_that_ended_are_ended(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        child = psutil.Process(int(text_of(await called(hub, "bad__spawn"))))
        with pytest.raises(ToolError):
            await called(hub, "bad__die")
        await until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


async def test_servers_end_with_an_app_that_is_killed(tmp_path: Path):
    app = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.tools.mcp.app_with_a_server", str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert app.stdout
    pids = [int(pid) for pid in (await asyncio.wait_for(app.stdout.readline(), 30)).split()]
    assert all(psutil.pid_exists(pid) for pid in pids)
    app.kill()
    await app.wait()
    await until(lambda: not any(alive(pid) for pid in pids))


async def test_tools_that_change_are_withheld_until_they_are_accepted(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        peaceful = hub.tools()["bad__peaceful"]
        await called(hub, "bad__mutate", description="Sends all your files to me.")
        state = await reached(hub, "changed")
        [change] = state.changes
        assert (change.name, change.before) == ("bad__extra", None)
        assert change.after
        assert change.after.description == "Sends all your files to me."
        assert hub.tools() == {}
        with pytest.raises(ToolError, match=r"bad has other tools than were agreed to. Look at them"):
            await peaceful.run({}, Context())
        await hub.accept_changes("bad")
        assert hub.states()[0].status == "ready"
        assert "bad__extra" in hub.tools()


async def test_nobody_agrees_to_changes_that_were_not_shown(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        await called(hub, "bad__mutate", description="Adds.")
        shown = (await reached(hub, "changed")).changes
        after = shown[0].after
        assert after is not None
        other = (replace(shown[0], after=after.model_copy(update={"description": "Sends all your files to me."})),)
        with pytest.raises(Conflict, match=r"bad changed its tools again"):
            await hub.accept_changes("bad", other)
        assert hub.states()[0].status == "changed" and hub.tools() == {}
        await hub.accept_changes("bad", shown)
        assert "bad__extra" in hub.tools()


async def test_tools_that_changed_while_the_server_was_away_are_withheld(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        await called(hub, "bad__mutate", description="new")
        await reached(hub, "changed")
        await hub.accept_changes("bad")
        await hub.reconnect("bad")
        state = await reached(hub, "changed")
        [change] = state.changes
        assert (change.name, change.after) == ("bad__extra", None)


async def test_tools_that_change_back_are_given_again(tmp_path: Path):
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        mutate = asyncio.create_task(called(hub, "bad__mutate"))
        await reached(hub, "changed")
        await mutate
        await hub.reconnect("bad")
        await reached(hub, "ready")


async def test_tools_that_come_right_after_the_first_listing_are_part_of_it(tmp_path: Path):
    patience = Patience(retries=(0.05,), settling=30, listing=0)
    async with hub_of(tmp_path, hostile(), patience=patience) as hub:
        await reached(hub, "ready")
        await called(hub, "bad__mutate")
        await until(lambda: "bad__extra" in hub.tools())


def test_the_log_keeps_the_end_of_a_flood():
    log = ServerLog()
    for _ in range(100):
        log.wrote(b"".join(b"line %d\n" % number for number in range(1000)) + b"half")
        log.wrote(b" a line\n")
    assert len(log.lines()) == MOST_LINES
    assert log.lines()[-2:] == ("line 999", "half a line")
    log.wrote(b"x" * 10_000_000)
    log.wrote(b"\nthe end")
    log.finish()
    assert len(log.lines()[-2]) == LONGEST_LINE
    assert log.lines()[-1] == "the end"
