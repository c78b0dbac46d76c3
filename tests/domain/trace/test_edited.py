"""What a person edited before a fork went on: told from the fork and the runs that it comes from."""

from app.domain.edits import ActedOut, Edit, EditedArguments, EditedMessage, EditedResult
from app.domain.events import Entry, Forked, MessageAdded, RunStarted
from app.domain.forks.fork_prefix import prefix_for
from app.domain.forks.forks import ForkPlan
from app.domain.messages import system_message
from app.domain.provenance import Imported
from app.domain.trace import Edited, edits_of, origins_of
from tests.processor import at_work, slowness
from tests.traces import ADD, BEGAN, asked, finished, ran, said, started, the_sum, trace_of

WHOLE = the_sum()


def forked(*edits: Edit, seq: int = 6, run_id: str = "fork", whole: list[Entry] | None = None) -> list[Entry]:
    """The run as a fork copies it, with these edits."""
    original = whole or WHOLE
    prefix = prefix_for(original, ForkPlan(seq=seq, edits=edits))
    end = Forked(run_id=original[0].run_id, seq=prefix.seq, prefix_digest="0", edited=prefix.edited)
    return trace_of(*(entry.event for entry in prefix.entries), end, run_id=run_id)


def told(entries: list[Entry], *origins: list[Entry]) -> list[Edited]:
    return list(edits_of(entries, {origin[0].run_id: origin for origin in origins}).all)


def test_an_edited_result_message_and_arguments_say_what_they_were():
    assert told(forked(EditedResult(call_id="c1", text="20")), WHOLE) == [Edited(6, "result", "c1", "5 + 10 = 15")]
    assert told(forked(EditedMessage(seq=1, text="Hi")), WHOLE) == [
        Edited(1, "message", was="What is 5 + 10, then multiply by 3?")
    ]
    other = EditedArguments(call_id="c1", arguments={"operation": "add", "x": 6, "y": 10})
    assert told(forked(other), WHOLE) == [Edited(3, "arguments", "c1", "x: 5")]


def test_a_run_that_is_no_fork_or_of_which_nothing_was_edited_has_no_edits():
    assert told(WHOLE) == []
    assert told(forked(), WHOLE) == []


def test_another_system_prompt_says_what_it_was():
    fork = forked()
    first = fork[0].event
    assert isinstance(first, RunStarted) and isinstance(fork[-1].event, Forked)
    fork[0] = fork[0].model_copy(update={"event": first.model_copy(update={"system": system_message("Be brief.")})})
    fork[-1] = fork[-1].model_copy(update={"event": fork[-1].event.model_copy(update={"edited": (0,)})})
    edits = edits_of(fork, {"r1": WHOLE})
    assert edits.prompt() == Edited(0, "prompt", was="")
    assert edits.all[0].words == "Edited by you; there was nothing before"


def test_where_the_original_is_gone_the_edit_still_says_so():
    assert told(forked(EditedResult(call_id="c1", text="20"))) == [Edited(6, "result", "c1")]
    assert told(forked(EditedMessage(seq=1, text="Hi"))) == [Edited(1, "message")]
    assert told(forked(EditedArguments(call_id="c1", arguments={}))) == [Edited(3, "arguments", "c1")]
    assert Edited(6, "result", "c1").words == "Edited by you; what was there is not stored any more"


async def asked_for(entries: list[Entry], *origins: list[Entry]) -> list[str]:
    there = {origin[0].run_id: origin for origin in origins}

    async def read(run_id: str) -> list[Entry]:
        return there.get(run_id, [])

    return list(await origins_of(entries, read))


async def test_a_run_of_another_copy_of_the_app_is_not_looked_up_by_its_name():
    fork = forked(EditedResult(call_id="c1", text="20"))
    assert await asked_for(fork) == ["r1"]
    first = fork[0].event
    assert isinstance(first, RunStarted)
    imported = first.model_copy(update={"imported": Imported(run_id="r9", app="0.1", at=BEGAN)})
    assert await asked_for([fork[0].model_copy(update={"event": imported}), *fork[1:]]) == []


async def test_a_fork_of_a_fork_tells_of_both():
    first = forked(EditedResult(call_id="c1", text="20"), run_id="first")
    second = forked(EditedMessage(seq=1, text="Hi"), seq=7, run_id="second", whole=first)
    assert await asked_for(second, first, WHOLE) == ["first", "r1"]
    assert [(one.what, one.was) for one in told(second, WHOLE, first)] == [
        ("message", "What is 5 + 10, then multiply by 3?"),
        ("result", "5 + 10 = 15"),
    ]
    again = forked(EditedResult(call_id="c1", text="21"), run_id="second", whole=first)
    assert told(again, WHOLE, first) == [Edited(6, "result", "c1", "20")]
    made_again = forked(EditedArguments(call_id="c1", arguments={"x": 1}), run_id="second", whole=first)
    assert [one.what for one in told(made_again, WHOLE, first)] == ["arguments"]


def test_a_result_given_to_a_call_that_had_none_says_that():
    cut_off = WHOLE[:6]
    edits = told(forked(EditedResult(call_id="c1", text="20"), seq=5, whole=cut_off), cut_off)
    assert [(one.what, one.was) for one in edits] == [("result", "")]


def test_what_is_edited_in_steps_that_are_taken_once_more_says_so():
    acted = ActedOut(first=3, behind=7, answers=1, live=(), edits=(EditedResult(call_id="c1", text="20"),))
    end = Forked(run_id="r1", seq=2, prefix_digest="0", acted_out=acted)
    fork = trace_of(*(entry.event for entry in WHOLE[:3]), end, said("", ADD), *ran(ADD, "20"), finished())
    assert told(fork, WHOLE) == [Edited(6, "result", "c1", "5 + 10 = 15")]
    assert told(fork) == [Edited(6, "result", "c1")]
    called_for_real = trace_of(*(entry.event for entry in WHOLE[:3]), end, said("", ADD), *ran(ADD, "15"), finished())
    assert told(called_for_real, WHOLE) == []


def test_long_old_values_are_shortened_and_failed_ones_named():
    long = Edited(1, "message", was="word " * 50)
    assert len(long.words) < 100 and long.words.endswith("…") and long.is_long
    assert not Edited(1, "message", was="84").is_long
    failed = [*WHOLE[:5], *trace_of(*ran(ADD, "No.", status="error"))]
    failed = trace_of(*(entry.event for entry in failed))
    assert told(forked(EditedResult(call_id="c1", text="20"), whole=failed), failed)[0].was == "error: No."


def test_many_forks_and_many_edits_take_no_time():
    copied = Forked(run_id="gone", seq=1, prefix_digest="0")
    often = trace_of(started(), asked("Hi"), *[copied] * 2000, finished())
    count = 8_000
    whole = Forked(run_id="gone", seq=count, prefix_digest="0", edited=tuple(range(count, 0, -1)))
    much = trace_of(started(), *[asked("Hi")] * count, whole, finished())
    with at_work() as work:
        assert told(often) == [] and len(told(much)) == count
    assert work.seconds < slowness()


def test_a_message_said_meanwhile_is_not_taken_for_an_edited_one():
    fork = [*forked(EditedResult(call_id="c1", text="20")), *trace_of(asked("More"))]
    fork = trace_of(*(entry.event for entry in fork), run_id="fork")
    assert [one.what for one in told(fork, WHOLE)] == ["result"]
    assert isinstance(fork[-1].event, MessageAdded)
