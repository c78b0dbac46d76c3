"""What the API says of an agent that is a workflow, and what it refuses of it in words."""

import pytest

from app.domain.agents import WorkflowBehaviour, new_agent
from app.domain.errors import WorkbenchError
from app.domain.evals.cases import CaseContent, DatasetChanges, new_cases
from app.domain.evals.scorers import Contains
from app.domain.events import RunStarted
from app.domain.forks.fork_prefix import Prefix
from app.domain.forks.forks import ForkPlan
from app.domain.provenance import AgentRef, Trigger
from app.domain.workflows.document import Edge, InputNode, OutputNode, Template, ToolNode, Workflow
from app.engine.experiments.searching import Wish
from app.engine.forks.fork_beginnings import Beginnings

PAGE = Trigger(kind="page")
NODES = Workflow(
    nodes=(
        InputNode(id="question"),
        ToolNode(id="sum", tool="calculator", policy="ask"),
        OutputNode(id="answer", value=Template(text="{{sum}}")),
    ),
    edges=(Edge(source="question", target="sum"), Edge(source="sum", target="answer")),
)
NOT_ITS_OWN = "its nodes have prompts, models and tools"


@pytest.fixture
async def nodes(workbench):
    """An agent that is a workflow, with a second variant, and a dataset of one case."""
    dataset = await workbench.collecting.new_dataset("Sums")
    await workbench.collecting.change_dataset(dataset.id, DatasetChanges(scorers=(Contains(),)))
    await workbench.collecting.add_all(dataset.id, new_cases(dataset.id, [CaseContent(input="5 + 10", reference="15")]))
    return await workbench.agents.create(new_agent("Nodes", WorkflowBehaviour(workflow=NODES), taken_slugs=()))


async def test_it_is_listed_with_its_kind_its_tools_and_no_model(client, nodes):
    listed = (await client.get("/agents")).json()["data"]
    assert {one["slug"]: one["kind"] for one in listed}["assistant"] == "prompt"
    shown = next(one for one in listed if one["slug"] == "nodes")
    assert (shown["kind"], shown["provider"], shown["model"], shown["system_prompt"]) == ("workflow", "", "", "")
    assert (shown["tools"], shown["variables"], shown["attachments"]) == (["calculator"], {}, {})
    assert (shown["config"]["timeout_ms"], shown["config"]["max_tokens"]) == (3_600_000, None)
    [variant] = (await client.get("/agents/nodes/variants")).json()["data"]
    assert variant["kind"] == "workflow"


@pytest.mark.parametrize(
    "body",
    [
        {"system_prompt": "Hi"},
        {"model": "demo/agent"},
        {"tools": []},
        {"config": {"temperature": 1}},
        {"attachments": {}},
    ],
    ids=str,
)
async def test_what_its_nodes_have_cannot_be_changed_of_it(client, workbench, nodes, body):
    for refused in (
        await client.put("/agents/nodes", json=body),
        await client.post("/agents/nodes/variants", json=body),
    ):
        assert refused.status_code == 422 and NOT_ITS_OWN in refused.json()["error"]
    assert len(workbench.agents.get(nodes.id).variants) == 1


async def test_its_limits_and_its_description_can_be_changed_promoted_and_rolled_back(client, nodes):
    changed = (await client.put("/agents/nodes", json={"description": "Adds", "config": {"timeout_ms": 60_000}})).json()
    assert (changed["data"]["variant"], changed["data"]["description"]) == (2, "Adds")
    assert (await client.post("/agents/nodes/variants/1/promote")).json()["data"]["variant"] == 1
    kept = await client.put("/agents/nodes", json={"description": "Adds up"})
    assert kept.json()["data"]["variants"] == 2 and kept.json()["data"]["warnings"] == []


async def test_a_run_or_a_session_with_another_model_is_refused(client, workbench, nodes):
    asked = {"input": "5 + 10", "model": "demo/agent"}
    for body in (asked, asked | {"background": True}):
        refused = await client.post("/agents/nodes/run", json=body)
        assert refused.status_code == 422 and NOT_ITS_OWN in refused.json()["error"]
    session = await workbench.chat.new_session(nodes.id)
    refused = await client.post("/agents/nodes/run", json=asked | {"session": session.id})
    assert refused.status_code == 422 and workbench.sessions.get(session.id).model is None


async def test_nothing_breaks_into_it_by_words(workbench, nodes):
    session = await workbench.chat.new_session(nodes.id)
    with pytest.raises(WorkbenchError, match="Nothing breaks into a workflow"):
        await workbench.queue.steer(session.id, "Stop that")
    assert workbench.sessions.get(session.id).queue == ()


async def test_an_experiment_tries_its_variants_and_no_other_models(client, workbench, nodes):
    draft = {"dataset": "sums", "agent": "nodes", "variants": [1]}
    refused = await client.post("/experiments", json=draft | {"models": ["demo/agent"]})
    assert refused.status_code == 422 and NOT_ITS_OWN in refused.json()["error"]
    estimate = (await client.post("/experiments/estimate", json=draft | {"tools": "live"})).json()["data"]
    assert (estimate["cells"], estimate["low_usd"], estimate["pilot"]) == (1, None, False)


async def test_a_gate_asks_of_it_what_it_asks_of_every_agent(client, nodes):
    assert (await client.put("/agents/nodes/gate", json={"dataset": "sums", "repeats": 1})).status_code == 200
    held = await client.put("/agents/nodes", json={"config": {"timeout_ms": 60_000}})
    assert held.status_code == 409 and "was not tried beside variant 1" in held.json()["data"]["reasons"][0]


async def test_no_better_prompt_is_searched_for_it(workbench, nodes):
    dataset = workbench.datasets.by_slug("sums")
    wish = Wish(agent_id=nodes.id, variant=1, dataset_id=dataset.id, model="demo/agent")
    with pytest.raises(WorkbenchError, match=NOT_ITS_OWN):
        await workbench.suggesting.start(wish, by=PAGE)


async def test_a_fork_of_its_run_has_no_other_prompt_or_model(workbench, nodes):
    beginnings = Beginnings(
        workbench.agents, workbench.sessions, workbench.models, workbench.tools, workbench.chat.loading
    )
    ref = AgentRef(id=nodes.id, slug=nodes.slug, name=nodes.name, variant=1)
    ran = RunStarted(session_id="s1", agent=ref, model="", trigger=PAGE)
    for plan in (ForkPlan(seq=1, system_prompt="Hi"), ForkPlan(seq=1, model="demo/agent")):
        with pytest.raises(WorkbenchError, match=NOT_ITS_OWN):
            await beginnings.started(ran, Prefix((), 0, (), (), ""), plan, PAGE)
