"""Tools called by a person, outside any run."""

import asyncio
import time

import pytest

from app.domain.errors import Conflict
from app.domain.messages import FilePart
from app.domain.tools import Answer, CallContext, Progress, Question, ToolOutput
from app.engine.by_hand import KEPT_CHARACTERS, KEPT_FINISHED, HandCalls
from app.store.contents.artifacts import Artifacts
from app.tools.function.tool import tool
from app.tools.registry import Registry
from tests.waiting import until


@tool()
async def shout(text: str, context: CallContext) -> str:
    """Shouts."""
    context.printed("shouting\n")
    context.progressed(Progress(done=1, total=2))
    return text.upper()


@tool()
async def hang(context: CallContext) -> str:
    """Never comes back."""
    context.printed("still here\n")
    await asyncio.Event().wait()
    return "never"


@tool()
async def crash() -> str:
    """Always crashes."""
    return {}["missing"]


@tool()
async def plod(context: CallContext) -> str:
    """Takes its time, and says so."""
    began = time.monotonic()
    while (gone := time.monotonic() - began) < 1.2:
        context.progressed(Progress(done=gone, total=1.2))
        await asyncio.sleep(0.02)
    return "there"


@tool()
async def wonder(context: CallContext) -> str:
    """Asks first."""
    answer = await context.ask(Question(text="Sure?"))
    return f"{answer.decision} {answer.values}"


@tool()
async def bulk(characters: int) -> str:
    """Much."""
    return "x" * characters


@tool()
async def note(context: CallContext) -> ToolOutput:
    """Writes a file and returns another."""
    await context.files.write("/note.txt", b"noted")
    return ToolOutput(parts=(await context.keep(b"kept", media_type="text/plain", filename="kept.txt"),))


@tool()
async def recall(ref: str, context: CallContext) -> str:
    """Reads a result, and the file."""
    return f"{(await context.result(ref)).decode()} {(await context.files.read('/note.txt')).decode()}"


@pytest.fixture
def hand_calls(tmp_path):
    return HandCalls(
        Registry([shout, hang, crash, plod, wonder, bulk, note, recall]), Artifacts(tmp_path / "artifacts")
    )


async def outcome_of(call):
    await asyncio.wait_for(call.ended(), 30)
    return call.outcome


async def test_a_call_by_hand_has_an_outcome_with_what_it_printed(hand_calls):
    call = hand_calls.start("shout", {"text": "hi"})
    outcome = await outcome_of(call)
    assert (outcome.status, outcome.text, outcome.printed, call.printed) == ("ok", "HI", "shouting\n", "shouting\n")
    assert outcome.ms > 0 and call.progress is None and hand_calls.get(call.call_id) is call


async def test_what_it_prints_is_seen_while_it_goes_on_and_cancel_ends_it(hand_calls):
    call = hand_calls.start("hang", {})
    await until(lambda: call.printed == "still here\n")
    call.cancel()
    outcome = await asyncio.wait_for(outcome_of(call), 30)
    assert (outcome.status, outcome.printed) == ("cancelled", "still here\n")


async def test_a_call_cancelled_before_its_first_step_still_ends(hand_calls):
    call = hand_calls.start("hang", {})
    call.cancel()
    assert (await outcome_of(call)).status == "cancelled"


@pytest.mark.parametrize(
    ("name", "arguments", "status", "words"),
    [
        ("crash", {}, "error", "KeyError"),
        ("shout", {"text": 5, "more": 1}, "invalid", "more"),
        ("nothing", {}, "unknown", "nothing"),
        ("hang", {}, "timeout", "longer than 1 second and"),
    ],
)
async def test_whatever_goes_wrong_is_its_outcome(hand_calls, name, arguments, status, words):
    outcome = await outcome_of(hand_calls.start(name, arguments, seconds=1))
    assert outcome.status == status and words in outcome.text
    assert ("KeyError" in outcome.traceback) == (name == "crash")


async def test_progress_gives_the_whole_time_again(hand_calls):
    assert (await outcome_of(hand_calls.start("plod", {}, seconds=1))).text == "there"


async def test_a_question_stops_the_time_until_it_is_answered(hand_calls):
    call = hand_calls.start("wonder", {}, seconds=0.5)
    question = await until(lambda: call.question)
    asked_at = time.monotonic()
    await until(lambda: time.monotonic() > asked_at + 0.6, pause=0.01)
    call.answer(Answer(decision="accept", values={"x": 1}))
    assert question.text == "Sure?" and (await outcome_of(call)).text == "accept {'x': 1}"
    assert call.question is None
    with pytest.raises(Conflict):
        call.answer(Answer(decision="accept"))


async def test_files_and_results_of_a_call_are_there_for_the_next_one(hand_calls):
    first = hand_calls.start("note", {})
    part = (await outcome_of(first)).parts[0]
    assert [change.path for change in first.changes] == ["/note.txt"] and isinstance(part, FilePart)
    assert (await outcome_of(hand_calls.start("recall", {"ref": part.artifact[:16]}))).text == "kept noted"
    assert (await outcome_of(hand_calls.start("recall", {"ref": "0" * 16}))).status == "error"


async def test_only_some_finished_calls_are_kept(hand_calls):
    calls = []
    for _ in range(KEPT_FINISHED + 3):
        calls.append(hand_calls.start("shout", {"text": "x"}))
        await outcome_of(calls[-1])
    assert hand_calls.get(calls[0].call_id) is None and hand_calls.get(calls[-1].call_id) is calls[-1]


async def test_long_results_are_forgotten_sooner(hand_calls):
    calls = []
    for _ in range(2):
        calls.append(hand_calls.start("bulk", {"characters": KEPT_CHARACTERS * 3 // 5}))
        await outcome_of(calls[-1])
    hand_calls.start("shout", {"text": "x"})
    assert [hand_calls.get(call.call_id) is call for call in calls] == [False, True]


async def test_closing_ends_what_goes_on(hand_calls):
    call = hand_calls.start("hang", {})
    await until(lambda: call.printed)
    await hand_calls.close()
    assert call.outcome.status == "cancelled"
