"""What keys for certain agents, and nobody, may do with agents, runs and sessions, through the door and over a port."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect

from app.api.door.caller import with_key
from app.domain.agents import promoted, with_variant
from app.domain.keys import ApiKey
from app.domain.trace import RunRow
from app.workbench.samples import samples
from tests.rights_world import APPROVING, EVALUATING, LIMITED, NOBODY, OWNER, VARYING, WHOLE, Who, World, opened_world
from tests.waiting import until

HELLO = {"input": "Hello"}
Told = dict[str, object]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened_world(tmp_path) as world:
        yield world


async def ask(world: World, who: Who, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
    address = f"/api/v1{path}"
    return await world.client.request(method, address, json=body, headers=world.shown(who) | headers)


async def data(world: World, who: Who, method: str, path: str, body: object = None) -> Told:
    answer = await ask(world, who, method, path, body)
    assert answer.is_success, answer.text
    told: Told = answer.json()["data"]
    return told


async def run(world: World, who: Who, agent: str = "mine", **more: object) -> RunRow:
    told = await data(world, who, "POST", f"/agents/{agent}/run", HELLO | more)
    return row(world, told["run_id"])


def row(world: World, run_id: object) -> RunRow:
    return world.workbench.runs.row(str(run_id))


def key_of(world: World, who: Who) -> ApiKey:
    return world.workbench.keys.named(who.name)


async def promote_another(world: World) -> None:
    """Variant 3 of the agent `mine` becomes the active one."""
    agents = world.workbench.agents
    agent = agents.by_slug("mine")
    newer = agent.active_variant.behaviour.model_copy(update={"system_prompt": "Be brief."})
    await agents.change(agent.id, lambda one: promoted(with_variant(one, newer, origin=2, note=""), 3))


@pytest.mark.parametrize(("who", "used"), [(LIMITED, 3), (APPROVING, 3), (VARYING, 2), (WHOLE, 2), (OWNER, 2)])
async def test_a_session_goes_on_with_the_active_variant_unless_another_may_be_chosen(
    world: World, who: Who, used: int
):
    begun = await run(world, who)
    await promote_another(world)

    assert (await run(world, who, session=begun.session_id)).agent.variant == used
    talked = await data(world, who, "POST", "/chat", {"message": "Hi", "session": begun.session_id})
    assert row(world, talked["run_id"]).agent.variant == used
    again = await data(world, who, "POST", f"/runs/{talked['run_id']}/retry")
    await until(lambda: world.workbench.runs.live(str(again["run_id"])) is None)
    assert row(world, again["run_id"]).agent.variant == used
    await data(world, who, "POST", f"/sessions/{begun.session_id}/queue", {"message": "Hi"})
    queued = world.workbench.sessions.get(begun.session_id).runs[-1]
    assert queued != again["run_id"] and row(world, queued).agent.variant == used


async def test_a_model_that_was_chosen_is_the_agents_own_again_once_the_right_is_taken_away(world: World):
    chosen = {"message": "Hi", "agent": "mine", "model": "demo/agent"}
    talked = await data(world, VARYING, "POST", "/chat", chosen)
    session = str(talked["session_id"])
    assert world.workbench.sessions.get(session).model == "demo/agent"
    await data(world, OWNER, "PUT", f"/keys/{key_of(world, VARYING).id}", {"may": []})

    await run(world, VARYING, session=session)
    assert world.workbench.sessions.get(session).model is None
    assert (await ask(world, VARYING, "POST", "/chat", chosen)).status_code == 403


async def test_another_variant_is_refused_in_words_that_tell_who_can_change_that(world: World):
    refused = await ask(world, LIMITED, "POST", "/agents/mine/run", HELLO | {"variant": 1})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "its owner can tick 'Choose variants' for it on the Integrations page" in refused.json()["error"]
    of_nobody = await ask(world, NOBODY, "POST", "/agents/open/run", HELLO | {"variant": 1})
    assert of_nobody.status_code == 403 and "Without a key nobody may" in of_nobody.json()["error"]
    body = {"model": "mine@1", "messages": [{"role": "user", "content": "Hello"}]}
    as_model = await world.client.post("/v1/chat/completions", json=body, headers=world.shown(LIMITED))
    assert as_model.status_code == 403 and as_model.json()["error"]["type"] == "permission_error"


async def test_an_unchanged_fork_runs_on_with_the_active_variant(world: World):
    begun = await run(world, LIMITED)
    await promote_another(world)

    forked = await data(world, LIMITED, "POST", f"/runs/{begun.run_id}/fork", {"seq": 1})
    assert row(world, forked["run_id"]).agent.variant == 3
    assert (await data(world, LIMITED, "GET", f"/runs/{forked['run_id']}"))["variant"] == 3
    kept = await data(world, OWNER, "POST", f"/runs/{begun.run_id}/fork", {"seq": 1})
    assert row(world, kept["run_id"]).agent.variant == 2


async def test_what_is_answered_again_over_the_api_is_of_who_asked(world: World):
    begun = await run(world, LIMITED)
    again = await data(world, LIMITED, "POST", f"/runs/{begun.run_id}/retry")
    assert row(world, again["run_id"]).trigger.who == with_key(key_of(world, LIMITED)).trigger.who
    assert (await ask(world, LIMITED, "GET", f"/runs/{again['run_id']}")).is_success


async def test_a_session_in_which_somebody_else_spoke_is_nothing_for_a_key_any_more(world: World):
    begun = await run(world, LIMITED)
    spoken = await world.workbench.chat.send(begun.session_id, "For the owner's eyes only")
    await spoken.ended()

    for method, path, body in (
        ("GET", f"/sessions/{begun.session_id}", None),
        ("DELETE", f"/sessions/{begun.session_id}", None),
        ("POST", f"/sessions/{begun.session_id}/queue", {"message": "What was said?"}),
        ("POST", "/agents/mine/run", HELLO | {"session": begun.session_id}),
        ("POST", "/chat", {"message": "What was said?", "session": begun.session_id}),
        ("POST", f"/runs/{begun.run_id}/retry", None),  # which would take the owner's run out of the session
        ("GET", f"/runs/{spoken.run_id}", None),
    ):
        assert (await ask(world, LIMITED, method, path, body)).status_code == 404, path
    await world.workbench.rows.delete([spoken.run_id])  # what was said is in the conversation all the same
    assert (await ask(world, LIMITED, "GET", f"/sessions/{begun.session_id}")).status_code == 404
    assert (await ask(world, LIMITED, "GET", f"/runs/{begun.run_id}")).is_success


async def test_a_session_stays_a_keys_own_when_it_deletes_a_run_of_it(world: World):
    begun = await run(world, LIMITED)
    await run(world, LIMITED, session=begun.session_id)
    await data(world, LIMITED, "DELETE", f"/runs/{begun.run_id}")
    assert (await run(world, LIMITED, session=begun.session_id)).session_id == begun.session_id


async def test_tasks_that_its_runs_hand_over_are_a_keys_own(world: World):
    keys, agents = world.workbench.keys, world.workbench.agents
    for sample in samples("agents"):
        await agents.create(sample.agent(agents.slugs()))
    made = await keys.create("leading", agents=["coordinator"])
    leading, other = Who("leading", "limited"), Who("following", "limited")
    world.secrets |= {
        "leading": made.secret,
        "following": (await keys.create("following", agents=["coordinator"])).secret,
    }
    body = {"input": "Calculate 2 + 2 and calculate 3 + 3 in parallel with sub-tasks"}
    led = await data(world, leading, "POST", "/agents/coordinator/run", body)

    jobs = (await ask(world, leading, "GET", "/jobs")).json()["data"]
    assert [job["parent_run_id"] for job in jobs] == [led["run_id"]] * 2
    task = jobs[0]["id"]
    assert (row(world, task).trigger.name, row(world, task).trigger.key) == ("Coordinator", made.key.id)
    assert (await ask(world, leading, "GET", f"/runs/{task}")).is_success
    assert (await ask(world, other, "GET", f"/runs/{task}")).status_code == 404
    assert (await ask(world, other, "GET", "/jobs")).json()["count"] == 0


async def test_a_key_made_anew_under_a_revoked_name_sees_nothing_of_the_old_one(world: World):
    old = await run(world, LIMITED)
    await world.workbench.keys.revoke(key_of(world, LIMITED).id)
    made = await world.workbench.keys.create(LIMITED.name, agents=["mine"])
    world.secrets[LIMITED.name] = made.secret

    assert (await ask(world, LIMITED, "GET", f"/runs/{old.run_id}")).status_code == 404
    assert (await ask(world, LIMITED, "GET", "/runs")).json()["count"] == 0


async def test_a_renamed_key_keeps_what_it_started(world: World):
    begun = await run(world, LIMITED)
    await data(world, OWNER, "PUT", f"/keys/{key_of(world, LIMITED).id}", {"name": "another name"})
    assert (await data(world, LIMITED, "GET", f"/runs/{begun.run_id}"))["id"] == begun.run_id
    assert (await ask(world, LIMITED, "GET", "/sessions")).json()["count"] == 1


async def test_rights_are_ticked_and_taken_away_and_a_key_for_all_agents_has_them(world: World):
    listed = (await ask(world, OWNER, "GET", "/keys")).json()["data"]
    assert {key["name"]: key["may"] for key in listed if key["name"] != "neighbour"} == {
        WHOLE.name: ["approve", "variants", "evals"],
        LIMITED.name: [],
        APPROVING.name: ["approve"],
        VARYING.name: ["variants"],
        EVALUATING.name: ["evals"],
    }
    key_id = key_of(world, LIMITED).id
    changed = await data(world, OWNER, "PUT", f"/keys/{key_id}", {"may": ["variants", "approve", "variants"]})
    assert (changed["name"], changed["may"]) == (LIMITED.name, ["approve", "variants"])
    assert (await run(world, LIMITED, variant=1)).agent.variant == 1
    await data(world, OWNER, "PUT", f"/keys/{key_id}", {"name": LIMITED.name, "may": []})
    assert (await ask(world, LIMITED, "POST", "/agents/mine/run", HELLO | {"variant": 1})).status_code == 403
    made = await ask(world, OWNER, "POST", "/keys", {"name": "x", "may": ["everything"]})
    assert (made.status_code, made.json()["code"]) == (422, "invalid")


async def test_a_socket_goes_on_in_the_sessions_of_its_own_key_alone(world: World):
    owners = await run(world, OWNER)
    address = f"ws://127.0.0.1:{world.port}/api/v1/ws/chat"
    async with asyncio.timeout(30), connect(address, additional_headers=world.shown(LIMITED)) as socket:
        await socket.send(json.dumps({"message": "What was said?", "session": owners.session_id}))
        refused = json.loads(await socket.recv())
        assert refused["type"] == "error" and refused["message"].startswith("There is no session")
        for _ in range(2):
            await socket.send(json.dumps({"message": "Hello"}))
            while json.loads(await socket.recv())["type"] != "agent-response":
                pass
    session = (await ask(world, LIMITED, "GET", "/sessions")).json()["data"]
    assert [len(one["run_ids"]) for one in session] == [2]


async def test_an_open_socket_does_what_its_key_may_by_now(world: World):
    address = f"ws://127.0.0.1:{world.port}/api/v1/ws/chat"
    key_id, chosen = key_of(world, VARYING).id, json.dumps({"message": "Hi", "agent": "mine", "model": "demo/agent"})
    async with asyncio.timeout(30), connect(address, additional_headers=world.shown(VARYING)) as socket:
        await socket.send(chosen)
        while json.loads(await socket.recv())["type"] != "agent-response":
            pass
        await world.workbench.keys.change(key_id, may=[])
        await socket.send(chosen)
        assert "This key may not choose another variant" in json.loads(await socket.recv())["message"]
        await world.workbench.keys.revoke(key_id)
        await socket.send(json.dumps({"message": "Hi"}))
        assert "opens nothing any more" in json.loads(await socket.recv())["message"]
