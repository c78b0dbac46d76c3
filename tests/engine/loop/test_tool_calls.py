"""Tool calls in runs: time, questions, retries, policies, results that are too big."""

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.domain.agents import ToolChoice
from app.domain.errors import Conflict, ToolCrashed, ToolError, ToolTimedOut
from app.domain.messages import AppPart, FilePart, ImagePart, ToolCall
from app.domain.tools import CallContext, Progress, Question, ToolOutput
from app.domain.trace import RunFilter, open_pauses
from app.engine.loop.results import BIG, HEAD
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.store.folder.folder import DataFolder
from app.tools.function.tool import tool
from app.tools.registry import Registry
from tests.deciding import resolve
from tests.engine.conftest import Bench, QuickClock
from tests.engine.scripted import ScriptedModels, forever, reply
from tests.waiting import until

FORM = {"type": "object", "properties": {"size": {"type": "integer"}}}


@dataclass
class World:
    """What the tools have done."""

    calls: list[str] = field(default_factory=list)
    broken: int = 0
    """How many calls break down before one does not."""
    seconds: float = 0
    """How long the next calls take."""

    def tools(self):
        async def steady(context: CallContext) -> str:
            """May be called twice."""
            return await self.work("steady", context)

        async def once(context: CallContext) -> str:
            """Must not be called twice."""
            return await self.work("once", context)

        async def refuse() -> str:
            """Always refuses."""
            self.calls.append("refuse")
            raise ToolError("Not today.")

        async def spend() -> str:
            """Uses up a time of its own."""
            self.calls.append("spend")
            raise ToolTimedOut("It was stopped after 5 seconds.")

        async def plod(context: CallContext) -> str:
            """Takes its time, and says so."""
            for step in range(16):
                context.progressed(Progress(done=step, total=16))
                await asyncio.sleep(0.1)
            return "there"

        async def wonder(context: CallContext) -> str:
            """Asks first."""
            answer = await context.ask(Question(text="Which size?", asked_by="tailor", form=FORM))
            return f"{answer.decision} {answer.values}"

        async def show(context: CallContext, fail: bool = False) -> str:
            """Brings a view along, and does not come to its end."""
            context.bring(AppPart(uri="ui://show", server="shows", artifact="a" * 64))
            if fail:
                raise ToolError("Nothing to show.")
            return (await context.ask(Question(text="Go on?"))).decision

        async def pages(length: int, context: CallContext) -> ToolOutput:
            """Returns text of that length, and an image."""
            image = await context.keep(b"png", media_type="image/png", filename="x.png")
            return ToolOutput(parts=(*ToolOutput.of_text("ü" * length).parts, image))

        async def read_result(ref: str, context: CallContext, offset: int = 0) -> str:
            """Reads a big result."""
            return (await context.result(ref)).decode()[offset : offset + 10]

        async def kit__cut() -> str:
            """Cuts."""
            return "cut"

        async def kit__sew() -> str:
            """Sews."""
            return "sewn"

        plain = [tool()(one) for one in (once, plod, wonder, show, pages, read_result, kit__cut, kit__sew)]
        return [*plain, *(tool(idempotent=True)(one) for one in (steady, refuse, spend))]

    async def work(self, name: str, context: CallContext) -> str:
        self.calls.append(name)
        context.printed(f"{name} {len(self.calls)}\n")
        await asyncio.sleep(self.seconds)
        if self.broken >= len(self.calls):
            raise ToolCrashed("It fell over.", traceback="line 7 of tool.py")
        return "done"


@pytest.fixture
async def world(tmp_path: Path):
    return World()


@pytest.fixture
async def bench(tmp_path: Path, world: World):
    data = DataFolder.open(tmp_path / "data")
    models, clock, registry = ScriptedModels(), QuickClock(), Registry(world.tools())
    runs = Runs(data.traces, data.rows, models, registry, data.artifacts, clock)
    yield Bench(data, models, clock, runs, Chat(data.agents, data.sessions, runs, registry))
    await runs.close()
    await data.close()


def wants(name: str, **arguments: object) -> ToolCall:
    return ToolCall(call_id="c1", name=name, arguments=arguments)


async def begun(bench: Bench, call: ToolCall, *tools: ToolChoice | str, **limits: float):
    """A run whose model makes the call and then ends."""
    bench.models.say(reply("", call))
    bench.models.say("ok")
    session = await bench.session(*(tools or (call.name,)), **limits)
    return await bench.chat.send(session.id, "go")


async def called(bench: Bench, call: ToolCall, *tools: ToolChoice | str, **limits: float):
    """What came of the call."""
    return await returned(await begun(bench, call, *tools, **limits))


async def returned(live):
    await asyncio.wait_for(live.ended(), 30)
    return next(entry.event for entry in live.entries if entry.event.type == "tool_returned")


async def pause_of(live):
    return (await until(lambda: open_pauses(live.entries)))[0]


async def test_progress_gives_a_call_its_whole_time_again(bench):
    assert (await called(bench, wants("plod"), tool_timeout=1.2)).result.text == "there"


async def test_a_question_waits_for_its_answer_while_no_time_passes(bench):
    live = await begun(bench, wants("wonder"), tool_timeout=0.5, total_time=1.5)
    pause = await pause_of(live)
    assert (pause.reason, pause.question, pause.asked_by, pause.form) == ("question", "Which size?", "tailor", FORM)
    assert (pause.call_id, pause.name, live.status) == ("c1", "wonder", "paused")
    asked_at = time.monotonic()
    await until(lambda: time.monotonic() > asked_at + 1.6, pause=0.02)
    resolve(live, pause.pause_id, "approve", arguments={"size": 42})
    assert (await returned(live)).result.text == "accept {'size': 42}"
    assert live.status == "completed"
    stored = await bench.data.traces.read(live.run_id)
    assert [entry.event for entry in stored.entries] == [entry.event for entry in live.entries]


async def test_a_declined_question_is_told_to_the_tool(bench):
    live = await begun(bench, wants("wonder"))
    resolve(live, (await pause_of(live)).pause_id, "deny")
    assert (await returned(live)).result.text == "decline {}"


async def test_a_call_that_fails_or_is_stopped_has_the_view_that_it_brought_along(bench):
    failed = await begun(bench, wants("show", fail=True))
    stopped = await begun(bench, wants("show"))
    await pause_of(stopped)
    stopped.stop()
    for live, status in ((failed, "error"), (stopped, "cancelled")):
        result = (await returned(live)).result
        assert (result.status, [part.type for part in result.parts]) == (status, ["text", "app"])


async def test_a_run_stopped_at_a_question_ends_its_call(bench):
    live = await begun(bench, wants("wonder"))
    pause = await pause_of(live)
    live.stop()
    assert (await returned(live)).result.status == "cancelled" and live.status == "cancelled"
    with pytest.raises(Conflict):
        resolve(live, pause.pause_id, "approve")


async def test_a_run_left_at_a_question_is_paused_after_a_restart(bench):
    live = await begun(bench, wants("wonder"))
    await pause_of(live)
    await bench.runs.close()
    trace = await bench.data.traces.read(live.run_id)
    assert bench.runs.status(live.run_id, trace.entries) == "paused"


async def test_a_result_that_is_too_big_is_kept_whole_and_told_in_part(bench):
    kept = await called(bench, wants("pages", length=BIG), "pages")
    head, whole, image = kept.result.parts
    assert head.text.startswith("ü" * HEAD + "\n[… the first 4,000 of 20,000 characters (40,000 bytes).")
    assert f'read_result("{whole.artifact[:16]}", offset=4000)' in head.text
    assert isinstance(whole, FilePart) and (whole.filename, whole.size) == ("pages-result.txt", 2 * BIG)
    assert isinstance(image, ImagePart)
    assert (await bench.data.artifacts.get(whole.artifact)).decode() == "ü" * BIG


async def test_a_result_of_usual_size_stays_as_it_is(bench):
    kept = await called(bench, wants("pages", length=BIG // 2))
    assert kept.result.text == "ü" * (BIG // 2) and len(kept.result.parts) == 2


async def test_the_rest_of_a_big_result_is_read_by_its_name_and_nothing_else_is(bench):
    secret = await bench.data.artifacts.put(b"of another session")
    session = await bench.session("pages")
    bench.models.say(reply("", wants("pages", length=BIG)))
    bench.models.say("ok")
    live = await bench.chat.send(session.id, "go")
    ref = (await returned(live)).result.parts[1].artifact[:16]
    reads = [ToolCall(call_id=f"r{n}", name="read_result", arguments={"ref": r}) for n, r in enumerate((ref, secret))]
    bench.models.say(reply("", *reads))
    bench.models.say("ok")
    live = await bench.chat.send(session.id, "read it")
    await asyncio.wait_for(live.ended(), 30)
    results = {e.event.call_id: e.event.result for e in live.entries if e.event.type == "tool_returned"}
    assert results["r0"].text == "ü" * 10
    assert results["r1"].status == "error" and ref in results["r1"].text


async def test_only_an_agent_whose_results_may_be_big_gets_the_reader(bench):
    for tools, granted in [
        ((), []),
        (("read_result",), ["read_result"]),
        (("once",), ["once", "read_result"]),
        (("once", ToolChoice(name="read_result", policy="off")), ["once"]),
        (("once", ToolChoice(name="read_result", policy="ask")), ["once", "read_result"]),
    ]:
        session = await bench.session(*tools)
        request = await bench.chat.next_request(session.id)
        assert [spec.name for spec in request.tools] == granted
    session = await bench.session("once")
    await bench.data.sessions.change(session.id, lambda one: one.model_copy(update={"tools_off": ("read-result",)}))
    assert [spec.name for spec in (await bench.chat.next_request(session.id)).tools] == ["once"]


async def test_an_idempotent_tool_that_breaks_down_is_called_again(bench, world):
    world.broken = 2
    kept = await called(bench, wants("steady"))
    assert (kept.result.status, kept.result.text, kept.attempts) == ("ok", "done", 3)
    assert "steady 1\n[Attempt 1 failed: It fell over. Trying again.]\nsteady 2\n" in kept.printed
    assert bench.clock.waits == [0.2, 0.4]


async def test_it_is_given_up_after_the_retries_allowed_with_the_last_traceback(bench, world):
    world.broken = 9
    kept = await called(bench, wants("steady"), retries=1)
    assert (kept.result.status, kept.attempts, len(world.calls)) == ("error", 2, 2)
    assert kept.traceback == "line 7 of tool.py" and kept.result.text == "It fell over."


async def test_what_took_too_long_is_not_tried_again(bench, world):
    world.seconds = 5
    kept = await called(bench, wants("steady"), tool_timeout=0.05)
    assert (kept.result.status, kept.attempts, len(world.calls)) == ("timeout", 1, 1)


async def test_a_tool_that_used_up_a_time_of_its_own_has_timed_out(bench):
    kept = await called(bench, wants("spend"))
    assert (kept.result.status, kept.attempts, kept.result.text) == ("timeout", 1, "It was stopped after 5 seconds.")


@pytest.mark.parametrize(
    ("name", "limits"),
    [("once", {}), ("refuse", {}), ("steady", {"retry_on_error": False}), ("steady", {"retries": 0})],
)
async def test_nothing_else_is_called_twice(bench, world, name, limits):
    world.broken = 9
    kept = await called(bench, wants(name), **limits)
    assert (kept.result.status, kept.attempts, world.calls) == ("error", 1, [name])


async def test_a_tool_that_is_off_is_neither_offered_nor_run(bench, world):
    kept = await called(bench, wants("once"), "steady", ToolChoice(name="once", policy="off"))
    assert kept.result.status == "unknown" and world.calls == []
    assert "once" not in [spec.name for spec in bench.models.requests[0].tools]


async def test_what_is_said_of_a_tool_goes_before_what_is_said_of_its_kit(bench):
    choices = (ToolChoice(name="kit__cut", policy="off"), ToolChoice(name="kit"))
    session = await bench.session(*choices)
    assert "kit__cut" not in [spec.name for spec in (await bench.chat.next_request(session.id)).tools]
    choices = (ToolChoice(name="kit__cut", policy="ask"), ToolChoice(name="kit"))
    live = await begun(bench, wants("kit__cut"), *choices)
    resolve(live, (await pause_of(live)).pause_id, "approve")
    assert (await returned(live)).result.text == "cut"


async def test_the_rows_of_runs_tell_how_tools_did(bench, world):
    world.broken = 9
    await called(bench, wants("once"))
    found = bench.data.rows.tool_stats()["once"]
    assert (found.calls, found.failures) == (1, 1) and found.p50_ms is not None
    assert list(found.recent_runs) == [row.run_id for row in bench.data.rows.find(RunFilter()).rows]


async def test_what_a_tool_shows_after_its_call_is_not_kept(bench):
    late: list[CallContext] = []

    @tool()
    async def linger(context: CallContext) -> str:
        """Keeps its context."""
        late.append(context)
        return "x"

    registry = Registry([linger])
    runs = Runs(bench.data.traces, bench.data.rows, bench.models, registry, bench.data.artifacts, bench.clock)
    other = Bench(
        bench.data, bench.models, bench.clock, runs, Chat(bench.data.agents, bench.data.sessions, runs, registry)
    )
    bench.models.say(reply("", wants("linger")))
    bench.models.say(forever)
    session = await other.session("linger")
    live = await other.chat.send(session.id, "go")
    await until(lambda: any(entry.event.type == "tool_returned" for entry in live.entries))
    late[0].printed("late")
    late[0].progressed(Progress(done=1))
    assert live.recorder.printed == {} and live.recorder.progress == {}
    await runs.close()
