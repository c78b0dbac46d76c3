"""REST: datasets and their cases, made by hand, of runs and of files."""

import json

import httpx
import pytest

from app.api.application import api
from app.api.door.caller import ANYONE, with_key
from app.api.door.security import API_BODY, Door, install
from app.export.limits import LARGEST_DATASET
from app.workbench import Workbench
from tests.api.door.test_access import client_as
from tests.api.routes.test_uploads import HERE, OWNER, PORT, TOKEN
from tests.door import NoGuests
from tests.signed_in import one_browser

SUM = "What is 5 + 10, then multiply by 3?"


async def new_dataset(client, name: str = "Sums", **more: object) -> str:
    reply = await client.post("/datasets", json={"name": name, **more})
    assert reply.status_code == 201, reply.text
    return str(reply.json()["data"]["slug"])


async def new_case(client, dataset: str, **said: object) -> dict:
    reply = await client.post(f"/datasets/{dataset}/cases", json=said)
    assert reply.status_code == 201, reply.text
    told: dict = reply.json()["data"]
    return told


async def a_run(client, text: str = SUM, **more: object) -> dict:
    told: dict = (await client.post("/agents/math-tutor/run", json={"input": text, **more})).json()["data"]
    return told


async def mine(client) -> list[dict]:
    """The datasets that did not come with the app."""
    listed = (await client.get("/datasets")).json()
    assert listed["count"] == len(listed["data"])
    return [one for one in listed["data"] if one["slug"] in ("sums", "sums-2")]


async def test_a_dataset_is_made_changed_and_deleted(client):
    slug = await new_dataset(client, description="Small ones", scorers=[{"type": "exact"}, {"type": "contains"}])
    changed = (await client.put(f"/datasets/{slug}", json={"primary": "contains", "name": "Small sums"})).json()["data"]
    assert (changed["slug"], changed["name"], changed["description"]) == ("sums", "Small sums", "Small ones")
    assert [scorer["name"] for scorer in changed["scorers"]] == ["exact", "contains"]
    assert (changed["primary"], changed["version"], changed["cases"]) == ("contains", 2, 0)
    assert [one["slug"] for one in await mine(client)] == ["sums"]
    assert (await client.delete(f"/datasets/{slug}")).json()["data"]["deleted"]
    assert await mine(client) == []
    gone = await client.get(f"/datasets/{slug}")
    assert gone.status_code == 404
    assert "There is no dataset 'sums'" in gone.json()["error"]
    assert await new_dataset(client) == "sums-2"


async def test_cases_are_added_changed_paged_and_deleted(client):
    slug = await new_dataset(client)
    for number in range(3):
        await new_case(
            client, slug, input=f"{number} + 1?", reference=number + 1, tags=["easy"], variables={"tone": "dry"}
        )
    listed = (await client.get(f"/datasets/{slug}/cases", params={"limit": 1, "offset": 1})).json()
    assert (listed["count"], [case["input"] for case in listed["data"]]) == (3, ["1 + 1?"])
    address = f"/datasets/{slug}/cases/{listed['data'][0]['id']}"
    changed = (await client.put(address, json={"reference": None, "must_pass": True})).json()["data"]
    assert (changed["input"], changed["reference"], changed["must_pass"]) == ("1 + 1?", None, True)
    assert changed["tags"] == ["easy"]
    assert (await client.get(address)).json()["data"] == changed
    assert (await client.delete(address)).status_code == 200
    gone = await client.get(address)
    assert (gone.status_code, (await client.put(address, json={"note": "x"})).status_code) == (404, 404)
    assert "lists all" in gone.json()["error"]
    assert (await client.get(f"/datasets/{slug}")).json()["data"]["version"] == 6


async def test_a_case_of_another_dataset_is_not_there(client):
    one, other = await new_dataset(client), await new_dataset(client)
    case = await new_case(client, one, input="1 + 1?")
    assert (await client.get(f"/datasets/{other}/cases/{case['id']}")).status_code == 404
    assert (await client.delete(f"/datasets/{other}/cases/{case['id']}")).status_code == 404


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, "A case needs a message"),
        ({"input": "a", "checks": [{"type": "judge", "model": "demo/agent", "criteria": ["x"]}]}, "checks"),
        ({"input": "a", "turns": ["b"], "user": {"goal": "x", "model": "demo/agent"}}, "either further messages"),
        ({"input": "a", "turns": ["b"] * 20}, "turns"),
        ({"input": "a" * 200_001}, "input"),
        ({"input": "a", "colour": "red"}, "colour"),
        ({"input": "a", "attachments": [{"sha256": "0" * 64}]}, ""),
    ],
)
async def test_what_is_no_case_is_refused_in_words(client, said, words):
    slug = await new_dataset(client)
    reply = await client.post(f"/datasets/{slug}/cases", json=said)
    assert reply.status_code in (404, 422), reply.text
    assert words in reply.json()["error"]


async def test_a_dataset_with_two_scorers_of_one_name_is_refused(client):
    reply = await client.post("/datasets", json={"name": "Sums", "scorers": [{"type": "exact"}, {"type": "exact"}]})
    assert (reply.status_code, reply.json()["error"]) == (
        422,
        "Two scorers are called 'exact'. Give each a name of its own.",
    )
    assert await mine(client) == []


@pytest.mark.parametrize(
    "scorer",
    [
        '{"type": "latency", "most_seconds": 1e400}',
        '{"type": "cost", "most_usd": 1e400}',
        '{"type": "json", "tolerance": 1e400}',
        '{"type": "numeric", "relative": 1e400}',
    ],
)
async def test_a_scorer_without_an_end_is_refused_as_no_file_could_keep_it(client, scorer: str):
    body = f'{{"name": "Sums", "scorers": [{scorer}]}}'
    reply = await client.post("/datasets", content=body, headers={"content-type": "application/json"})
    assert (reply.status_code, reply.json()["code"]) == (422, "invalid")
    assert await mine(client) == []


async def test_attachments_are_uploaded_first_and_kept_by_their_hash(client, workbench: Workbench):
    slug = await new_dataset(client)
    uploaded = (await client.post("/uploads", params={"filename": "t.csv"}, content=b"a,b\n1,2\n")).json()["data"]
    case = await new_case(client, slug, attachments=[{"sha256": uploaded["sha256"], "disposition": "reference"}])
    (part,) = case["attachments"]
    assert (part["name"], part["disposition"]) == ("t.csv", "reference")
    assert await workbench.artifacts.get(part["sha256"]) == b"a,b\n1,2\n"
    address = f"/datasets/{slug}/cases/{case['id']}"
    kept = await client.put(address, json={"attachments": [{"sha256": part["sha256"]}]})
    assert [one["disposition"] for one in kept.json()["data"]["attachments"]] == ["auto"]


async def test_a_run_its_step_and_its_conversation_become_cases(client):
    slug = await new_dataset(client)
    run = await a_run(client, variables={"tone": "dry"})
    made = await client.post(f"/runs/{run['run_id']}/case", json={"dataset": slug, "note": "good"})
    assert made.status_code == 201, made.text
    case = made.json()["data"]
    assert (case["input"], case["run_id"], case["recorded"], case["note"]) == (SUM, run["run_id"], True, "good")
    assert case["reference"] == run["output_text"]
    assert case["variables"]["tone"] == "dry"
    assert [call["arguments"]["operation"] for call in case["expected_calls"]] == ["add", "multiply"]
    step = (await client.post(f"/runs/{run['run_id']}/case", json={"dataset": slug, "step": 1})).json()["data"]
    assert (step["step"], step["reference"], len(step["expected_calls"])) == (1, None, 1)
    more = await a_run(client, "times 2", session=run["session_id"])
    asked = {"dataset": slug, "conversation": True}
    turns = (await client.post(f"/runs/{more['run_id']}/case", json=asked)).json()["data"]
    assert (turns["input"], turns["turns"], len(turns["expected_calls"])) == (SUM, ["times 2"], 3)
    last = (await client.post(f"/runs/{more['run_id']}/case", json={"dataset": slug})).json()["data"]
    assert (last["input"], last["said_before"]) == ("times 2", 6)
    for body, status in (({"dataset": "none"}, 404), ({"dataset": slug, "step": 9}, 404), (asked | {"step": 1}, 422)):
        assert (await client.post(f"/runs/{more['run_id']}/case", json=body)).status_code == status
    await client.delete(f"/runs/{run['run_id']}")
    assert (await client.get(f"/datasets/{slug}/cases")).json()["count"] == 4


async def test_a_dataset_goes_out_and_comes_in_again(client):
    slug = await new_dataset(client, scorers=[{"type": "exact"}])
    run = await a_run(client)
    await client.post(f"/runs/{run['run_id']}/case", json={"dataset": slug})
    exported = await client.get(f"/datasets/{slug}/export")
    assert exported.headers["content-disposition"] == 'attachment; filename="sums.jsonl"'
    other = await new_dataset(client)
    taken = (await client.post(f"/datasets/{other}/import", content=exported.content)).json()["data"]
    assert taken == {"cases": 1, "scorers": ["exact"], "warnings": []}
    (case,) = (await client.get(f"/datasets/{other}/cases")).json()["data"]
    assert case["recorded"]
    for format in ("csv", "promptfoo", "adk", "openai"):
        written = await client.get(f"/datasets/{slug}/export", params={"format": format})
        assert written.status_code == 200
        again = await client.post(f"/datasets/{other}/import", params={"format": format}, content=written.content)
        assert again.json()["data"]["cases"] == 1, again.text


async def test_what_was_not_taken_is_told_and_a_bad_file_named(client):
    slug = await new_dataset(client)
    tests = [{"vars": {"input": "Hi"}, "assert": [{"type": "javascript", "value": "process.exit()"}]}]
    reply = await client.post(f"/datasets/{slug}/import?format=promptfoo", content=json.dumps({"tests": tests}))
    assert reply.json()["data"]["warnings"] == [
        "Not taken: 1 × assertions of the type javascript, as code in a file is never run."
    ]
    bad = await client.post(f"/datasets/{slug}/import?format=csv&filename=mine.csv", content=b"a,b\n1,2\n")
    assert (bad.status_code, bad.json()["code"]) == (422, "invalid")
    assert bad.json()["error"].startswith("mine.csv, line 1: no column is called 'input'.")
    empty = await client.post(f"/datasets/{slug}/import", content=b"")
    assert "there is no case in it" in empty.json()["error"]


async def test_datasets_are_not_there_for_keys_of_certain_agents_nor_without_a_key(app, workbench):
    limited = await workbench.keys.create("limited", agents=["math-tutor"])
    whole = await workbench.keys.create("whole")
    async with client_as(app, with_key(whole.key)) as client:
        assert (await client.get("/datasets")).status_code == 200
    for caller in (with_key(limited.key), ANYONE):
        async with client_as(app, caller) as client:
            assert (await client.get("/datasets")).status_code == 403
            assert (await client.get("/datasets/math-tutor-sums/cases")).status_code == 403
            assert (await client.get("/datasets/math-tutor-sums/export")).status_code == 403
            assert (await client.post("/datasets", json={"name": "Mine"})).status_code == 403


async def test_a_file_may_be_as_large_as_a_dataset_may_and_no_larger(workbench):
    server = api(workbench)
    door = Door
    install(server, lambda app: door(app, port=PORT, token=TOKEN, guests=NoGuests(), sign_ins=one_browser()))
    transport = httpx.ASGITransport(app=server)
    async with httpx.AsyncClient(transport=transport, base_url=HERE, headers=OWNER, timeout=30) as client:
        slug = (await client.post("/api/v1/datasets", json={"name": "Large"})).json()["data"]["slug"]
        address = f"/api/v1/datasets/{slug}/import?format=csv"
        large = await client.post(address, content=b"input\nhello\n" + b"\n" * API_BODY)
        assert large.json()["data"]["cases"] == 1, large.text
        assert (await client.post(address, content=b" " * (LARGEST_DATASET + 1))).status_code == 413
