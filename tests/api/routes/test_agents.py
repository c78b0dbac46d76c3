"""REST for agents and their variants."""

from app.domain.agents import ToolChoice

SUMS = {
    "name": "Sums",
    "description": "Adds.",
    "provider": "demo",
    "model": "agent",
    "system_prompt": "You help {{customer}}.",
    "tools": ["calculator", "data-transform"],
    "config": {
        "max_steps": 5,
        "max_tokens": 100,
        "temperature": 0.5,
        "timeout_ms": 30_000,
        "retry_on_error": False,
        "max_retries": 1,
    },
    "is_public": True,
}


async def test_an_agent_is_made_as_it_is_described_and_found_by_slug_and_id(client, workbench):
    made = await client.post("/agents", json=SUMS)
    assert made.status_code == 201
    shown = made.json()["data"]
    assert {name: shown[name] for name in SUMS} == SUMS | {"tools": ["calculator", "data_transform"]}
    assert (shown["slug"], shown["variant"], shown["variables"]) == ("sums", 1, {"customer": ""})
    for name in ("sums", shown["id"]):
        assert (await client.get(f"/agents/{name}")).json() == {"success": True, "data": shown}
    limits = workbench.agents.by_slug("sums").active_variant.behaviour.limits
    assert (limits.max_steps, limits.total_time, limits.retries, limits.retry_on_error) == (5, 30, 1, False)
    listed = (await client.get("/agents")).json()
    assert listed["count"] == len(listed["data"]) == len(workbench.agents.all())
    assert shown in listed["data"]


async def test_a_taken_name_is_a_conflict_and_nothing_is_made(client, workbench):
    await client.post("/agents", json=SUMS)
    before = workbench.agents.all()
    for name in ("Sums", " sums! "):
        again = await client.post("/agents", json=SUMS | {"name": name})
        assert (again.status_code, again.json()["code"]) == (409, "conflict")
    other = (await client.post("/agents", json={"name": "Other"})).json()["data"]
    assert (await client.put("/agents/other", json={"name": "SUMS"})).status_code == 409
    assert (await client.put("/agents/other", json={"name": "Other"})).json()["data"]["id"] == other["id"]
    assert len(workbench.agents.all()) == len(before) + 1


async def test_new_behaviour_is_saved_and_becomes_active_and_other_words_are_not(client):
    await client.post("/agents", json=SUMS)
    renamed = (await client.put("/agents/sums", json={"name": "Adder", "is_public": False})).json()["data"]
    assert (renamed["name"], renamed["slug"], renamed["is_public"], renamed["variants"]) == ("Adder", "sums", False, 1)
    changed = (await client.put("/agents/sums", json={"config": {"temperature": None, "max_steps": 6}})).json()["data"]
    assert (changed["variant"], changed["variants"]) == (2, 2)
    assert changed["config"] == SUMS["config"] | {"temperature": None, "max_steps": 6}
    assert changed["system_prompt"] == SUMS["system_prompt"]
    same = (await client.put("/agents/sums", json={key: changed[key] for key in SUMS})).json()["data"]
    assert same["variants"] == 2


async def test_tools_keep_their_policy(client, workbench):
    agent = workbench.agents.by_slug("assistant")
    asking = tuple(ToolChoice(name=tool.name, policy="ask") for tool in agent.active_variant.behaviour.tools)
    behaviour = agent.active_variant.behaviour.model_copy(update={"tools": asking})
    variant = agent.active_variant.model_copy(update={"behaviour": behaviour})
    await workbench.agents.change(agent.id, lambda newest: newest.model_copy(update={"variants": (variant,)}))
    await client.put("/agents/assistant", json={"tools": ["execute-python", "http_get"]})
    tools = workbench.agents.by_slug("assistant").active_variant.behaviour.tools
    assert tools == (ToolChoice(name="execute_python", policy="ask"), ToolChoice(name="http_get"))


async def test_a_model_is_named_in_halves_or_whole(client):
    for body, shown in (
        ({"provider": "openai", "model": "gpt-4o"}, ("openai", "gpt-4o")),
        ({"model": "openai/gpt-4o-mini"}, ("openai", "gpt-4o-mini")),
        ({"model": "claude-sonnet"}, ("", "claude-sonnet")),
        ({"provider": "openrouter", "model": "anthropic/claude-3"}, ("openrouter", "anthropic/claude-3")),
        ({"provider": "", "model": "gpt-4"}, ("", "gpt-4")),
    ):
        reply = (await client.put("/agents/assistant", json=body)).json()
        assert (reply["data"]["provider"], reply["data"]["model"]) == shown, reply
        again = (await client.put("/agents/assistant", json={"provider": shown[0], "model": shown[1]})).json()["data"]
        assert again["variants"] == reply["data"]["variants"]


async def test_a_model_that_nobody_knows_is_saved_and_warned_of(client):
    for method, path, body, near in (
        ("POST", "/agents", {"name": "A", "provider": "anthropic", "model": "claude-sonet"}, "anthropic/claude-sonnet"),
        ("POST", "/agents", {"name": "B", "model": "claude-sonet"}, "claude-sonnet"),
        ("PUT", "/agents/a", {"provider": "openai", "model": "gpt4o"}, "openai/gpt-4o"),
        ("POST", "/agents/a/variants", {"model": "gemini-flush"}, "gemini-flash"),
    ):
        reply = await client.request(method, path, json=body)
        assert (reply.status_code, len(warnings := reply.json()["data"]["warnings"])) == (
            (200 if method == "PUT" else 201),
            1,
        )
        assert near in warnings[0]
    known = (await client.post("/agents", json={"name": "C", "provider": "openai", "model": "gpt-3.5"})).json()["data"]
    assert (known["warnings"], known["model"]) == ([], "gpt-3.5")


async def test_an_agent_says_who_made_it_and_when_it_was_changed(client):
    made = (await client.post("/agents", json={"name": "A"})).json()["data"]
    assert (made["created_by"], made["updated_at"]) == ("api_key", made["created_at"])
    changed = (await client.put("/agents/a", json={"description": "Other"})).json()["data"]
    assert changed["updated_at"] > made["updated_at"]
    same = (await client.put("/agents/a", json={"description": "Other"})).json()["data"]
    assert same["updated_at"] == changed["updated_at"]
    assert (await client.get("/agents/assistant")).json()["data"]["created_by"] == "app"


async def test_what_does_not_exist_is_refused_in_words(client, workbench):
    before = len(workbench.agents.all())
    for body, words in (
        ({"name": "A", "tools": ["abacus"]}, "abacus"),
        ({"name": "A", "provider": "nobody", "model": "none"}, "nobody"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 100}, "80"),
        ({"name": "a\x00b"}, "'\\x00', which does not show"),
        ({"name": "A", "more": 1}, "more"),
        ({"name": "A", "config": {"max_steps": -1}}, "max_steps"),
        ({"name": "A", "config": {"max_steps": 10**30}}, "max_steps"),
        ({"name": "A", "tools": "calculator"}, "tools"),
        ({}, "name"),
    ):
        reply = await client.post("/agents", json=body)
        assert (reply.status_code, reply.json()["success"], reply.json()["code"]) == (422, False, "invalid")
        assert words in reply.json()["error"]
    assert len(workbench.agents.all()) == before


async def test_a_deleted_agent_is_gone_and_its_runs_stay(client, workbench):
    run = (await client.post("/agents/assistant/run", json={"input": "What is 5 + 10?"})).json()["data"]
    gone = await client.delete("/agents/assistant")
    assert gone.status_code == 200 and gone.json()["data"]["deleted"] is True
    for method, path in (
        ("GET", "/agents/assistant"),
        ("PUT", "/agents/assistant"),
        ("DELETE", "/agents/assistant"),
        ("GET", "/agents/assistant/variants"),
        ("POST", "/agents/assistant/run"),
    ):
        reply = await client.request(method, path, json={"input": "hi"} if path.endswith("run") else {})
        assert (reply.status_code, reply.json()["code"]) == (404, "not_found"), path
    assert (await client.get(f"/runs/{run['run_id']}")).json()["data"]["status"] == "completed"
    [listed] = (await client.get("/agents/assistant/runs")).json()["data"]
    assert listed["id"] == run["run_id"]
    assert workbench.agents.deleted()[0].slug == "assistant"


async def test_variants_are_saved_as_candidates_and_promoted(client):
    await client.post("/agents", json=SUMS)
    saved = await client.post("/agents/sums/variants", json={"system_prompt": "Be brief.", "note": "shorter"})
    assert saved.status_code == 201
    variant = saved.json()["data"]
    assert (variant["number"], variant["status"], variant["origin"], variant["note"]) == (2, "candidate", 1, "shorter")
    assert (variant["system_prompt"], variant["tools"]) == ("Be brief.", ["calculator", "data_transform"])
    assert (await client.get("/agents/sums")).json()["data"]["variant"] == 1
    promoted = (await client.post("/agents/sums/variants/2/promote")).json()["data"]
    assert (promoted["variant"], promoted["system_prompt"]) == (2, "Be brief.")
    listed = (await client.get("/agents/sums/variants")).json()
    assert [(one["number"], one["status"]) for one in listed["data"]] == [(1, "candidate"), (2, "active")]
    for number, status in (("9", 404), ("0", 422), ("x", 422), ("9" * 40, 422)):
        assert (await client.post(f"/agents/sums/variants/{number}/promote")).status_code == status
    assert (await client.post("/agents/sums/variants", json={"origin": 9})).status_code == 404
