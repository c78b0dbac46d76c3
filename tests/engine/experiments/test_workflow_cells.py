"""A workflow beside a plain agent in one experiment: on the same cases, under the same rules."""

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, WorkflowBehaviour, new_agent, with_variant
from app.domain.messages import ToolCall
from app.domain.workflows.document import AgentNode, ApprovalNode, FixedValue, Template, ToolNode, Workflow
from tests.domain.workflows.worlds import chain
from tests.engine.experiments.trials import SLUG, Trials, calling

SUM = ToolNode(id="sum", tool="add", arguments={"x": FixedValue(value=1), "y": FixedValue(value=2)})
ASKED = AgentNode(id="ask", agent="helper", message=Template(text="{{input.text}}"))


async def beside(trials: Trials, flow: Workflow) -> None:
    """Variant 1 is the workflow, variant 2 asks a plain agent and does nothing else."""
    helper = PromptBehaviour(model="fake/model", tools=(ToolChoice(name="send"), ToolChoice(name="add")))
    await trials.bench.agents.create(new_agent("Helper", helper, taken_slugs=()))
    alone = WorkflowBehaviour(workflow=chain(ASKED, answer="{{ask}}"))
    agent = new_agent(SLUG.title(), WorkflowBehaviour(workflow=flow), taken_slugs=())
    await trials.bench.agents.create(with_variant(agent, alone, origin=1))


@pytest.mark.parametrize("tools", ["live", "recorded"])
async def test_both_answer_the_same_cases(trials, tools):
    await beside(trials, chain(SUM, ASKED, answer="{{ask}} {{sum}}"))
    await trials.written("What is 1 + 2?") if tools == "live" else await trials.recorded()
    trials.models.answers = calling(then="It is 3.")
    cells = await trials.ran(variants=(1, 2), tools=tools)
    assert [(cell.column, cell.end) for cell in cells] == [(0, "passed"), (1, "passed")]
    assert cells[0].answer == "It is 3. 3"
    assert trials.called == (["add"] if tools == "live" else [])
    assert [cell.cost > 0 for cell in cells] == [True, True]


async def test_an_agent_below_calls_nothing_for_real_either(trials):
    await beside(trials, chain(ASKED, answer="{{ask}}"))
    await trials.recorded()
    trials.models.answers = calling(ToolCall(call_id="c", name="send", arguments={"text": "x"}))
    [cell] = await trials.ran(variants=(1,), tools="recorded")
    assert (cell.end, trials.called) == ("error", [])
    assert "not recorded: send with" in cell.why


async def test_a_node_that_fails_is_a_failed_answer_of_its_variant(trials):
    await beside(trials, chain(SUM.model_copy(update={"arguments": {"x": FixedValue(value="one")}})))
    await trials.written("What is 1 + 2?")
    [cell] = await trials.ran(variants=(1,), tools="live")
    assert (cell.end, cell.failure) == ("failed", "node") and cell.why.startswith("sum: ")


async def test_nobody_is_there_to_be_asked(trials):
    await beside(trials, chain(ApprovalNode(id="ask", title="Ask first", question="Well?")))
    await trials.written("What is 1 + 2?")
    [cell] = await trials.ran(variants=(1,), tools="live")
    assert cell.end == "error" and "asked a person: Well? In an experiment nobody is there to answer." in cell.why
