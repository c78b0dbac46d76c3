"""Cases out of traces."""

import pytest

from app.domain.errors import NotFound, TooLarge, WorkbenchError
from app.domain.evals.cases import LONGEST_INPUT, MOST_TURNS, ExpectedCall, new_cases
from app.domain.evals.saving import saved_step, saved_turns
from app.domain.events import FileChanged, Forked, MessageAdded, ToolReturned
from app.domain.messages import FilePart, ImagePart, user_message
from app.domain.provenance import Imported
from app.domain.trace.recorded import recorded_calls
from tests.traces import (
    ADD,
    BEGAN,
    asked,
    call,
    called,
    finished,
    ran,
    returned,
    said,
    started,
    the_sum,
    trace_of,
)

CALLS = (
    ExpectedCall(name="calculator", arguments={"operation": "add", "x": 5, "y": 10}),
    ExpectedCall(name="calculator", arguments={"operation": "multiply", "x": 15, "y": 3}),
)


def test_a_run_becomes_a_case_with_its_answer_and_its_calls():
    content, record = saved_turns([the_sum()], note="A good one")
    assert content.input == "What is 5 + 10, then multiply by 3?"
    assert content.reference == "The answer is 45."
    assert content.expected_calls == CALLS
    assert content.note == "A good one"
    assert [found.returned.result.text for found in recorded_calls(record)] == ["5 + 10 = 15", "15 * 3 = 45"]


def test_a_step_expects_what_was_done_as_of_it_and_records_what_came_later_too():
    first, record = saved_step(the_sum(), 1)
    assert (first.reference, first.expected_calls) == (None, CALLS[:1])
    assert len(recorded_calls(record)) == 2
    third, _ = saved_step(the_sum(), 3)
    assert (third.reference, third.expected_calls) == ("The answer is 45.", CALLS)
    with pytest.raises(NotFound, match="no step 4: it has 3"):
        saved_step(the_sum(), 4)


def test_a_step_after_a_word_in_between_begins_there():
    steered = MessageAdded(message=user_message("In French, please."), origin="steer")
    entries = trace_of(
        started(),
        asked("Add."),
        called(),
        said("", ADD),
        *ran(ADD, "15"),
        steered,
        called("m2"),
        said("Quinze."),
        finished(),
    )
    content, record = saved_step(entries, 2)
    assert content.input == "In French, please."
    assert [message.role for message in content.history] == ["user", "assistant", "tool"]
    assert (content.reference, content.expected_calls, record) == ("Quinze.", (), ())
    whole, _ = saved_turns([entries])
    assert (whole.input, whole.turns, whole.expected_calls) == ("Add.", ("In French, please.",), CALLS[:1])


def test_what_was_said_before_comes_along_and_a_view_s_word_is_no_turn():
    view = MessageAdded(message=user_message("The map shows Paris."), origin="app")
    history = (user_message("Hello"), said("Hi.").message)
    entries = trace_of(started(history=history), view, asked("Where?"), called(), said("Paris."), finished())
    content, _ = saved_turns([entries])
    assert content.input == "Where?"
    assert [message.text for message in content.history] == ["Hello", "Hi.", "The map shows Paris."]


def test_attachments_and_files_come_along_by_their_hash():
    picture = ImagePart(artifact="a" * 64, media_type="image/png", alt="chart.png")
    table = FilePart(artifact="b" * 64, media_type="text/csv", filename="t.csv", size=3, path="/t.csv")
    change = FileChanged(call_id="c1", path="/out.csv", before=None, after="c" * 64)
    entries = trace_of(
        started(files={"/t.csv": "b" * 64}, variables={"tone": "dry"}),
        MessageAdded(message=user_message("", picture, table), origin="user"),
        called(),
        said("", ADD),
        *ran(ADD, "15")[:1],
        change,
        *ran(ADD, "15")[1:],
        said("Done."),
        finished(),
    )
    content, record = saved_turns([entries])
    assert content.attachments == (picture, table)
    assert (content.files, content.variables) == ({"/t.csv": "b" * 64}, {"tone": "dry"})
    assert content.headline == "chart.png, t.csv"
    assert recorded_calls(record)[0].within == [change]


def test_several_turns_are_one_case_whose_calls_are_told_apart():
    one = trace_of(started(), asked("Add."), said("", ADD), *ran(ADD, "15"), said("15."), finished())
    again = call("c1", operation="add", x=1, y=1)
    late_file = FilePart(artifact="b" * 64, media_type="text/csv", filename="t.csv", size=3)
    two = trace_of(
        started(history=(user_message("Add."),)),
        MessageAdded(message=user_message("And 1 + 1?", late_file), origin="user"),
        said("", again),
        *ran(again, "2"),
        said("2."),
        finished(),
        run_id="r2",
    )
    content, record = saved_turns([one, two])
    assert (content.input, content.turns, content.history) == ("Add.", ("And 1 + 1?",), ())
    assert content.reference == "2."
    assert [found.returned.result.text for found in recorded_calls(record)] == ["15", "2"]
    assert content.note == "Not in this case: 1 files that were sent after the first message."


def test_failed_calls_are_not_expected_but_recorded():
    entries = trace_of(
        started(), asked("Add."), said("", ADD), *ran(ADD, "no", status="error"), said("Sorry."), finished()
    )
    content, record = saved_turns([entries])
    assert content.expected_calls == ()
    assert [type(entry.event) for entry in record] == [type(event) for event in ran(ADD, "no")]


def test_a_run_without_an_answer_expects_nothing():
    cut = trace_of(started(), asked("Tell."), called(), said("It w", partial=True), finished("cancelled"))
    content, record = saved_turns([cut])
    assert (content.reference, content.expected_calls, record) == (None, None, ())


def test_an_answer_in_json_is_expected_as_what_it_says():
    entries = trace_of(started(output_schema={"type": "object"}), asked("Sum."), said('{"sum": 15}'), finished())
    assert saved_turns([entries])[0].reference == {"sum": 15}
    assert (
        saved_turns([trace_of(started(), asked("Sum."), said('{"sum": 15}'), finished())])[0].reference == '{"sum": 15}'
    )


@pytest.mark.parametrize(
    ("answer", "reference"),
    [('{"cut": "\\ud83d"}', {"cut": "?"}), ("[" * 100_000, "[" * 100_000)],
    ids=["half", "deep"],
)
def test_an_answer_that_no_case_could_keep_as_json_is_expected_as_far_as_it_can(answer, reference):
    entries = trace_of(started(output_schema={"type": "object"}), asked("Sum."), said(answer), finished())
    content, _ = saved_turns([entries])
    assert content.reference == reference and content.model_dump_json()


def test_a_fork_is_saved_with_what_it_copied_and_an_imported_run_like_any():
    whole = the_sum()
    copied = [entry.event for entry in whole[:7]]
    forked = Forked(run_id="r1", seq=6, prefix_digest="d")
    imported = Imported(run_id="x", app="1.0", at=BEGAN)
    fork = trace_of(
        started(imported=imported),
        *copied[1:],
        forked,
        called("m2"),
        said("15."),
        returned("m2"),
        finished(),
        run_id="r2",
    )
    content, record = saved_turns([fork])
    assert (content.input, content.reference) == ("What is 5 + 10, then multiply by 3?", "15.")
    assert content.expected_calls == CALLS[:1]
    assert sum(isinstance(entry.event, ToolReturned) for entry in record) == 1


def test_what_is_too_much_for_a_case_is_refused_in_words():
    with pytest.raises(TooLarge, match="at most 20 messages"):
        saved_turns([trace_of(started(), *[asked("Again.") for _ in range(MOST_TURNS + 1)])])
    with pytest.raises(TooLarge, match="at most 200,000 characters"):
        saved_turns([trace_of(started(), asked("x" * (LONGEST_INPUT + 1)))])
    with pytest.raises(WorkbenchError, match="Nobody said anything"):
        saved_turns([trace_of(started(), called())])
    with pytest.raises(WorkbenchError, match="Nobody said anything before"):
        saved_step(trace_of(started(), said("Hello!")), 1)


def test_new_cases_keep_their_order_and_differ_in_what_decides_only():
    contents = [saved_turns([the_sum()], note=note)[0] for note in ("one", "two")]
    one, two = new_cases("d1", contents)
    assert one.created_at < two.created_at
    assert one.content != two.content  # another case
    assert one.content == one.model_copy(update={"note": "other"}).content
