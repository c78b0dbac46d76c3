"""REST for workflows: made, listed, changed, checked, taken along, deleted."""

import asyncio
import json

import pytest
from websockets.asyncio.client import connect

from app.domain.agents import PromptBehaviour, WorkflowBehaviour, new_agent
from app.domain.workflows.document import Workflow
from app.export.workflows.mermaid import mermaid
from app.export.workflows.workflow_file import read_workflow_file

ADDED = {name: {"kind": "value", "value": value} for name, value in {"operation": "add", "x": 5, "y": 10}.items()}
NODES = [
    {"id": "question", "kind": "input", "title": "Question", "x": 0, "y": 0},
    {"id": "sum", "kind": "tool", "title": "Sum", "tool": "calculator", "x": 240, "y": 0, "arguments": ADDED},
    {"id": "answer", "kind": "output", "title": "Answer", "x": 480, "y": 0,
     "value": {"kind": "text", "text": "{{sum}}"}},
]  # fmt: skip
EDGES = [{"source": "question", "target": "sum"}, {"source": "sum", "target": "answer"}]
DOCUMENT = {"nodes": NODES, "edges": EDGES}
SUMS = {"name": "Sums by nodes", "description": "Adds.", "workflow": DOCUMENT, "limits": {"total_time": 60}}
VALUE = {"value": {"kind": "text", "text": "{{ask}}"}}
CALLS_ITSELF = {"id": "again", "kind": "agent", "title": "Again", "agent": "sums-by-nodes",
                "message": {"kind": "text", "text": "{{question.text}}"}}  # fmt: skip


@pytest.fixture
async def made(client) -> dict[str, object]:
    reply = await client.post("/workflows", json=SUMS)
    assert reply.status_code == 201, reply.text
    return reply.json()["data"]


def document(*more: dict[str, object], **changes: object) -> dict[str, object]:
    nodes = [one | changes if one["id"] == "sum" else one for one in NODES]
    return {"nodes": [*nodes, *more], "edges": [*EDGES, *({"source": "question", "target": one["id"]} for one in more)]}


async def test_the_longest_description_there_can_be_is_in_a_file_that_can_be_read(client):
    refused = await client.post("/workflows", json=SUMS | {"description": "x" * 2_001})
    assert refused.status_code == 422 and "description: " in refused.json()["error"]
    assert (await client.post("/workflows", json=SUMS | {"description": "x" * 2_000})).status_code == 201
    refused = await client.put("/agents/sums-by-nodes", json={"description": "x" * 2_001})
    assert refused.status_code == 422 and "description: " in refused.json()["error"]
    exported = await client.get("/workflows/sums-by-nodes/export")
    assert read_workflow_file(exported.content).description == "x" * 2_000


async def test_a_limit_without_an_end_is_refused_as_no_journal_gives_it_back(client):
    endless = json.dumps(SUMS).replace('"total_time": 60', '"total_time": 1e309')
    refused = await client.post("/workflows", content=endless, headers={"Content-Type": "application/json"})
    assert refused.status_code == 422 and "number is infinity" in refused.json()["error"]


async def test_a_workflow_is_made_and_is_an_agent(client, made):
    assert (made["slug"], made["variant"], made["nodes"], made["faults"]) == ("sums-by-nodes", 1, 3, [])
    assert (made["limits"]["total_time"], made["limits"]["run_cost"]) == (60, 1)
    assert [node["id"] for node in made["workflow"]["nodes"]] == ["question", "sum", "answer"]
    for name in ("sums-by-nodes", made["id"]):
        assert (await client.get(f"/workflows/{name}")).json()["data"] == made
    listed = (await client.get("/workflows")).json()
    assert listed["count"] == 1 and (listed["data"][0]["slug"], listed["data"][0]["workflow"]) == (made["slug"], None)
    assert (await client.get("/agents/sums-by-nodes")).json()["data"]["kind"] == "workflow"
    assert (await client.post("/workflows", json=SUMS)).status_code == 409


async def test_one_with_errors_is_refused_with_its_faults_and_nothing_is_saved(client, workbench, made):
    before = workbench.agents.all()
    for reply in (
        await client.post("/workflows", json=SUMS | {"name": "Other", "workflow": document(tool="abacus")}),
        await client.put("/workflows/sums-by-nodes", json={"workflow": document(tool="abacus")}),
    ):
        told = reply.json()
        assert (reply.status_code, told["success"], told["code"]) == (422, False, "invalid")
        assert "“Sum” (sum) calls a tool “abacus”, and there is none" in told["error"]
        assert [(one["node"], one["field"], one["severity"]) for one in told["faults"]] == [("sum", "tool", "error")]
    assert workbench.agents.all() == before


async def test_one_whose_tool_has_gone_can_still_be_described(client, workbench):
    behaviour = WorkflowBehaviour(workflow=Workflow.model_validate(document(tool="abacus")))
    await workbench.agents.create(new_agent("Old", behaviour, taken_slugs=()))
    told = (await client.put("/workflows/old", json={"description": "Needs a tool."})).json()["data"]
    assert (told["description"], told["variants"], told["faults"][0]["field"]) == ("Needs a tool.", 1, "tool")
    assert (await client.put("/workflows/old", json={"limits": {"total_time": 9}})).status_code == 422


async def test_what_is_no_workflow_is_refused_in_words_that_name_the_place(client):
    for workflow, said in (
        ({"nodes": [{"id": "Not One", "kind": "input"}]}, "nodes.0.input.id"),
        ({"nodes": "many"}, "nodes"),
        ({"nodes": [], "colour": "red"}, "colour"),
        ({"nodes": [], "positions": {"a": "b"}, "format": 9}, "format"),
    ):
        refused = await client.post("/workflows/check", json={"workflow": workflow})
        assert refused.status_code == 422 and said in refused.json()["error"], refused.text
    deep = "[" * 3_000 + "]" * 3_000
    for hostile in (
        f'{{"workflow": {{"nodes": {deep}}}}}',
        '{"workflow": {"nodes": [{"id": "a", "note": "\\ud800"}]}}',
    ):
        sent = await client.post("/workflows/check", content=hostile, headers={"Content-Type": "application/json"})
        assert sent.status_code == 422, sent.text
    large = {"nodes": [{"id": "question", "kind": "input", "note": "x" * 300_000}]}
    assert (await client.post("/workflows/check", json={"workflow": large})).status_code == 413
    unknown = await client.post("/workflows", json=SUMS | {"limits": {"patience": 3}})
    assert unknown.status_code == 422 and "There is no limit 'patience'. Limits: max_steps" in unknown.json()["error"]
    negative = await client.post("/workflows", json=SUMS | {"limits": {"total_time": -1}})
    assert negative.status_code == 422 and "total_time" in negative.json()["error"]


async def test_a_check_tells_all_faults_and_saves_nothing(client, workbench, made):
    checked = (await client.post("/workflows/check", json={"workflow": DOCUMENT})).json()["data"]
    assert checked == {"saves": True, "faults": []}
    looped = {"workflow": document(CALLS_ITSELF), "slug": "sums-by-nodes"}
    told = (await client.post("/workflows/check", json=looped)).json()["data"]
    assert not told["saves"] and "calls a workflow that calls itself" in told["faults"][0]["text"]
    assert (await client.put("/workflows/sums-by-nodes", json={"workflow": looped["workflow"]})
            ).status_code == 422  # fmt: skip
    assert len(workbench.agents.by_slug("sums-by-nodes").variants) == 1


async def test_an_agent_is_known_by_its_variables_and_its_variants(client, workbench):
    behaviour = PromptBehaviour(system_prompt="Answer {{who}}.")
    await workbench.agents.create(new_agent("Helper", behaviour, taken_slugs=()))
    asks = CALLS_ITSELF | {"agent": "helper", "variables": {"whom": {"kind": "value", "value": "Ada"}}, "variant": 7}
    told = (await client.post("/workflows/check", json={"workflow": document(asks)})).json()["data"]
    assert "calls variant 7 of “Helper”, which there is not" in told["faults"][0]["text"]
    told = (await client.post("/workflows/check", json={"workflow": document(asks | {"variant": 1})})).json()["data"]
    assert "Its variables are: who." in told["faults"][0]["text"]


async def test_an_equal_document_is_no_variant_and_another_one_becomes_active(client, made):
    same = (await client.put("/workflows/sums-by-nodes", json={"workflow": DOCUMENT, "description": "Sums."})).json()
    assert (same["data"]["variants"], same["data"]["description"]) == (1, "Sums.")
    renamed = {"workflow": document(title="Add up"), "name": "Adder", "is_public": True}
    changed = (await client.put("/workflows/sums-by-nodes", json=renamed)).json()["data"]
    assert (changed["variant"], changed["name"], changed["is_public"]) == (2, "Adder", True)
    older = (await client.get("/workflows/sums-by-nodes", params={"variant": 1})).json()["data"]
    assert (older["variant"], older["workflow"]["nodes"][1]["title"]) == (1, "Sum")
    assert (await client.get("/workflows/sums-by-nodes", params={"variant": 9})).status_code == 404
    longer = (await client.put("/workflows/sums-by-nodes", json={"limits": {"total_time": 90}})).json()["data"]
    assert (longer["variant"], longer["limits"]["total_time"], longer["nodes"]) == (3, 90, 3)


async def test_an_agent_with_a_prompt_is_no_workflow(client):
    for reply in (
        await client.get("/workflows/assistant"),
        await client.put("/workflows/assistant", json={"workflow": DOCUMENT}),
        await client.delete("/workflows/assistant"),
    ):
        assert reply.status_code == 404 and "is no workflow" in reply.json()["error"]


async def test_a_deleted_one_is_gone_from_the_lists(client, made):
    assert (await client.delete("/workflows/sums-by-nodes")).json()["data"]["id"] == made["id"]
    assert (await client.get("/workflows")).json()["count"] == 0
    assert (await client.get("/workflows/sums-by-nodes")).status_code == 404


async def test_the_export_is_taken_back_as_it_was_and_moving_a_node_changes_its_place_alone(client, made):
    exported = await client.get("/workflows/sums-by-nodes/export")
    assert 'filename="sums-by-nodes.workflow.json"' in exported.headers["content-disposition"]
    back = (await client.put("/workflows/sums-by-nodes", json={"workflow": json.loads(exported.text)})).json()["data"]
    assert back["variants"] == 1 and back["workflow"] == made["workflow"]
    moved = (await client.put("/workflows/sums-by-nodes", json={"workflow": document(x=300)})).json()["data"]
    assert moved["variants"] == 2
    after = (await client.get("/workflows/sums-by-nodes/export")).text
    [line] = [one for one in after.splitlines() if one not in exported.text.splitlines()]
    assert line.strip() == '"sum": [300, 0]' and after.index('"positions"') > after.index('"nodes"')


async def test_its_drawing_is_the_one_that_build_copies(client, made):
    drawn = await client.get("/workflows/sums-by-nodes/export", params={"format": "mermaid"})
    assert drawn.headers["content-type"].startswith("text/vnd.mermaid")
    assert drawn.text == mermaid(Workflow.model_validate(DOCUMENT))


async def test_the_file_that_build_imports_is_taken_as_a_document_with_its_policies(client, made):
    exported = await client.get("/workflows/sums-by-nodes/export")
    read = read_workflow_file(exported.content)
    assert (read.name, read.description, read.workflow.by_id()["sum"].policy) == ("Sums by nodes", "Adds.", "ask")
    copy = (await client.post("/workflows", json={"name": "Copy", "workflow": exported.json()})).json()["data"]
    assert copy["workflow"] == made["workflow"]
    newer = await client.post("/workflows/check", json={"workflow": exported.json() | {"version": 9}})
    assert newer.status_code == 422 and "newer Agent Playground" in newer.json()["error"]


async def test_a_workflow_is_run_and_its_nodes_are_the_steps(client, made):
    reply = (await client.post("/workflows/sums-by-nodes/run", json={"input": "What is it?"})).json()
    told = reply["data"]
    assert (reply["success"], told["status"], told["output_text"]) == (True, "completed", "5 + 10 = 15")
    assert [(step["tool"], step["action"]) for step in told["steps"]] == [
        ("question", "input"), ("sum", "tool"), ("answer", "output"),
    ]  # fmt: skip
    assert told["steps"][1]["input"] == {"operation": "add", "x": 5, "y": 10}
    assert (await client.post("/agents/sums-by-nodes/run", json={"input": "Again"})).json()["data"]["output_text"]
    assert (await client.post("/workflows/assistant/run", json={"input": "hi"})).status_code == 404


async def test_the_nodes_of_a_run_are_read_one_by_one(client, made):
    run = (await client.post("/workflows/sums-by-nodes/run", json={"input": "What is it?"})).json()["data"]
    steps = (await client.get(f"/runs/{run['run_id']}")).json()["data"]["steps"]
    assert [step["type"] for step in steps] == ["user-request", "node", "node", "node", "agent-response"]
    told = steps[2]["content"]
    assert (told["node"], told["kind"], told["state"], told["attempt"]) == ("sum", "tool", "done", 1)
    assert (told["inputs"]["x"], told["output"], told["runs"]) == (5, "5 + 10 = 15", [])


async def test_nodes_come_over_the_socket_as_they_begin_and_end(port, client, made):
    async with connect(f"ws://127.0.0.1:{port}/api/v1/ws/chat") as socket:
        await socket.send(json.dumps({"message": "What is it?", "agent": "sums-by-nodes"}))
        told = [json.loads(await asyncio.wait_for(socket.recv(), 30)) for _ in range(8)]
    assert [one["type"] for one in told] == ["user-request", *["node", "node-ended"] * 3, "agent-response"]
    assert told[3] == {"type": "node", "title": "Sum", "node": "sum", "callId": "sum", "kind": "tool"}
    assert told[4] == {"type": "node-ended", "node": "sum", "callId": "sum", "state": "done", "error": None}


async def test_the_fields_of_its_input_are_given_as_an_object(client):
    takes = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "count": {"type": "integer"}, "data": {"type": "array"}},
        "required": ["text", "count"],
    }
    value = {"kind": "text", "text": "{{input.text}} {{input.count}} {{input.data[0] ?? none}}"}
    nodes = [{"id": "input", "kind": "input", "takes": takes}, {"id": "output", "kind": "output", "value": value}]
    body = {"name": "Fields", "workflow": {"nodes": nodes, "edges": [{"source": "input", "target": "output"}]}}
    assert (await client.post("/workflows", json=body)).status_code == 201

    async def answered(path: str, **asked: object) -> str:
        reply = (await client.post(path, json=asked)).json()
        return reply["data"]["output_text"] or reply["data"]["error"]

    run = "/workflows/fields/run"
    assert await answered(run, input={"text": "a", "count": 2, "data": [7]}) == "a 2 7"
    assert await answered("/agents/fields/run", input="a", variables={"count": 3}, data=[8]) == "a 3 8"
    assert "is not of type 'integer'" in await answered(run, input={"text": "a", "count": "many"})
    unknown = await client.post("/agents/fields/run", json={"input": "a", "variables": {"other": 1}})
    assert unknown.status_code == 422 and "has no variable 'other'" in unknown.json()["error"]
    for fields in ({"count": "x" * 100_001}, {f"f{number}": 1 for number in range(1001)}):
        refused = await client.post(run, json={"input": {"text": "a"} | fields})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
        assert "at most" in refused.json()["error"] and "variables" not in refused.json()["error"], refused.text


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/workflows/sums-by-nodes/run", {"input": {"text": "a", "count": "x" * 100_001}}, "input.count: Text should"),
        ("/workflows/sums-by-nodes/run", {"input": {"text": "a", "n" * 201: 1}}, f"input.fields.{'n' * 150}"),
        ("/workflows/sums-by-nodes/run", {"input": [1]}, "input: Send a text, or an object with the fields"),
        ("/agents/assistant/run", {"input": "a", "variables": {"who": None}}, "variables.who: Send a text or a number"),
        ("/agents/assistant/run", {"input": "a", "variables": {"who": "x" * 100_001}}, "at most 100000 characters"),
        ("/workflows", {"name": "A", "workflow": {}, "limits": {"run_cost": None}}, "limits.run_cost: Send a number"),
        ("/workflows", {"name": "A", "workflow": {}, "limits": {"run_cost": "x"}}, "limits.run_cost.number: Input"),
    ],
)
async def test_what_does_not_fit_is_named_once_in_words(client, made, path, body, told):
    refused = await client.post(path, json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")
    sentence = refused.json()["error"]
    assert told in sentence, sentence
    assert not any(code in sentence for code in ("function", "tagged", "Value error", "; ")), sentence


async def test_a_run_becomes_a_workflow_that_is_seen_made_and_run_as_any(client):
    run = (await client.post("/agents/assistant/run", json={"input": "What is 5 + 10, then multiply by 3?"})).json()
    address = f"/runs/{run['data']['run_id']}/workflow"
    seen = (await client.get(address)).json()["data"]
    assert seen["saves"] and seen["faults"] == []
    assert [node["kind"] for node in seen["workflow"]["nodes"]] == [
        "input", "tool", "transform", "tool", "agent", "output", "note",
    ]  # fmt: skip
    made = await client.post(address, json={"name": "Sums of a run", "description": "As it was"})
    assert made.status_code == 201 and made.json()["data"]["workflow"] == seen["workflow"]
    assert (await client.get("/workflows/sums-of-a-run")).json()["data"]["description"] == "As it was"
    assert (await client.post(address, json={"name": "Sums of a run"})).status_code == 409
    assert (await client.get("/runs/nothing/workflow")).status_code == 404


async def test_a_run_whose_agent_is_gone_becomes_a_document_with_faults(client, workbench):
    run = (await client.post("/agents/assistant/run", json={"input": "Hello"})).json()["data"]["run_id"]
    await workbench.agents.delete(workbench.agents.by_slug("assistant").id)
    seen = (await client.get(f"/runs/{run}/workflow")).json()["data"]
    assert not seen["saves"] and "calls an agent “assistant”, and there is none" in seen["faults"][0]["text"]
    refused = await client.post(f"/runs/{run}/workflow", json={"name": "Gone"})
    assert refused.status_code == 422 and refused.json()["faults"] == seen["faults"]


async def test_a_part_of_its_run_is_run_again(client, made):
    run = (await client.post("/workflows/sums-by-nodes/run", json={"input": "What is it?"})).json()["data"]
    fork = await client.post(f"/runs/{run['run_id']}/nodes", json={"pins": {"sum": "fifteen"}})
    told = fork.json()["data"]
    assert (fork.status_code, told["kept"], told["anew"]) == (201, ["question"], ["answer"])
    reply = (await client.get(f"/runs/{told['run_id']}")).json()["data"]
    assert reply["session_id"] == told["session_id"] != run["session_id"]
    for body in ({"to": "nowhere"}, {"pins": {"Sum!": 1}}, {"seq": 1}):
        assert (await client.post(f"/runs/{run['run_id']}/nodes", json=body)).status_code == 422
    plain = (await client.post("/agents/assistant/run", json={"input": "hi"})).json()["data"]
    assert (await client.post(f"/runs/{plain['run_id']}/nodes", json={})).status_code == 409
    exported = await client.get(f"/runs/{told['run_id']}/export?format=markdown")
    assert exported.status_code == 200 and "fifteen" in exported.text


async def test_what_the_agents_below_used_is_told_with_its_own(client):
    ask = {"id": "ask", "kind": "agent", "agent": "assistant", "message": {"kind": "text", "text": "{{input.text}}"}}
    nodes = [{"id": "input", "kind": "input"}, ask, {"id": "output", "kind": "output"} | VALUE]
    edges = [{"source": "input", "target": "ask"}, {"source": "ask", "target": "output"}]
    body = {"name": "Asking", "workflow": {"nodes": nodes, "edges": edges}}
    assert (await client.post("/workflows", json=body)).status_code == 201
    ran = (await client.post("/workflows/asking/run", json={"input": "What is 5 + 10?"})).json()["data"]
    assert ran["metrics"]["tokens_input"] > 0 and ran["metrics"]["cost_usd"] == 0
    shown = (await client.get(f"/runs/{ran['run_id']}")).json()["data"]
    assert shown["metrics"]["tokens_input"] == ran["metrics"]["tokens_input"]
