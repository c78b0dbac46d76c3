"""Calls of views: behind the same gates as the model's, told in runs below the one that brought the view."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.apps import ViewOf
from app.domain.errors import Conflict, NotFound, ToolError
from app.domain.events import Decision, MessageAdded, PauseRequested, ToolCalled, ToolReturned
from app.domain.forks.forks import ForkPlan
from app.domain.provenance import Trigger
from app.domain.tools import Policy
from app.domain.trace import RunFilter, StoredTrace, call_views, finished
from app.engine.run.run import Run
from app.engine.sessions.view_calls import A_SECOND
from app.engine.sessions.views import Views
from app.workbench import Workbench
from tests.deciding import resolve
from tests.tools.mcp.test_views import with_apps
from tests.waiting import until

AGAIN, FREE, HELD = {"title": "again"}, {"title": "free"}, {"title": "held"}


def decide(run: Run, decision: Decision = "approve") -> None:
    """Decide on the pause that the run waits at."""
    assert run.control.awaited is not None
    resolve(run, run.control.awaited, decision)


@dataclass
class Desk:
    """A workbench with a server whose tools bring views along, and runs whose calls brought one."""

    workbench: Workbench
    views: Views
    counted: Path

    async def brought(self, policy: Policy = "auto") -> ViewOf:
        agents, tools = self.workbench.agents, (ToolChoice(name="apps__show", policy=policy),)
        agent = await agents.create(new_agent("Shows", PromptBehaviour(tools=tools), taken_slugs=agents.slugs()))
        session = await self.workbench.chat.new_session(agent.id)
        live = await self.workbench.chat.send(session.id, "call apps__show with title=Hello")
        if policy == "ask":
            await until(lambda: live.control.awaited)
            decide(live)
        await live.ended()
        [call] = call_views(live.entries).values()
        assert call.result is not None and not call.result.failed, call.result
        return ViewOf(run_id=live.run_id, call_id=call.call_id, server="apps", tool=call.name)

    def calls(self) -> list[str]:
        """The tools that the server was asked for, as it counts itself."""
        return self.counted.read_text().split()

    def below(self, view: ViewOf) -> list[Run]:
        runs = (self.workbench.runs.recent(run_id) for run_id in self.views.runs_of(view.run_id, view.call_id))
        return [run for run in runs if run is not None]

    async def asked(self, view: ViewOf) -> Run:
        """The run of the view's calls once it waits for a person."""
        await until(lambda: self.views.asked(view))
        [run] = self.below(view)
        return run


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    workbench = Workbench.open(tmp_path / "data", demo_pace=0)
    await workbench.start()
    await workbench.mcp.add(with_apps(tmp_path / "counted"))
    await workbench.mcp.consent("apps")
    await until(lambda: [one for one in workbench.mcp.states() if one.status == "ready"])
    views = Views(workbench.chat, workbench.mcp.app_server, quiet=0.05)
    yield Desk(workbench, views, tmp_path / "counted")
    await views.close()
    await workbench.close()


def told(run: Run) -> list[str]:
    return [type(entry.event).__name__ for entry in run.entries]


async def test_a_call_is_told_in_a_run_below_and_never_to_the_model(desk: Desk):
    view = await desk.brought()
    before = (await desk.workbench.runs.trace(view.run_id)).entries
    returned = await desk.views.call(view, "show", AGAIN)
    assert returned["structuredContent"] == AGAIN and returned["_meta"] == {"seen": "by the view"}
    [below] = desk.below(view)
    await below.ended()  # once the view is quiet
    assert told(below) == ["RunStarted", "MessageAdded", "ToolCalled", "ToolReturned", "RunFinished"]
    assert below.started.trigger.kind == "app" and below.started.parent is not None
    assert below.started.parent.call_id == view.call_id
    assert (await desk.workbench.runs.trace(view.run_id)).entries == before
    rows = (await desk.workbench.runs.lists.page(RunFilter())).rows
    assert [row.run_id for row in rows] == [view.run_id]


async def test_what_asks_a_person_for_the_model_asks_for_the_view_too(desk: Desk):
    view = await desk.brought("ask")
    denied = asyncio.create_task(desk.views.call(view, "show", AGAIN))
    decide(await desk.asked(view), "deny")
    with pytest.raises(ToolError, match="denied"):
        await denied
    allowed = asyncio.create_task(desk.views.call(view, "show", AGAIN))
    run = await desk.asked(view)
    [pause] = desk.views.asked(view)
    assert (pause.asked_by, pause.label) == ("apps", "apps › show")
    decide(run)
    assert (await allowed)["structuredContent"] == AGAIN
    assert desk.calls() == ["show", "show"]


async def test_a_tool_for_views_only_asks_once_and_the_same_call_again_is_counted(desk: Desk):
    view = await desk.brought()
    at_once = [asyncio.create_task(desk.views.call(view, "poll", {})) for _ in range(2)]
    decide(await desk.asked(view))
    await asyncio.gather(*at_once)
    for _ in range(4):
        await desk.views.call(view, "poll", {})
    [below] = desk.below(view)
    await below.ended()
    ends = [entry.event for entry in below.entries if isinstance(entry.event, ToolReturned)]
    assert sum(end.times for end in ends) == 6 and len(ends) <= 3
    assert sum(isinstance(entry.event, PauseRequested) for entry in below.entries) == 1
    assert desk.calls().count("poll") == 6


async def made_again(desk: Desk, view: ViewOf) -> "asyncio.Task[object]":
    """A call that was made before with the same arguments, and waits for its answer."""
    await desk.views.call(view, "show", FREE)
    await desk.views.call(view, "show", HELD)
    begun = len(desk.calls())
    again = asyncio.create_task(desk.views.call(view, "show", HELD))
    await until(lambda: len(desk.calls()) > begun)
    return again


def titles_and_ends(run: Run) -> tuple[list[object], list[str]]:
    """What was asked for in the calls, and how they ended."""
    called = [entry.event.arguments["title"] for entry in run.entries if isinstance(entry.event, ToolCalled)]
    ended = [entry.event for entry in run.entries if isinstance(entry.event, ToolReturned)]
    assert all(one.times == 1 for one in ended)
    return called, [one.result.status for one in ended]


async def test_a_call_made_again_is_told_where_another_came_between(desk: Desk):
    view = await desk.brought()
    again = await made_again(desk, view)
    await desk.views.call(view, "show", FREE)
    await again
    [below] = desk.below(view)
    await below.ended()
    assert titles_and_ends(below) == (["free", "held", "free", "held"], ["ok"] * 4)


async def test_calls_made_again_while_another_one_goes_on_are_told(desk: Desk):
    view, elsewhere = await desk.brought(), await desk.brought()
    await desk.views.call(view, "show", AGAIN)
    begun = len(desk.calls())
    other = asyncio.create_task(desk.views.call(view, "show", HELD))
    await until(lambda: len(desk.calls()) > begun)
    await desk.views.call(view, "show", AGAIN)
    await desk.views.call(elsewhere, "show", FREE)
    await other
    [below] = desk.below(view)
    await below.ended()
    ends = [entry.event for entry in below.entries if isinstance(entry.event, ToolReturned)]
    assert sum(end.times for end in ends) == 3


async def test_calls_made_again_are_told_where_somebody_stops_the_run(desk: Desk):
    view = await desk.brought()
    for _ in range(3):
        await desk.views.call(view, "show", FREE)
    [below] = desk.below(view)
    below.stop()
    await below.ended()
    ends = [entry.event for entry in below.entries if isinstance(entry.event, ToolReturned)]
    assert sum(end.times for end in ends) == 3


async def test_a_call_made_again_is_told_where_its_view_is_closed_meanwhile(desk: Desk):
    view = await desk.brought()
    again = await made_again(desk, view)
    again.cancel()
    await asyncio.wait([again])
    [below] = desk.below(view)
    await below.ended()
    assert titles_and_ends(below) == (["free", "held", "held"], ["ok", "ok", "cancelled"])


async def test_a_view_gets_no_tool_past_its_gates(desk: Desk):
    view = await desk.brought()
    refused = {"secret": "no tool", "wrong": "agent has no tool", "apps__show": "no tool", "calculator": "no tool"}
    for name, why in refused.items():
        with pytest.raises(ToolError, match=why):
            await desk.views.call(view, name, {})
    elsewhere = view.model_copy(update={"server": "other"})
    with pytest.raises(ToolError, match="no MCP server"):
        await desk.views.call(elsewhere, "show", {})
    with pytest.raises(ToolError, match="256 KiB"):
        await desk.views.call(view, "show", {"title": "x" * 300_000})
    assert desk.calls() == ["show"]


async def test_a_file_that_a_view_saves_is_in_the_trace_of_its_calls(desk: Desk):
    view = await desk.brought()
    part = await desk.views.save(view, "notes.txt", b"noted")
    assert await desk.workbench.artifacts.get(part.artifact) == b"noted"
    [below] = desk.below(view)
    await below.ended()
    [call] = call_views(below.entries).values()
    assert call.result is not None
    assert (call.name, call.arguments, call.result.parts[-1]) == ("ui/download-file", {"name": "notes.txt"}, part)
    page = (await desk.workbench.exports.export(below.run_id, "html")).content.decode()
    assert "Save notes.txt (5 bytes)" in page


async def test_a_view_that_asks_again_and_again_reads_no_conversation_each_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    view, read, trace = await desk.brought(), [], desk.workbench.runs.trace

    async def counted(run_id: str) -> StoredTrace:
        read.append(run_id)
        return await trace(run_id)

    monkeypatch.setattr(desk.workbench.runs, "trace", counted)
    await desk.views.call(view, "show", AGAIN)
    first = len(read)
    for _ in range(3):
        await desk.views.call(view, "show", AGAIN)
    assert first > 0 and len(read) == first
    await desk.workbench.rows.delete([view.run_id])
    with pytest.raises((NotFound, ToolError)):
        await desk.views.call(view, "show", AGAIN)


async def test_a_flood_is_refused(desk: Desk):
    view, began = await desk.brought(), time.monotonic()
    answers = await asyncio.gather(
        *(desk.views.call(view, "show", {"title": f"{n}"}) for n in range(60)), return_exceptions=True
    )
    taken = A_SECOND * (1 + int(time.monotonic() - began))
    assert sum(isinstance(one, ToolError) for one in answers) >= 60 - taken
    assert len(desk.calls()) <= 1 + taken


async def test_a_view_that_is_closed_leaves_no_call_and_no_question_behind(desk: Desk):
    view = await desk.brought("ask")
    call = asyncio.create_task(desk.views.call(view, "show", AGAIN))
    below = await desk.asked(view)
    call.cancel()
    await asyncio.wait([call])
    assert desk.views.asked(view) == []
    await below.ended()
    assert finished(below.entries) is not None
    assert [entry.event.result.status for entry in below.entries if isinstance(entry.event, ToolReturned)] == [
        "cancelled"
    ]
    assert desk.calls() == ["show"]


async def test_a_stopped_run_ends_its_call_and_the_next_call_begins_another(desk: Desk):
    view = await desk.brought("ask")
    call = asyncio.create_task(desk.views.call(view, "show", AGAIN))
    below = await desk.asked(view)
    desk.workbench.runs.stop(below.run_id)
    with pytest.raises(ToolError, match="stopped"):
        await call
    await below.ended()
    assert below.status == "cancelled"
    with pytest.raises(Conflict):
        await desk.workbench.runs.resume(below.run_id)


async def test_with_its_server_off_a_view_is_refused_in_words(desk: Desk):
    view = await desk.brought()
    await desk.workbench.mcp.enable("apps", False)
    with pytest.raises(ToolError, match="not connected"):
        await desk.views.call(view, "show", AGAIN)
    with pytest.raises(ToolError, match="switched off"):
        await desk.views.ask(view, "resources/list", {})


async def test_the_last_word_of_a_view_goes_along_with_the_next_message_once(desk: Desk):
    view = await desk.brought()
    await desk.views.tell(view, "One row is chosen")
    await desk.views.tell(view, "Three rows are chosen")
    session_id = desk.workbench.runs.row(view.run_id).session_id
    request = await desk.workbench.chat.next_request(session_id, "What is chosen?")
    assert "Three rows" in request.messages[-1].text
    live = await desk.workbench.chat.send(session_id, "What is chosen?")
    await live.ended()
    said = [entry.event for entry in live.entries if isinstance(entry.event, MessageAdded)][:2]
    assert [one.origin for one in said] == ["user", "app"]
    assert said[1].message.text.startswith("[From the app of apps__show (apps), not written by the user]")
    assert "One row" not in said[1].message.text
    assert desk.workbench.sessions.get(session_id).app_contexts == ()


async def test_a_view_out_of_a_bundle_calls_nothing_and_neither_does_a_fork_of_it(desk: Desk):
    view = await desk.brought()
    assert await desk.views.is_of_here(view)
    packed = await desk.workbench.exports.export(view.run_id, "bundle")
    run_id = await desk.workbench.exports.import_bundle(packed.content)
    imported = view.model_copy(update={"run_id": run_id})
    entries = (await desk.workbench.runs.trace(run_id)).entries
    [part] = [
        part for one in call_views(entries).values() if one.result for part in one.result.parts if part.type == "app"
    ]
    assert (await desk.workbench.artifacts.get(part.artifact)).startswith(b"<!doctype html>")
    assert b"by the view" in await desk.workbench.artifacts.get(part.given)
    fork = await desk.workbench.forks.start(run_id, ForkPlan(seq=entries[-2].seq), trigger=Trigger(kind="page"))
    await fork.ended()
    for one in (imported, imported.model_copy(update={"run_id": fork.run_id})):
        with pytest.raises(ToolError, match="imported run"):
            await desk.views.call(one, "show", AGAIN)
        with pytest.raises(ToolError, match="imported run"):
            await desk.views.tell(one, "words")
        with pytest.raises(ToolError, match="imported run"):
            await desk.views.save(one, "notes.txt", b"noted")
    assert desk.calls() == ["show"]
