"""What an agent's kind of behaviour has, and what is refused of it in words."""

import pytest
from pydantic import TypeAdapter, ValidationError

from app.domain.agents import (
    NODES_MODELS,
    Agent,
    Behaviour,
    PromptBehaviour,
    ToolChoice,
    Variable,
    WorkflowBehaviour,
    by_prompt,
    check_model_choice,
    model_of,
    model_words,
    new_agent,
    schema_of,
    tools_of,
    values_of,
    with_variant,
)
from app.domain.caution import agent_from_elsewhere, with_tools_held
from app.domain.differences import differences
from app.domain.errors import Conflict, WorkbenchError
from app.domain.tool_settings import with_tool
from app.domain.workflows.document import Edge, InputNode, OutputNode, ToolNode, Workflow
from app.export.agent_file import VERSION, agent_file, read_agent_file

SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}}
NODES = Workflow(
    nodes=(
        InputNode(id="question"),
        ToolNode(id="sum", tool="calculator"),
        ToolNode(id="again", tool="calculator", policy="ask"),
        ToolNode(id="unnamed"),
        OutputNode(id="answer", output_schema=SCHEMA),
    )
)
BY_NODES = WorkflowBehaviour(workflow=NODES)


def workflow_agent() -> Agent:
    return new_agent("Sums by nodes", BY_NODES, taken_slugs=())


@pytest.mark.parametrize("behaviour", [PromptBehaviour(system_prompt="Hi"), BY_NODES])
def test_each_kind_is_read_back_as_it_was_written(behaviour: Behaviour):
    reader: TypeAdapter[Behaviour] = TypeAdapter(Behaviour)
    assert reader.validate_json(reader.dump_json(behaviour)) == behaviour
    assert reader.validate_python(behaviour) is behaviour


def test_what_says_no_kind_is_a_prompt_and_an_unknown_kind_is_refused():
    reader: TypeAdapter[Behaviour] = TypeAdapter(Behaviour)
    assert reader.validate_python({"system_prompt": "Hi"}) == PromptBehaviour(system_prompt="Hi")
    with pytest.raises(ValidationError, match="kind"):
        reader.validate_python({"kind": "program"})


def test_a_workflow_says_its_tools_its_schema_and_whose_models_answer():
    assert tools_of(BY_NODES) == (ToolChoice(name="calculator", policy="ask"),)
    assert schema_of(BY_NODES) == SCHEMA and model_of(BY_NODES) is None and model_words(BY_NODES) == NODES_MODELS
    assert values_of(BY_NODES, {"who": "Ada"}) == {"who": "Ada"} and BY_NODES.limits.total_time == 3600


def test_a_prompt_says_the_model_that_was_chosen_before_its_own():
    own = PromptBehaviour(model="demo/agent", variables=(Variable(name="who", default="you"),))
    assert (model_words(own), model_words(own, "openai/x")) == ("demo/agent", "openai/x")
    assert values_of(own, {}) == {"who": "you"}
    check_model_choice(own, "openai/x")


def test_a_model_a_prompt_and_a_tool_of_a_workflow_are_refused_in_words():
    check_model_choice(BY_NODES, None)
    for wish in (
        lambda: check_model_choice(BY_NODES, "demo/agent"),
        lambda: by_prompt(BY_NODES),
        lambda: with_tool(BY_NODES, "calculator", "auto"),
    ):
        with pytest.raises(WorkbenchError, match="is a workflow: its nodes have prompts, models and tools"):
            wish()


def test_an_agent_keeps_its_kind_from_variant_to_variant():
    agent = workflow_agent()
    assert agent.kind == "workflow" and with_variant(agent, BY_NODES, origin=1).variants[1].behaviour == BY_NODES
    with pytest.raises(Conflict, match=r"answers by a workflow\. Make a new agent for a prompt"):
        with_variant(agent, PromptBehaviour(), origin=1)


def test_the_nodes_of_a_workflow_from_elsewhere_ask_and_its_limits_are_ours():
    wide = BY_NODES.model_copy(update={"limits": BY_NODES.limits.model_copy(update={"total_time": 9e9, "day_cost": 0})})
    agent = agent_from_elsewhere(new_agent("Theirs", wide, taken_slugs=()))
    held = agent.active_variant.behaviour
    assert isinstance(held, WorkflowBehaviour)
    assert [node.policy for node in held.workflow.nodes if isinstance(node, ToolNode)] == ["ask"] * 3
    assert held.limits.total_time == 3600 and held == with_tools_held(wide, "off")


def test_a_file_of_a_workflow_is_of_a_version_that_older_apps_refuse_and_one_of_a_prompt_is_not():
    ours = workflow_agent()
    assert f'"version": {VERSION}'.encode() in agent_file(ours)
    assert b'"version": 1' in agent_file(new_agent("Sums", PromptBehaviour(), taken_slugs=()))
    read = read_agent_file(agent_file(ours), {"sums-by-nodes"})
    assert read.slug == "sums-by-nodes-2" and read.kind == "workflow"


def test_a_file_with_variants_of_two_kinds_is_refused():
    agent = new_agent("Sums", PromptBehaviour(), taken_slugs=())
    other = agent.active_variant.model_copy(update={"number": 2, "behaviour": BY_NODES})
    mixed = agent.model_copy(update={"variants": (*agent.variants, other)})
    with pytest.raises(WorkbenchError, match="several kinds"):
        read_agent_file(agent_file(mixed), ())


def test_workflows_differ_by_their_nodes_and_edges_wherever_these_stand():
    moved, named = (
        NODES.model_copy(update={"nodes": (NODES.nodes[0].model_copy(update=changes), *NODES.nodes[1:])})
        for changes in ({"x": 400.0}, {"title": "Ask"})
    )
    joined = NODES.model_copy(update={"edges": (Edge(source="question", target="sum"),)})
    assert differences(BY_NODES, WorkflowBehaviour(workflow=moved)).none
    [change] = differences(BY_NODES, WorkflowBehaviour(workflow=named)).changes
    assert (change.area, change.name) == ("nodes", "“Ask” (question): title")
    assert (change.before, change.after) == ("", "Ask")
    [change] = differences(BY_NODES, WorkflowBehaviour(workflow=joined)).changes
    assert (change.area, change.name, change.before, change.after) == ("nodes", "question → sum", "", "next")


def test_workflows_differ_by_their_limits_tools_and_schema():
    nodes = tuple(node for node in NODES.nodes if node.id not in ("again", "answer"))
    after = WorkflowBehaviour(workflow=Workflow(nodes=nodes))
    assert differences(BY_NODES, BY_NODES).none
    changed = {(one.area, one.name, one.before, one.after) for one in differences(BY_NODES, after).changes}
    assert ("tools", "calculator", "ask", "auto") in changed and ("output", "schema", str(SCHEMA), "") in changed
