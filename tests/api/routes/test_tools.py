"""REST for tools, over a real workbench."""

import httpx
import pytest

from app.workbench import Workbench


async def test_all_tools_are_listed_with_what_models_are_told(client: httpx.AsyncClient, workbench: Workbench):
    reply = (await client.get("/tools")).json()
    assert reply["success"] is True
    assert reply["count"] == len(reply["data"]) == len(workbench.tools.listed())
    (calculator,) = [tool for tool in reply["data"] if tool["name"] == "calculator"]
    assert calculator["enabled"] is True
    assert calculator["parameters"]["required"] == ["operation", "x", "y"]
    assert (await client.get("/tools/calculator")).json()["data"] == calculator


async def test_a_tool_is_turned_off_and_described_anew(client: httpx.AsyncClient, workbench: Workbench):
    changed = (await client.put("/tools/calculator", json={"enabled": False, "description": "Sums."})).json()["data"]
    assert (changed["enabled"], changed["description"]) == (False, "Sums.")
    assert changed["own_description"].startswith("Calculate with two numbers.")
    assert workbench.tools.specs(("calculator",)) == ()
    kept = (await client.put("/tools/calculator", json={"enabled": True})).json()["data"]
    assert (kept["enabled"], kept["description"]) == (True, "Sums.")
    for blank in (None, "  "):
        back = (await client.put("/tools/calculator", json={"description": blank})).json()["data"]
        assert back["description"] == back["own_description"]


async def test_a_tool_is_called_by_hand(client: httpx.AsyncClient):
    arguments = {"operation": "add", "x": 5, "y": 10}
    reply = (await client.post("/tools/calculator/call", json={"arguments": arguments})).json()["data"]
    assert (reply["status"], reply["output"]) == ("ok", "5 + 10 = 15")
    assert reply["parts"] == [{"type": "text", "text": "5 + 10 = 15"}]
    assert reply["ms"] > 0
    printed = await client.post("/tools/execute-python/call", json={"arguments": {"code": "print('hello')"}})
    assert "hello" in printed.json()["data"]["printed"] + printed.json()["data"]["output"]


async def test_a_call_that_fails_says_so_in_its_status(client: httpx.AsyncClient):
    reply = await client.post("/tools/calculator/call", json={"arguments": {"operation": "add", "z": 1}})
    assert reply.status_code == 200
    assert reply.json()["data"]["status"] == "invalid"
    assert "x: missing" in reply.json()["data"]["output"]


async def test_an_unknown_tool_is_not_found_and_its_neighbours_are_named(client: httpx.AsyncClient):
    for reply in (
        await client.get("/tools/calculater"),
        await client.put("/tools/calculater", json={"enabled": True}),
        await client.post("/tools/calculater/call", json={}),
    ):
        assert reply.status_code == 404
        assert reply.json()["code"] == "not_found"
        assert "Did you mean calculator" in reply.json()["error"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "required"),
        (b"{broken", "JSON"),
        (b"[]", "object"),
        (b'{"arguments": [1]}', "arguments"),
        (b'{"argument": {}}', "argument"),
    ],
)
async def test_a_body_that_does_not_fit_is_told_in_the_envelope(client: httpx.AsyncClient, body: bytes, words: str):
    reply = await client.post("/tools/calculator/call", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422
    assert reply.json()["success"] is False
    assert reply.json()["code"] == "invalid"
    assert words in reply.json()["error"]


@pytest.mark.parametrize("body", [{"enabled": "yes"}, {"enabled": None}, {"description": 5}, {"name": "x"}])
async def test_a_change_that_does_not_fit_changes_nothing(
    client: httpx.AsyncClient, workbench: Workbench, body: dict[str, object]
):
    assert (await client.put("/tools/calculator", json=body)).status_code == 422
    assert workbench.data.tool_settings.revision == 0
