from pydantic import JsonValue

from app.domain.messages import ToolCall
from app.domain.trace import TrajectoryStep, trajectory
from app.ui.compare.steps import SHOWN_STEPS, review
from tests.traces import a_workflow_run, asked, called, finished, ran, returned, said, started, trace_of


def steps(*calls: ToolCall) -> list[TrajectoryStep]:
    """Of a run with one call in each step, and an answer at its end."""
    worked = [event for call in calls for event in (called(), said("", call), returned(), *ran(call, "ok"))]
    return trajectory(trace_of(started(), asked("Go"), *worked, called(), said("Done."), returned(), finished()))


def tool_call(name: str = "calculator", number: int = 1, **arguments: JsonValue) -> ToolCall:
    return ToolCall(call_id=f"c{number}", name=name, arguments=dict(arguments))


def test_the_same_calls_are_summed_up_in_one_line() -> None:
    html = review([steps(tool_call(x=1)), steps(tool_call(x=1))])
    assert "2 steps: the same tool calls in all columns" in html
    assert html.count('data-verdict="same"') == 3
    assert "x: 1" in html


def test_other_arguments_are_named() -> None:
    html = review([steps(tool_call(x=1)), steps(tool_call(x=2))])
    assert "2 steps: 1 other arguments" in html
    assert "x: 2" in html


def test_another_tool_is_named() -> None:
    html = review([steps(tool_call("search")), steps(tool_call("calculator"))])
    assert "1 other tool" in html


def test_a_call_that_only_one_column_made_is_extra() -> None:
    one, two = tool_call(x=1), tool_call("search", 2)
    html = review([steps(one), steps(one, two)])
    assert "1 extra" in html
    assert "1 missing" in review([steps(one, two), steps(one)])


def test_columns_keep_their_letters_when_one_has_no_run() -> None:
    html = review([steps(tool_call()), None, steps(tool_call())])
    assert '<th scope="col">A</th><th scope="col">C</th>' in html


def test_nothing_is_shown_where_nothing_can_be_compared() -> None:
    assert review([steps(tool_call()), None]) == ""
    assert review([steps(), steps()]) == ""


def test_very_many_steps_are_cut() -> None:
    many = steps(*(tool_call("calculator", number, x=number) for number in range(SHOWN_STEPS + 4)))
    html = review([many, many])
    assert html.count("<tr") == SHOWN_STEPS + 1
    assert "5 more steps not shown" in html


def test_what_a_model_wrote_cannot_become_markup() -> None:
    evil = tool_call("<script>", x="<img src=x>")
    html = review([steps(evil), steps(evil)])
    assert "<script>" not in html
    assert "<img" not in html


def test_nodes_of_workflows_are_told_by_their_titles_and_compared_by_their_inputs() -> None:
    entries = a_workflow_run()
    same = review([trajectory(entries), trajectory(entries)])
    assert "7 steps: the same nodes and inputs in all columns" in same and "Double it, item 2" in same
    event = entries[14].event.model_copy(update={"inputs": {"each": [2, 5]}})
    other = [entry.model_copy(update={"event": event}) if entry.seq == 14 else entry for entry in entries]
    assert "7 steps: 1 other arguments" in review([trajectory(entries), trajectory(other)])
