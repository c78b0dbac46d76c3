"""Cells: ordinary runs in hidden sessions, in which tools answer from the record of their case."""

import pytest

from app.domain.agents import ToolChoice
from app.domain.errors import ModelFailure
from app.domain.evals.cases import CaseContent, SimulatedUser
from app.domain.events import RunStarted, ToolReturned
from app.domain.messages import FilePart, ToolCall, user_message
from app.domain.trace import RunFilter
from tests.engine.experiments.trials import calling
from tests.engine.scripted import reply

ADD = ToolCall(call_id="c1", name="add", arguments={"x": 1, "y": 2})
OTHER = ToolCall(call_id="c1", name="add", arguments={"x": 5, "y": 5})
SEND = ToolCall(call_id="c2", name="send", arguments={"text": "hi"})


async def begun(trials, cell) -> RunStarted:
    event = (await trials.bench.runs.trace(cell.runs[0])).entries[0].event
    assert isinstance(event, RunStarted)
    return event


async def test_a_cell_is_an_ordinary_run_that_no_list_shows_unasked(trials):
    agent = await trials.agent()
    await trials.written("What is 1 + 2?")
    [cell] = await trials.ran()
    assert (cell.end, cell.answer, cell.before) == ("passed", "It is 3.", ())

    bench, [run_id] = trials.bench, cell.runs
    started = await begun(trials, cell)
    assert (started.purpose, started.trigger.kind, started.agent.id) == ("experiment", "job", agent.id)
    assert bench.sessions.get(cell.session_id).behind == cell.experiment_id
    assert bench.rows.find(RunFilter()).rows == [] and bench.sessions.recent() == []
    assert bench.rows.agents() == [] and bench.rows.week_of(agent.id).runs == 0
    assert (await bench.session_search.page("What")).sessions == []
    assert [row.run_id for row in bench.rows.find(RunFilter(behind=True)).rows] == [run_id]
    assert cell.cost == pytest.approx(0.0002) == bench.rows.get(run_id).cost


async def test_tools_answer_from_the_record_and_none_is_called(trials):
    await trials.agent("add")
    await trials.recorded()
    trials.models.answers = calling(ADD)
    [cell] = await trials.ran()
    assert (cell.end, cell.recorded, cell.called, trials.called) == ("passed", 1, 1, [])
    entries = (await trials.bench.runs.trace(cell.runs[0])).entries
    [returned] = [one.event for one in entries if isinstance(one.event, ToolReturned)]
    assert returned.result.parts[0].text == "3"


async def test_what_is_not_recorded_is_an_error_and_no_failure(trials):
    await trials.agent("add")
    await trials.recorded()
    trials.models.answers = calling(OTHER, then="wrong")
    [cell] = await trials.ran()
    assert (cell.end, cell.called, cell.recorded, trials.called) == ("error", 1, 0, [])
    assert 'not recorded: add with {"x": 5, "y": 5}' in cell.why
    assert len(trials.models.requests) == 3, "nothing more is asked after that"


async def test_a_number_is_the_same_however_it_is_written(trials):
    await trials.agent("add")
    await trials.recorded()
    trials.models.answers = calling(ADD.model_copy(update={"arguments": {"x": 1.0, "y": 2.0}}))
    [cell] = await trials.ran()
    assert (cell.end, cell.recorded, cell.called, trials.called) == ("passed", 1, 1, [])


async def test_the_same_call_again_is_answered_again_where_that_changes_nothing(trials):
    await trials.agent("add", "send")
    await trials.recorded("x", ADD, SEND)
    trials.models.answers = calling(ADD, ADD)
    [cell] = await trials.ran()
    assert (cell.end, cell.recorded) == ("passed", 2)
    trials.models.answers = calling(SEND, SEND)
    [cell] = await trials.ran()
    assert (cell.end, cell.recorded) == ("error", 1)


async def test_a_tool_that_is_named_is_called_for_real_without_asking(trials):
    await trials.agent("add", ToolChoice(name="send", policy="ask"))
    await trials.recorded()
    trials.models.answers = calling(ADD, SEND)
    [cell] = await trials.ran(live=("send",))
    assert (cell.end, cell.recorded, cell.called, trials.called) == ("passed", 1, 2, ["send"])


async def test_a_tool_that_would_ask_is_an_error_where_nobody_is_there(trials):
    await trials.agent("add", ToolChoice(name="send", policy="ask"))
    await trials.written("x")
    trials.models.answers = calling(ADD, SEND)
    [cell] = await trials.ran(tools="live")
    assert (cell.end, trials.called) == ("error", ["add"])
    assert "nobody is there to say yes" in cell.why


async def test_a_tool_that_asks_a_person_is_answered_by_nobody(trials):
    await trials.agent("wonder")
    await trials.written("x")
    trials.models.answers = calling(ToolCall(call_id="c1", name="wonder", arguments={}))
    [cell] = await trials.ran(tools="live")
    assert cell.end == "error" and "wonder asked a person: Really?" in cell.why


async def test_a_run_begins_as_its_case_says(trials):
    await trials.agent()
    bench = trials.bench
    digest = await bench.artifacts.put(b"a,b")
    table = FilePart(artifact=digest, media_type="text/csv", filename="table.csv", size=3)
    said = (user_message("Before"), reply("Yes?").message)
    content = CaseContent(
        input="Sum it",
        data={"rows": 2},
        variables={"mood": "brief"},
        attachments=(table,),
        history=said,
        files={"/notes.txt": digest},
    )
    await trials.written(content)
    [cell] = await trials.ran()
    started = await begun(trials, cell)
    assert started.history == said and started.system.text == "Be {{mood}}.".replace("{{mood}}", "brief")
    assert started.files == {"/notes.txt": digest, "/table.csv": digest}
    assert [one.text for one in trials.models.requests[0].messages] == ["Before", "Yes?", 'Sum it\n\nData:\n{"rows":2}']


async def test_each_turn_of_a_case_is_a_run_of_the_same_session(trials):
    await trials.agent("add")
    [case] = await trials.written(CaseContent(input="one", turns=("two", "three"), reference="3"))
    trials.models.answers = lambda request: f"{request.messages[-1].text} 3"
    [cell] = await trials.ran()
    assert (cell.end, len(cell.runs), cell.answer) == ("passed", 3, "three 3")
    assert trials.bench.sessions.get(cell.session_id).runs == cell.runs
    assert cell.cost == pytest.approx(0.0006) and case.turns == ("two", "three")


async def test_a_simulated_user_speaks_until_it_is_done(trials):
    await trials.agent()
    user = SimulatedUser(goal="Know what 1 + 2 is", persona="Impatient", model="fake/user", most_turns=5)
    await trials.written(CaseContent(input="Hello", user=user, reference="3"))
    said = iter(["What is 1 + 2?", "[done]"])

    def answer(request):
        if "You play a person" in (request.system.text if request.system else ""):
            assert "Impatient" in request.system.text and request.tools == ()
            return next(said)
        return "It is 3." if "1 + 2" in request.messages[-1].text else "Hi"

    trials.models.answers = answer
    [cell] = await trials.ran()
    assert (cell.end, len(cell.runs), len(cell.spoken), cell.answer) == ("passed", 2, 2, "It is 3.")
    assert cell.cost == pytest.approx(0.0008)
    rows = trials.bench.rows.find(RunFilter(behind=True)).rows
    assert sorted(row.purpose for row in rows) == ["experiment", "experiment", "simulated_user", "simulated_user"]


async def test_a_simulated_user_that_cannot_speak_is_an_error(trials):
    await trials.agent()
    user = SimulatedUser(goal="x", model="fake/user")
    await trials.written(CaseContent(input="Hello", user=user, reference="3"))
    trials.models.answers = lambda request: (
        ModelFailure("invalid_key", "No.")
        if not request.tools and request.messages[-1].text.startswith("What was said")
        else "Hi"
    )
    [cell] = await trials.ran()
    assert cell.end == "error" and "simulated user" in cell.why


async def test_runs_that_cases_were_made_from_are_scored_without_being_run(trials):
    await trials.agent("add")
    case = await trials.recorded()
    await trials.written("typed by hand")
    asked = len(trials.models.requests)
    cells = await trials.ran(as_recorded=True, variants=(), models=())
    recorded = [cell for cell in cells if cell.column == 0]
    assert [(cell.end, cell.runs) for cell in recorded] == [("passed", (case.run_id,)), ("skipped", ())]
    assert len(trials.models.requests) == asked + 2, "those of the other column"
    assert recorded[0].cost == 0
