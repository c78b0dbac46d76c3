"""Experiments over workflows: what their agents do in runs below counts as what is done at the top."""

from app.domain.agents import Agent, Limits, PromptBehaviour, ToolChoice, WorkflowBehaviour, new_agent
from app.domain.messages import ToolCall
from app.domain.provenance import Trigger
from app.domain.workflows.document import AgentNode, ApprovalNode, FixedValue, Template, ToolNode, Workflow
from tests.domain.workflows.worlds import chain
from tests.engine.experiments.trials import SLUG, Trials, calling
from tests.engine.scripted import reply

SEND = ToolNode(id="send", tool="send", policy="ask", arguments={"text": FixedValue(value="x")})
HELPED = AgentNode(id="ask", agent="helper", message=Template(text="{{input.text}}"))
CALL = ToolCall(call_id="c", name="send", arguments={"text": "x"})


async def made(
    trials: Trials, flow: Workflow, helper: PromptBehaviour | WorkflowBehaviour, limits: Limits | None = None
) -> Agent:
    await trials.bench.agents.create(new_agent("Helper", helper, taken_slugs=()))
    behaviour = WorkflowBehaviour(workflow=flow, limits=limits or Limits())
    return await trials.bench.agents.create(new_agent(SLUG.title(), behaviour, taken_slugs=()))


def with_tools(*tools: ToolChoice) -> PromptBehaviour:
    return PromptBehaviour(model="fake/model", tools=tools)


async def test_an_estimate_names_the_tools_of_agents_that_a_workflow_asks(trials: Trials):
    await made(trials, chain(HELPED, answer="{{ask}}"), with_tools(ToolChoice(name="send")))
    await trials.written("What is 1 + 2?")
    estimate = await trials.bench.experimenting.estimate(trials.draft(variants=(1,), tools="live"))
    assert "send" in estimate.side_effects
    assert "send" in (await trials.planned(variants=(1,), tools="live")).plan.tool_digests


async def test_a_tool_that_is_called_for_real_asks_nobody_at_a_node_and_below_it(trials: Trials):
    await made(
        trials, chain(SEND, HELPED, answer="{{ask}} {{send}}"), with_tools(ToolChoice(name="send", policy="ask"))
    )
    await trials.written("What is 1 + 2?")
    trials.models.answers = calling(CALL, then="It is 3.")
    [cell] = await trials.ran(variants=(1,), tools="live", live=("send",))
    assert (cell.end in ("passed", "failed"), cell.why, trials.called.count("send")) == (True, "", 2), cell


async def test_a_question_below_is_an_error_as_one_at_the_top_is(trials: Trials):
    asking = WorkflowBehaviour(workflow=chain(ApprovalNode(id="q", question="Well?"), answer="{{q.decision}}"))
    await made(trials, chain(HELPED, answer="{{ask}}"), asking)
    await trials.written("What is 1 + 2?")
    [cell] = await trials.ran(variants=(1,), tools="live")
    assert cell.end == "error" and "asked a person" in cell.why


async def test_the_ceiling_of_a_session_counts_what_runs_below_cost(trials: Trials):
    trials.models.answers = lambda _: reply("It is 3.", tokens=3000)
    agent = await made(trials, chain(HELPED, answer="{{ask}}"), with_tools(), Limits(session_cost=0.08, run_cost=1))
    session = await trials.bench.chat.new_session(agent.id)
    said = []
    for _ in range(3):
        live = await trials.bench.chat.send(session.id, "hi", trigger=Trigger(kind="terminal"))
        await live.ended()
        said.append(live.status)
    assert said == ["completed", "failed", "failed"]
    assert trials.bench.runs.ledger.session_cost(session.id) < 0.08
