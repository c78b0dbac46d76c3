"""Known secrets in a run: in no event, file or live text, and not in what the model is sent either."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.errors import ModelFailure
from app.domain.events import ModelFailed, RunFinished, ToolReturned
from app.domain.messages import FilePart, ToolCall
from app.domain.provenance import Trigger
from app.domain.secrets.redaction import Redaction, Redactions
from app.domain.secrets.secret import Secret
from app.domain.streaming import TextDelta
from app.domain.tools import CallContext
from app.engine.by_hand import HandCalls
from app.engine.forks.replay import Replayer
from app.engine.loop.results import BIG
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.store.folder.folder import DataFolder
from app.tools.function.tool import tool
from app.tools.registry import Registry
from tests.engine.conftest import QuickClock
from tests.engine.scripted import ScriptedModels, reply
from tests.waiting import until

KEY = "planted-key-0123456789"
SAID = "[redacted: OpenAI key]"


@dataclass
class Bench:
    """Runs over a real store that know one secret."""

    data: DataFolder
    models: ScriptedModels
    runs: Runs
    hand_calls: HandCalls
    chat: Chat
    go_on: asyncio.Event

    async def begin(self, text: str) -> Run:
        tools = tuple(ToolChoice(name=name) for name in ("leak", "leak_much", "break_down", "leak_slowly"))
        behaviour = PromptBehaviour(system_prompt=f"Use {KEY}.", model="scripted/model", tools=tools)
        agent = await self.data.agents.create(new_agent("Tester", behaviour, taken_slugs=self.data.agents.slugs()))
        session = await self.chat.new_session(agent.id)
        return await self.chat.send(session.id, text)

    async def ask(self, text: str = "hi") -> Run:
        live = await self.begin(text)
        await asyncio.wait_for(live.ended(), 30)
        return live

    def files(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.data.path.rglob("*") if path.is_file()}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    data, models, go_on = DataFolder.open(tmp_path / "data"), ScriptedModels(), asyncio.Event()

    async def leak(context: CallContext) -> str:
        """Prints and returns it."""
        context.printed(f"printed {KEY}\n")
        return f"returned {KEY}"

    async def leak_much(context: CallContext) -> str:
        """Returns and writes much."""
        await context.files.write("/a.txt", f"in a file: {KEY}".encode())
        return f"{KEY} " * (BIG // 10)

    async def break_down() -> str:
        """Breaks down with it."""
        raise ValueError(KEY)

    async def leak_slowly(context: CallContext) -> str:
        """Prints it in two pieces."""
        context.printed("see planted-key-")
        await go_on.wait()
        context.printed("0123456789 there")
        return "done"

    redaction = Redaction(lambda: [Secret(KEY, "OpenAI key")])

    redactions = Redactions(said=redaction, streamed=redaction, read=redaction)

    async def ready(_speaker: Trigger) -> Redactions:
        return redactions

    registry = Registry([tool()(function) for function in (leak, leak_much, break_down, leak_slowly)])
    data.keep_out(lambda: redaction)
    runs = Runs(data.traces, data.rows, models, registry, data.artifacts, QuickClock(), redactions=ready)
    hand_calls = HandCalls(registry, data.artifacts, lambda: redactions)
    yield Bench(data, models, runs, hand_calls, Chat(data.agents, data.sessions, runs, registry), go_on)
    await runs.close()
    await data.close()


def all_of(live: Run) -> str:
    return json.dumps([entry.model_dump(mode="json") for entry in live.entries])


async def test_what_a_person_pastes_and_a_model_repeats_is_stored_nowhere(bench: Bench):
    bench.models.say(TextDelta("it is planted-"), TextDelta("key-0123456789"), reply(f"it is {KEY}"))
    live = await bench.ask(f"my key is {KEY}")
    assert KEY not in all_of(live) and all_of(live).count(SAID) == 3  # the prompt's, the person's, the model's
    assert KEY not in repr(bench.models.requests)
    await bench.runs.close()
    assert not [name for name, content in bench.files().items() if KEY.encode() in content]


async def test_the_model_gets_what_the_trace_holds_of_a_tool(bench: Bench):
    calls = [ToolCall(call_id=name, name=name) for name in ("leak", "leak_much", "break_down")]
    bench.models.say(reply("", *calls))
    bench.models.say("done")
    live = await bench.ask()
    returned = {one.event.result.name: one.event for one in live.entries if isinstance(one.event, ToolReturned)}
    leaked, much, broken = (returned[call.name] for call in calls)
    assert leaked.result.text == f"returned {SAID}" and leaked.printed.strip() == f"printed {SAID}"
    assert broken.result.failed and SAID in broken.result.text and SAID in broken.traceback
    kept = next(part for part in much.result.parts if isinstance(part, FilePart))
    assert (await bench.data.artifacts.get(kept.artifact)).startswith(f"{SAID} {SAID}".encode())
    assert KEY not in repr(bench.models.requests)
    assert not [name for name, content in bench.files().items() if KEY.encode() in content]


async def test_a_redacted_run_replays_as_it_was(bench: Bench):
    bench.models.say(reply("", ToolCall(call_id="c", name="leak", arguments={"why": KEY})))
    bench.models.say(reply(f"it is {KEY}"))
    live = await bench.ask(f"say {KEY}")
    replayer = Replayer(bench.models, bench.runs.toolbox, bench.data.artifacts, bench.data.rows)
    report = await replayer.replay(live.entries, live.started)
    assert report.identical, report.words


async def test_a_failure_that_quotes_it_is_recorded_without_it(bench: Bench):
    bench.models.say(ModelFailure("bad_request", f"It said: {KEY}"))
    live = await bench.ask()
    failed = next(entry.event for entry in live.entries if isinstance(entry.event, ModelFailed))
    assert failed.text == f"It said: {SAID}"
    assert isinstance(live.entries[-1].event, RunFinished) and KEY not in all_of(live)


async def test_no_part_of_it_is_shown_live(bench: Bench):
    bench.models.say(reply("", ToolCall(call_id="c", name="leak_slowly")))
    bench.models.say(TextDelta("so: planted-key"), bench.go_on.wait, TextDelta("s are fine"), reply("so: planted-keys"))
    live = await bench.begin("hi")
    assert await until(lambda: live.recorder.printed.get("c")) == "see "
    bench.go_on.set()
    await asyncio.wait_for(live.ended(), 30)
    returned = next(entry.event for entry in live.entries if isinstance(entry.event, ToolReturned))
    assert returned.printed == f"see {SAID} there"


async def test_an_answer_that_the_end_of_the_app_breaks_off_is_kept_to_its_last_word(bench: Bench):
    bench.models.say(TextDelta("so far"), bench.go_on.wait)
    live = await bench.begin("hi")
    await until(lambda: live.draft.text == "so ")
    await bench.runs.close()
    assert (await bench.data.traces.read(live.run_id)).draft.text == "so far"


async def test_a_call_by_hand_gives_it_back_redacted(bench: Bench):
    call = bench.hand_calls.start("leak", {})
    await asyncio.wait_for(call.ended(), 30)
    assert call.outcome is not None
    assert (call.outcome.text, call.outcome.printed.strip()) == (f"returned {SAID}", f"printed {SAID}")


async def test_a_session_is_not_called_after_it(bench: Bench):
    bench.models.say("fine")
    live = await bench.ask(f"{KEY} is my key")
    session = bench.data.sessions.get(live.started.session_id)
    renamed = await bench.data.sessions.change(session.id, lambda one: one.model_copy(update={"title": f"a {KEY}"}))
    assert KEY not in session.title
    assert renamed.title == f"a {SAID}" == bench.data.sessions.get(session.id).title
