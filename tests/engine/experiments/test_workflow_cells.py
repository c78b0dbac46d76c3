"""A workflow beside a plain agent in one experiment: on the same cases, under the same rules."""

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, WorkflowBehaviour, new_agent, with_variant
from app.domain.errors import NotFound, WorkbenchError
from app.domain.evals.cases import DatasetChanges
from app.domain.evals.gates import Gate
from app.domain.evals.scorers import Contains, Cost
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


async def test_the_plain_agent_itself_is_a_column_beside_the_workflow(trials):
    await beside(trials, chain(SUM, ASKED, answer="{{ask}} {{sum}}"))
    await trials.written("What is 1 + 2?")
    trials.models.answers = calling(then="It is 3.")
    experiment = await trials.planned(variants=(1,), beside=("helper",), tools="live")
    assert [column.words for column in experiment.plan.columns] == ["variant 1", "helper variant 1"]
    assert {"add", "send"} <= experiment.plan.tool_digests.keys()
    await trials.bench.experimenting.start(experiment.id)
    cells = await trials.over(experiment.id)
    assert [(cell.column, cell.end, cell.answer) for cell in cells] == [
        (0, "passed", "It is 3. 3"),
        (1, "passed", "It is 3."),
    ]
    agents = [trials.bench.rows.get(cell.runs[0]).agent.slug for cell in cells]
    assert agents == [SLUG, "helper"]
    [told] = (await trials.bench.experimenting.results(experiment.id)).verdicts
    assert (told.column, told.verdict.same) == (1, 1)


async def test_who_is_beside_has_to_be_there_and_another(trials):
    await beside(trials, chain(ASKED))
    await trials.written("What is 1 + 2?")
    with pytest.raises(NotFound, match=r"There is no agent 'helpless'.*helper"):
        await trials.planned(beside=("helpless",))
    with pytest.raises(WorkbenchError, match=r"'tester' is tried already\. Name other agents"):
        await trials.planned(beside=("helper", SLUG))
    with pytest.raises(WorkbenchError, match="nodes"):
        await trials.planned(models=("fake/other",), beside=("helper",))
    assert len((await trials.planned(beside=("helper", "helper"))).plan.columns) == 2


async def test_what_another_agents_variant_shows_lets_none_of_the_same_number_past_a_gate(trials):
    await beside(trials, chain(ASKED, answer="{{ask}}"))
    helper = trials.bench.agents.by_slug("helper")
    await trials.bench.agents.change(helper.id, lambda agent: with_variant(agent, agent.variant(1).behaviour, origin=1))
    await trials.bench.gating.activate(helper.id, 2, by="page")
    await trials.written("What is 1 + 2?")
    await trials.bench.collecting.change_dataset(trials.dataset, DatasetChanges(scorers=(Contains(texts=("3",)),)))
    agent = trials.bench.agents.by_slug(SLUG)
    agent = await trials.bench.gating.set(agent.id, Gate(dataset_id=trials.dataset, repeats=1))
    trials.models.answers = calling(then="It is 3.")
    await trials.ran(variants=(1,), beside=("helper",))
    outcome = await trials.bench.gating.outcome(agent, 2)
    assert outcome is not None and "was not tried beside variant 1" in outcome.lines[0].words


async def test_an_agent_below_calls_nothing_for_real_either(trials):
    await beside(trials, chain(ASKED, answer="{{ask}}"))
    await trials.recorded()
    trials.models.answers = calling(ToolCall(call_id="c", name="send", arguments={"text": "x"}))
    [cell] = await trials.ran(variants=(1,), tools="recorded")
    assert (cell.end, trials.called) == ("error", [])
    assert "not recorded: send with" in cell.why


async def test_an_agent_below_of_which_nobody_knows_what_it_costs_leaves_its_cell_unpriced(trials):
    await beside(trials, chain(ASKED, answer="{{ask}}"))
    await trials.written("What is 1 + 2?")
    trials.models.unpriced, trials.models.bills = ("fake/model",), False
    [cell] = await trials.ran(variants=(1,), tools="live", scorers=(Cost(most_usd=1),))
    assert (cell.unpriced, cell.cost, cell.end) == (True, 0, "not_scored")
    await trials.bench.experimenting.score_again(cell.experiment_id)
    [again] = await trials.over(cell.experiment_id)
    assert (again.unpriced, again.end) == (True, "not_scored")


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
