"""The way to where one signs in, and the way back: who may take them, what they show, and what is left of them."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from app.domain.errors import WorkbenchError
from tests.guarded import CHANGE, WHOAMI, guarded
from tests.oauth_servers import Manners, serving
from tests.tools.mcp.hubs import reached
from tests.tools.mcp.oauth.signing_in import NAME
from tests.waiting import until


async def test_the_way_back_is_taken_once_by_its_state_and_leads_to_the_run(tmp_path: Path):
    async with serving() as servers, guarded(tmp_path, servers, signed_in=True) as world:
        run = await world.call(CHANGE)
        pause = await world.asked(run)
        assert pause.arguments == {
            "server": NAME,
            "host": f"127.0.0.1:{servers.authority}",
            "scopes": ["read", "write"],
        }
        went = await world.signs_in()
        assert f'content="1;url=/runs/{run.run_id}"' in world.tab
        assert await world.result(run) == ("ok", "changed by read write")
        again = await world.comes_back(went[-1])
        assert again.status_code == 404 and "Nobody waits for this sign-in" in again.text
        told = "".join(entry.model_dump_json() for entry in run.entries)
        secret = [*servers.secrets, *went[-1].params.values(), str(went[1])]
        assert not [one for one in secret if one in told or (one in again.text and one != servers.issuer)]


async def test_nothing_else_is_a_way_in(tmp_path: Path):
    async with serving() as servers, guarded(tmp_path, servers) as world:
        await reached(world.workbench.mcp, "sign-in", name=NAME)
        state = httpx2.URL((await world.workbench.mcp.sign_in(NAME)).address).params["state"]
        back, way = f"{world.origin}/oauth/callback", f"{world.origin}/sign-in/{NAME}"
        async with httpx2.AsyncClient() as stranger:
            assert (await stranger.get(way)).status_code == 401
            assert (await stranger.post(back, params={"state": state})).status_code in (401, 403)
            assert (await stranger.head(back, params={"state": state})).status_code == 401
            image = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
            assert (await stranger.get(back, params={"state": state}, headers=image)).status_code == 403
            other = await stranger.get(back, params={"state": state}, headers={"Host": "evil.example"})
            assert other.status_code == 421
            for made_up in ("", "x", state[:-1], state + "A", "\x00"):
                assert (await stranger.get(back, params={"state": made_up, "code": "y"})).status_code == 404
            hostile = {"state": state, "error": "<script>alert(1)</script>", "error_description": "\u202ea" * 500}
            answer = await stranger.get(back, params=hostile)
        assert answer.status_code == 200 and "&lt;script&gt;" in answer.text and "<script>" not in answer.text
        assert "\u202e" not in answer.text and state not in answer.text and len(answer.text) < 3_000
        assert f"/tools/server/{NAME}" in answer.text


async def test_a_link_that_would_lead_elsewhere_says_so_first(tmp_path: Path):
    async with serving() as servers, guarded(tmp_path, servers) as world:
        await reached(world.workbench.mcp, "sign-in", name=NAME)
        went = await world.signs_in(host="accounts.example.org")
        assert len(went) == 1 and f"127.0.0.1:{servers.authority}" in world.tab and "Go there" in world.tab
        assert servers.asked["authorize"] == 0


async def test_what_stands_in_the_way_is_said_in_words(tmp_path: Path):
    manners = Manners(metadata={"code_challenge_methods_supported": None})
    async with serving(manners) as servers, guarded(tmp_path, servers) as world:
        await reached(world.workbench.mcp, "sign-in", name=NAME)
        await world.signs_in(host="x")
        assert "does not say that it takes S256" in world.tab


async def test_nobody_lets_the_call_go_on_by_a_mere_decision(tmp_path: Path):
    async with serving() as servers, guarded(tmp_path, servers, signed_in=True) as world:
        run = await world.call(CHANGE)
        pause = await world.asked(run)
        for decision in ("approve", "answer", "always", "edit"):
            with pytest.raises(WorkbenchError, match="Only a sign-in lets this call go on"):
                await world.workbench.pauses.decide(run.run_id, pause.pause_id, decision)
        await world.workbench.pauses.decide(run.run_id, pause.pause_id, "deny", note="not now")
        status, text = await world.result(run)
        assert (status, text) == ("denied", f"Nobody signed in at the MCP server {NAME}. not now")


async def test_a_person_may_take_longer_than_the_tool(tmp_path: Path):
    async with serving() as servers, guarded(tmp_path, servers, tool_timeout=2) as world:
        await reached(world.workbench.mcp, "sign-in", name=NAME)
        await world.signs_in()
        await reached(world.workbench.mcp, "ready", name=NAME)
        run = await world.call(CHANGE)
        await world.asked(run)
        await asyncio.sleep(2.3)  # longer than the tool's time-out
        await world.signs_in()
        assert await world.result(run) == ("ok", "changed by read write")


@pytest.mark.parametrize("left", ["stopped", "closed"])
async def test_a_run_that_waits_is_stopped_or_left_and_goes_on(tmp_path: Path, left: str):
    async with serving() as servers:
        async with guarded(tmp_path, servers, signed_in=True) as world:
            servers.access.clear()
            servers.refresh.clear()
            run = await world.call(WHOAMI)
            await world.asked(run)
            current = world.workbench.mcp._session(NAME).authorization.current
            assert current is not None
            state = httpx2.URL(current.address).params["state"]
            if left == "stopped":
                run.stop()
                await run.ended()
                assert (await world.result(run))[0] == "cancelled"
                late = await world.comes_back(f"{world.origin}/oauth/callback?state={state}&code=x")
                assert late.status_code == 404 and current.task is not None and current.task.done()
                return
        async with guarded(tmp_path, servers) as world:
            late = await world.comes_back(f"{world.origin}/oauth/callback?state={state}&code=x")
            assert late.status_code == 404
            await reached(world.workbench.mcp, "sign-in", name=NAME)
            await world.signs_in()
            live = await until(lambda: world.workbench.runs.recent(run.run_id))
            assert live is not None
            assert await world.result(live) == ("ok", "read")
            assert servers.calls["whoami"] == 1
