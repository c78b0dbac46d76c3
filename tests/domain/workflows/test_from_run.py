"""Workflows made of runs: whatever the run was, nothing is raised, and what is missing shows as a fault."""

import json
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from app.domain.events import ChildStarted
from app.domain.messages import ToolCall
from app.domain.tools import GrantedTool
from app.domain.workflows.checking import errors, faults
from app.domain.workflows.document import (
    AgentNode,
    FixedValue,
    FoundValue,
    JoinNode,
    NoteNode,
    OutputNode,
    ToolNode,
    TransformNode,
)
from app.domain.workflows.from_run import LARGEST, MOST_CALLS, workflow_of
from tests.domain.workflows.worlds import tool, world
from tests.hostile import PAYLOADS
from tests.hostile_runs import hostile_run
from tests.traces import SUMMING, a_workflow_run, asked, call, finished, ran, said, started, the_sum, trace_of

FETCH = call("f", "fetch", url="https://example.com/a")
PAGE = json.dumps(
    {
        "title": "Oaks",
        "links": ["https://example.com/b", "https://example.com/c"],
        "odd name": "Long ago",
        "tries": 2,
        "ok": True,
    }
)


def run_of(*steps, message="Read https://example.com/a", answer="Oaks are old.", **changes):
    """A run whose steps are lists of calls with what they gave."""
    events = [started(**changes), asked(message)]
    for step in steps:
        events.append(said("", *(one for one, _ in step)))
        for one, given_ in step:
            events += ran(one, *given_) if isinstance(given_, tuple) else ran(one, given_) if given_ is not None else ()
    return trace_of(*events, said(answer), finished())


def of_kind(kind, workflow):
    return [node for node in workflow.nodes if isinstance(node, kind)]


def order(workflow):
    return {(edge.source, edge.target) for edge in workflow.edges}


def found(workflow):
    return [(one.node, one.text) for one in errors(faults(workflow, world()))]


def test_calls_become_nodes_in_order_and_equal_values_are_read():
    second = call("w", "write_file", path="/oaks.txt", text="Oaks")
    made = workflow_of(run_of([(FETCH, PAGE)], [(second, "ok")], message="https://example.com/a"))
    fetch, write = of_kind(ToolNode, made)
    assert fetch.arguments == {"url": FoundValue(path="input.text")}
    assert write.arguments == {"path": FixedValue(value="/oaks.txt"), "text": FoundValue(path="fetch.title")}
    [answer] = of_kind(AgentNode, made)
    assert (answer.agent, answer.tools) == ("assistant", ()) and "- write_file: {{write_file}}\n" in answer.message.text
    assert of_kind(OutputNode, made)[0].value == FoundValue(path=answer.id)
    assert order(made) == set(pairwise(["input", "fetch", "write_file", answer.id, "answer"]))
    [(_, text)] = found(made)
    assert "calls an agent “assistant”, and there is none" in text


def test_calls_of_one_step_stand_side_by_side_and_read_fields_and_items():
    both = [call(name, "fetch", url=f"https://example.com/{name}", tries=2, ok=True) for name in "bc"]
    more = [call(name, "mail", to=["x"], text="Long ago") for name in "de"]
    made = workflow_of(run_of([(FETCH, PAGE)], [(one, "{}") for one in both], [(one, "{}") for one in more]))
    assert [node.arguments["url"] for node in of_kind(ToolNode, made)[1:3]] == [
        FoundValue(path="fetch.links[0]"), FoundValue(path="fetch.links[1]"),
    ]  # fmt: skip
    assert of_kind(ToolNode, made)[1].arguments["tries"] == FixedValue(value=2), "equal by chance"
    assert of_kind(ToolNode, made)[1].arguments["ok"] == FixedValue(value=True)
    assert of_kind(ToolNode, made)[3].arguments["text"] == FoundValue(path='fetch."odd name"')
    [join] = of_kind(JoinNode, made)
    assert {("fetch", "fetch_2"), ("fetch", "fetch_3"), ("fetch_2", join.id), (join.id, "mail_2")} <= order(made)
    assert len(of_kind(ToolNode, made)) == 5 and not {("mail", "mail_2"), ("fetch_2", "fetch_3")} & order(made)


def test_the_number_at_the_end_of_a_sum_is_read_and_small_ones_stay():
    made = workflow_of(the_sum())
    first, second = of_kind(ToolNode, made)
    [reader] = of_kind(TransformNode, made)
    assert reader.inputs == {"text": FoundValue(path=first.id)} and second.arguments["x"] == FoundValue(path=reader.id)
    assert second.arguments["y"] == FixedValue(value=3)
    assert ("calculator", reader.id) in order(made) and (reader.id, "calculator_2") in order(made)


def test_an_answer_that_was_found_is_read_and_no_agent_is_asked():
    made = workflow_of(run_of([(FETCH, "Oaks are old.")]))
    assert not of_kind(AgentNode, made) and of_kind(OutputNode, made)[0].value == FoundValue(path="fetch")


def test_what_failed_is_named_and_left_out_and_a_missing_answer_is_a_fault():
    failed, open_ = call("x", "fetch", url="?"), call("y", "now")
    made = workflow_of(run_of([(failed, ("no",))], [(open_, None)], answer=""))
    assert "now was not answered (1)" in of_kind(NoteNode, made)[0].note
    events = [started(), asked("Hi"), said("", failed), *ran(failed, "no", status="error"), finished()]
    made = workflow_of(trace_of(*events))
    assert not of_kind(ToolNode, made) and "fetch failed (1)" in of_kind(NoteNode, made)[0].note
    assert ("answer", "“Answer” (answer) says nothing. Say what it answers.") in found(made)


def test_tasks_become_agents_whose_answers_are_read():
    task, joined = call("s", "spawn_task", task="Count the oaks", agent="writer"), call("j", "join_task", task_id="r9")
    mail = call("m", "mail", to=["x"], text="There are 12 oaks")
    steps = [said("", task), ran(task, "r9")[0], ChildStarted(call_id="s", child_run_id="r9"), ran(task, "r9")[1]]
    steps += [said("", joined), *ran(joined, '{"status": "completed", "answer": "There are 12 oaks"}')]
    steps += [said("", mail), *ran(mail, "sent")]
    made = workflow_of(trace_of(started(), asked("Count the oaks"), *steps, said("Done, all is sent."), finished()))
    counter, _ = of_kind(AgentNode, made)
    assert (counter.agent, counter.message) == ("writer", FoundValue(path="input.text"))
    assert of_kind(ToolNode, made)[0].arguments["text"] == FoundValue(path=counter.id)


def test_a_tool_asks_as_it_did_and_one_that_is_gone_is_a_fault():
    granted = (GrantedTool(spec=tool("fetch"), policy="auto"),)
    made = workflow_of(run_of([(FETCH, "1"), (call("g", "gone", a=1), "2")], tools=granted))
    assert [node.policy for node in of_kind(ToolNode, made)] == ["auto", "ask"]
    assert any(node == "gone" and "there is none" in text for node, text in found(made))


def test_of_a_workflows_run_it_is_the_workflow_that_ran():
    assert workflow_of(a_workflow_run()) == SUMMING


def test_a_run_of_many_calls_is_cut_and_says_so():
    calls = [call(f"c{number}", "now") for number in range(MOST_CALLS + 50)]
    made = workflow_of(run_of(*([(one, "12")] for one in calls)))
    assert len(of_kind(ToolNode, made)) == MOST_CALLS
    assert "now was one too many (50)" in of_kind(NoteNode, made)[0].note
    huge = workflow_of(run_of([(call("w", "write_file", path="/a", text="x" * LARGEST), "ok")]))
    assert "256 kB is the most" in found(huge)[0][1]


def test_any_beginning_of_any_run_can_be_made_into_one():
    runs = [the_sum(), a_workflow_run(), [], *(trace_of(*hostile_run(n, PAYLOADS, "s1")) for n in range(4))]
    for entries in runs:
        for end in {0, 1, 2, 3, 5, 8, len(entries) // 2, len(entries)}:
            found(workflow_of(entries[:end]))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("Read this"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
CALLS = st.builds(
    lambda name, arguments: ToolCall(call_id="", name=name, arguments=arguments),
    st.sampled_from(["fetch", "now", "", "a__b", "join_task", "spawn_task", "find_tools"]) | st.text(max_size=9),
    st.dictionaries(st.text(max_size=6), VALUES, max_size=3),
)


@given(
    st.lists(st.lists(st.tuples(CALLS, VALUES | st.just("= 15")), max_size=4), max_size=4),
    st.text(max_size=20),
    st.randoms(),
)
def test_no_trace_is_too_odd(steps, answer, chance: Random):
    numbered = [
        [
            (one.model_copy(update={"call_id": f"{place}.{number}"}), chance.choice([None, *[json.dumps(value)] * 9]))
            for number, (one, value) in enumerate(step)
        ]
        for place, step in enumerate(steps)
    ]  # fmt: skip
    made = workflow_of(run_of(*numbered, message="Read this", answer=answer))
    ids = [node.id for node in made.nodes]
    assert len(ids) == len(set(ids))
    for text in (text for _, text in found(made)):
        assert "circle" not in text and "does not come before it" not in text and "may have been skipped" not in text, (
            text
        )
