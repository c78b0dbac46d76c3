"""A data folder as somebody leaves it who used everything: how one is written, and what has to be read from it again.

`python -m tests.store.used_folder FOLDER` writes one by the app as it is, with what it holds in `held.json` beside
the data. Each released format has one in `formats/`, so that no later app loses any of it.
"""

import asyncio
import json
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from pydantic import JsonValue

from app.domain.agents import ToolChoice, Variable, VariableSet, WorkingCopy, archived, promoted, with_variant
from app.domain.comparisons import ColumnChoice, Comparison
from app.domain.edits import EditedArguments, EditedMessage, EditedResult
from app.domain.errors import WorkbenchError
from app.domain.evals.cases import CaseContent, DatasetChanges, new_cases
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.experiments import Experiment
from app.domain.evals.scorers import Contains, Trajectory
from app.domain.evals.scores import NOTE, RATING, TAG, given
from app.domain.events import MessageAdded, ToolReturned
from app.domain.forks.forks import ForkPlan
from app.domain.messages import FilePart, ImagePart
from app.domain.provenance import Trigger
from app.domain.settings import SavedFilter
from app.domain.tool_settings import (
    HttpField,
    HttpTool,
    HttpTransport,
    McpServer,
    SavedCall,
    StdioTransport,
    ToolSetting,
    TrustedFile,
)
from app.domain.tools import ToolSpec
from app.domain.trace import RunFilter, conversation, status, steps, totals
from app.domain.trace.fork_view import fork_of
from app.domain.values import new_id, now
from app.engine.run.run import Run
from app.store.folder.folder import DataFolder
from app.workbench import Workbench
from tests.waiting import until

HELD = "held.json"
CSV = b"region,total\nnorth,10\nsouth,32\n"
SUM = "What is 5 + 10, then multiply by 3?"
TRIGGER = Trigger(kind="page")


class User:
    """Does what people do, and waits until it is done."""

    def __init__(self, workbench: Workbench) -> None:
        self.bench = workbench
        self.agent = workbench.agents.by_slug("assistant")

    async def say(self, session_id: str, text: str, *attachments: FilePart) -> Run:
        return await self.ended(await self.bench.chat.send(session_id, text, attachments))

    async def ended(self, live: Run) -> Run:
        await until(lambda: live.control.waits or not live.alive)
        return live

    async def session(self, *said: str, **how: object) -> str:
        session = await self.bench.chat.new_session(self.agent.id, **how)  # type: ignore[arg-type]
        for text in said:
            await self.say(session.id, text)
        return session.id

    async def change(self, session_id: str, **changes: object) -> None:
        await self.bench.sessions.change(session_id, lambda one: one.model_copy(update=changes))


async def write(folder: Path) -> None:
    """A folder of this app's format, with all that can be stored; its runs are made by the demo model."""
    bench = Workbench.open(folder, demo_pace=0)
    await bench.start()
    await bench.warm()
    user = User(bench)
    for part in (_agents, _tools, _settings, _conversations, _forks, _comparison, _jobs, _keys, _imports, _evals):
        await part(user)
    await bench.data.backups.take()
    left = await _left(user)
    await bench.close()
    (folder / "lock").unlink(missing_ok=True)
    shutil.rmtree(folder / "cache")
    again = DataFolder.open(folder)
    held = await view(again)
    await again.close()
    (folder / "lock").unlink()
    assert isinstance(held["runs"], dict) and left in held["runs"]
    (folder / HELD).write_text(json.dumps(held, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


async def _agents(user: User) -> None:
    agents, agent = user.bench.agents, user.agent
    wordy = agent.active_variant.behaviour.model_copy(
        update={"system_prompt": "You help {{who}}. Be brief.", "variables": (Variable(name="who", default="Ada"),)}
    )
    asking = wordy.model_copy(update={"tools": tuple(ToolChoice(name=tool.name, policy="ask") for tool in wordy.tools)})
    await agents.change(agent.id, lambda one: with_variant(one, wordy, origin=1, note="Shorter"))
    await agents.change(agent.id, lambda one: with_variant(one, asking, origin=2, note="Asks before it calls"))
    await agents.change(agent.id, lambda one: archived(promoted(one, 2), 1))
    typed = wordy.model_copy(update={"system_prompt": "You help {{who}} with sums."})
    await user.bench.working_copies.save(WorkingCopy(agent_id=agent.id, origin=2, behaviour=typed, updated_at=now()))
    await user.bench.variable_sets.save(
        VariableSet(id=new_id(), agent_id=agent.id, name="Grace", values={"who": "Grace"})
    )
    await agents.change(agents.by_slug("math-tutor").id, lambda one: one.model_copy(update={"is_public": True}))
    await agents.delete(agents.by_slug("python-analyst").id)
    user.agent = agents.get(agent.id)


async def _tools(user: User) -> None:
    bench, data = user.bench, user.bench.data
    (data.path / "tools").mkdir(exist_ok=True)
    file = data.path / "tools" / "soup.py"
    file.write_text('def soup(of: str) -> str:\n    """Cook a soup."""\n    return f"A soup of {of}"\n')
    await data.trusted_files.save(TrustedFile(path="/home/ada/playground/tools/soup.py", trusted_at=now()))
    await data.tool_settings.save("calculator", ToolSetting(description="Sums only"))
    await data.tool_settings.save("web_search", ToolSetting(enabled=False))
    call = SavedCall(id=new_id(), tool="calculator", name="Sum", arguments={"operation": "add"}, created_at=now())
    await data.saved_calls.save(call)
    await bench.http_tools.create(
        HttpTool(
            name="weather",
            description="The weather of a town.",
            address="https://weather.example/{town}",
            fields=(HttpField(name="town", place="address"),),
            headers={"Authorization": "$WEATHER_KEY"},
        )
    )
    notes = StdioTransport(command="notes-server", args=("--quiet",), env={"NOTES": "$NOTES_KEY"})
    spec = ToolSpec(name="notes__find", description="Find a note.", parameters={"type": "object"}, kit="notes")
    servers = (
        McpServer(name="notes", transport=notes, consented=notes.digest, seen_tools=(spec,), enabled=False),
        McpServer(name="tickets", transport=HttpTransport(url="https://tickets.example/mcp"), enabled=False),
    )
    for server in servers:
        await data.mcp_servers.create(server)


async def _settings(user: User) -> None:
    data = user.bench.data
    changes = {
        "theme": "dark",
        "day_cost": 5.0,
        "keep_days": 3650,
        "http_hosts": ("*.example.org",),
        "run_filters": (SavedFilter(name="Failed", address="/runs?status=failed"),),
    }
    await data.preferences.save(data.preferences.get().model_copy(update=changes))
    await user.bench.provider_desk.add("My Server", "https://models.example.org/v1")


async def _conversations(user: User) -> None:
    bench = user.bench
    talk = await user.session(SUM, "hello", "What can you do?")
    await user.ended(await bench.chat.edit(talk, bench.sessions.get(talk).runs[1], "Good morning"))
    await user.ended(await bench.chat.regenerate(talk, bench.sessions.get(talk).runs[1]))
    await user.change(talk, title="Sums", renamed=True, pinned=True, composer="Half a sentence", tools_off=("files",))

    files = await user.session()
    digest = await bench.artifacts.put(CSV)
    table = FilePart(artifact=digest, media_type="text/csv", filename="table.csv", size=len(CSV))
    await user.say(files, "Read table.csv", table)
    await user.say(files, "Write a file /notes.txt with the text 'bread and milk'")
    await user.say(files, "Simulate a server error")
    await user.say(await user.session(variables={"who": "Bob"}, model="demo/agent"), "Calculate 7 times 6")

    stopped = await bench.chat.send(await user.session(), "hello")
    stopped.stop()
    await stopped.ended()
    asked = await user.session(variant=3)
    waiting = await user.say(asked, SUM)
    await bench.pauses.decide(waiting.run_id, waiting.control.awaited or "", "always")
    await waiting.ended()
    removed = await user.session("hello")
    await bench.sessions.delete(removed)
    await bench.rows.delete([bench.sessions.get(removed).runs[0]])


async def _forks(user: User) -> None:
    bench = user.bench
    session = await user.session(SUM)
    run_id = bench.sessions.get(session).runs[0]
    entries = (await bench.runs.trace(run_id)).entries
    said = next(entry.seq for entry in entries if isinstance(entry.event, MessageAdded))
    returned = next(entry for entry in entries if isinstance(entry.event, ToolReturned))
    assert isinstance(returned.event, ToolReturned)
    call = returned.event.result.call_id
    plans = (
        ForkPlan(seq=said, edits=(EditedMessage(seq=said, text="What is 2 + 2?"),)),
        ForkPlan(seq=returned.seq, edits=(EditedResult(call_id=call, text="2 + 2 = 5"),)),
        ForkPlan(
            seq=returned.seq,
            edits=(EditedArguments(call_id=call, arguments={"operation": "add", "x": 1, "y": 1}),),
            system_prompt="You are terse.",
        ),
    )
    forked = [await user.ended(await bench.forks.start(run_id, plan, trigger=TRIGGER)) for plan in plans]
    second = await user.ended(await bench.forks.start(forked[0].run_id, ForkPlan(seq=said), trigger=TRIGGER))
    await user.say(second.started.session_id, "And now times 10?")


async def _comparison(user: User) -> None:
    compare, agent = user.bench.compare, user.agent
    columns = [ColumnChoice(agent_id=agent.id, variant=1), ColumnChoice(agent_id=agent.id, variant=2)]
    comparison = await compare.start(columns)
    for text in (SUM, "hello"):
        for sent in await compare.send(comparison.id, text):
            assert isinstance(sent, Run)
            await sent.ended()
    await compare.vote(comparison.id, 0, comparison.sessions[1])
    await compare.open_column(comparison.id, comparison.sessions[1])
    run_id = user.bench.comparisons.get(comparison.id).turns[0].runs[comparison.sessions[1]]
    for name, value, label, note in (
        (RATING, 1.0, "", "Right"),
        (TAG, None, "sums", ""),
        (NOTE, None, "", "Look again"),
    ):
        await user.bench.scores.give(given(run_id, name, TRIGGER, value=value, label=label, note=note))


async def _jobs(user: User) -> None:
    bench = user.bench
    job = await bench.jobs.start(user.agent.id, SUM, trigger=TRIGGER)
    await user.ended(job)
    coordinator = bench.agents.by_slug("coordinator")
    session = await bench.chat.new_session(coordinator.id)
    await user.say(session.id, 'Hand over these tasks: "What is 1 + 1?" and "What is 2 + 2?"')


async def _keys(user: User) -> None:
    bench = user.bench
    every = await bench.keys.create("CI", days=3650)
    some = await bench.keys.create("n8n", agents=["assistant"])
    await bench.keys.revoke((await bench.keys.create("Old")).key.id)
    for made in (every, some):
        trigger = Trigger(kind="api_key", name=made.key.name)
        session = await bench.chat.new_session(user.agent.id)
        await (await bench.chat.send(session.id, SUM, trigger=trigger, purpose="api")).ended()


async def _imports(user: User) -> None:
    exports = user.bench.exports
    run_id = user.bench.rows.find(RunFilter()).rows[0].run_id
    await exports.import_bundle((await exports.export(run_id, "bundle")).content)


async def _evals(user: User) -> None:
    """A dataset of a recorded case and a written one, and an experiment of two variants on it."""
    bench = user.bench
    dataset = await bench.collecting.new_dataset("Sums", "What the assistant has to get right.")
    scorers = (Contains(texts=("45",)), Trajectory())
    await bench.collecting.change_dataset(dataset.id, DatasetChanges(scorers=scorers, primary="contains"))
    session = await user.session(SUM)
    await bench.collecting.from_run(dataset.id, bench.sessions.get(session).runs[0], note="Still right?")
    written = CaseContent(input="hello", turns=("What can you do?",), tags=("greeting",), must_pass=True)
    await bench.collecting.add_all(dataset.id, new_cases(dataset.id, [written]))
    draft = ExperimentDraft(dataset=dataset.slug, agent=user.agent.slug, variants=(1, 2), as_recorded=True, repeats=2)
    experiment = await bench.experimenting.plan(draft, TRIGGER)
    await bench.experimenting.start(experiment.id)
    await until(lambda: not bench.experimenting.is_live(experiment.id))


async def _left(user: User) -> str:
    """A run that waits for a person when the app ends, with a message queued behind it; its id."""
    session = await user.session(variant=3)
    waiting = await user.say(session, SUM)
    await user.bench.queue.add(session, "And then?")
    return waiting.run_id


async def view(folder: DataFolder) -> dict[str, JsonValue]:
    """What people find in the folder: everything that may not be lost, as JSON."""
    rows = folder.rows.find(RunFilter(behind=True), limit=1000).rows
    described: dict[str, JsonValue] = {row.run_id: await _run(folder, row.run_id) for row in rows}
    return {
        "runs": described,
        "sessions": {one.id: _dumped(one, but=("updated_at",)) for one in _sessions(folder)},
        "agents": {one.slug: _dumped(one) for one in (*folder.agents.all(), *folder.agents.deleted())},
        "comparisons": [_dumped(one) | {"votes": _votes(folder, one)} for one in folder.comparisons.recent()],
        "scores": {row.run_id: _dumped(folder.scores.marks(row.run_id)) for row in rows},
        "working copies": [
            _dumped(one) for agent in folder.agents.all() if (one := folder.working_copies.find(agent.id)) is not None
        ],
        "variable sets": [_dumped(one) for agent in folder.agents.all() for one in folder.variable_sets.of(agent.id)],
        "keys": {one.name: _dumped(one, but=("last_used_at",)) for one in folder.api_keys.all()},
        "MCP servers": [_dumped(one) for one in folder.mcp_servers.all()],
        "HTTP tools": [_dumped(one) for one in folder.http_tools.all()],
        "saved calls": [_dumped(one) for one in folder.saved_calls.of("calculator")],
        "tools": {name: _dumped(folder.tool_settings.get(name)) for name in ("calculator", "web_search")},
        "providers": [_dumped(one) for one in folder.providers.all()],
        "preferences": _dumped(folder.preferences.get()),
        "datasets": {one.slug: _dumped(one) for one in folder.datasets.all()},
        "cases": {case.id: _dumped(case) for one in folder.datasets.all() for case in folder.cases.of(one.id)},
        "experiments": {one.id: await _experiment(folder, one) for one in folder.experiments.recent()},
        "backups": {one.name: one.size for one in await folder.backups.all()},
    }


async def _experiment(folder: DataFolder, experiment: Experiment) -> JsonValue:
    cells = sorted(folder.cells.of(experiment.id), key=lambda cell: cell.id)
    cases = (await folder.artifacts.get(experiment.plan.cases)).decode().splitlines()
    return {**_dumped(experiment), "cells": [_dumped(cell) for cell in cells], "lines": len(cases)}


def _votes(folder: DataFolder, comparison: Comparison) -> JsonValue:
    """By turn: the session whose answer was voted for."""
    return {
        str(number): session_id
        for number, turn in enumerate(comparison.turns)
        for session_id, run_id in turn.runs.items()
        if folder.scores.marks(run_id).votes
    }


def _sessions(folder: DataFolder) -> list:
    rows = folder.rows.find(RunFilter(behind=True), limit=1000).rows
    known = {row.session_id for row in rows} | {one.id for one in folder.sessions.recent(limit=1000)}
    known |= {column for one in folder.comparisons.recent() for column in one.sessions}
    found = []
    for session_id in sorted(known):
        with suppress(WorkbenchError):
            found.append(folder.sessions.get(session_id))
    return found


async def _run(folder: DataFolder, run_id: str) -> JsonValue:
    row, trace = folder.rows.get(run_id), await folder.traces.read(run_id)
    assert row is not None and trace.damaged == ()
    fork = fork_of(trace.entries)
    return {
        "session": row.session_id,
        "agent": row.agent.slug,
        "variant": row.agent.variant,
        "trigger": row.trigger.model_dump(mode="json"),
        "request": row.request,
        "status": status(trace.entries, alive=False),
        "events": [entry.event.type for entry in trace.entries],
        "steps": [step.type for step in steps(trace.entries)],
        "said": [message.text for message in conversation(trace.entries)],
        "tokens": totals(trace.entries).usage.total_tokens,
        "fork of": None if fork is None else fork[1].run_id,
        "files": await _contents(folder, trace.entries),
    }


async def _contents(folder: DataFolder, entries: list) -> JsonValue:
    parts = [part for message in conversation(entries) for part in message.attachments]
    return {
        part.artifact: len(await folder.artifacts.get(part.artifact))
        for part in parts
        if isinstance(part, FilePart | ImagePart)
    }


def _dumped(value, but: tuple[str, ...] = ()) -> JsonValue:
    return value.model_dump(mode="json", exclude=set(but))


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1])))
