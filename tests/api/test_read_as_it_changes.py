"""Runs and experiments that begin or end while somebody reads of them: what is said to be over lacks nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from app.api.following.attaching import kept_part
from app.domain.evals.cases import CaseContent, new_cases
from app.domain.evals.scorers import Contains
from app.domain.provenance import Trigger
from app.domain.trace import RunFilter, RunRow, conversation
from app.engine.run import storing
from app.engine.runs import told_again
from app.workbench import Workbench
from tests.api.over import UNHURRIED, api_over, opened, served
from tests.api.routes.test_run_stream import STORY, SUM, begun, entries_in, read
from tests.export.runs import PNG
from tests.waiting import until

PAGE = Trigger(kind="page")


def after_once(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, then: Callable[[], Awaitable[object]]
) -> None:
    """Once that has given what it was asked for, `then` happens before anybody has it; the first time only."""
    asked, done = getattr(owner, name), []

    async def given(*args: object, **more: object) -> object:
        found = await asked(*args, **more)
        if not done:
            done.append(name)
            await then()
        return found

    monkeypatch.setattr(owner, name, given)


async def left(folder: Path) -> str:
    """A run whose process ended under it."""
    workbench = opened(folder, UNHURRIED)
    await workbench.start()
    live = await begun(workbench, STORY)
    await until(lambda: len(live.draft.text) > 50)
    await workbench.close()
    return live.run_id


async def test_a_run_that_goes_on_while_its_stored_part_is_read_is_streamed_to_its_end(tmp_path, monkeypatch):
    run_id = await left(tmp_path)
    workbench = opened(tmp_path)
    await workbench.start()

    async def go_on() -> None:
        await (await workbench.chat.resume(run_id)).ended()

    after_once(monkeypatch, workbench.runs.traces, "read", go_on)
    async with served(api_over(workbench)) as port:
        messages = await asyncio.wait_for(read(port, run_id), 60)
    whole = (await workbench.runs.trace(run_id)).entries
    await workbench.close()
    assert entries_in(messages) == [entry.model_dump(mode="json") for entry in whole]
    assert messages[-1]["status"] == "completed"


async def test_a_run_that_is_only_just_beginning_is_not_said_to_be_left(client, workbench, monkeypatch):
    save, said = workbench.rows.save, []

    async def seen(row: RunRow) -> RunRow:
        kept = await save(row)
        found = await workbench.runs.lists.page(RunFilter())
        said.extend(one.status for one in found.rows)
        said.append((await client.get(f"/runs/{row.run_id}")).json()["data"]["status"])
        return kept

    monkeypatch.setattr(workbench.rows, "save", seen)
    await client.post("/agents/assistant/run", json={"input": SUM})
    assert said[:2] == ["running", "running"] and "interrupted" not in said


async def test_a_run_that_ends_while_its_files_are_read_is_not_exported_as_left(client, workbench, monkeypatch):
    part = await kept_part(workbench, PNG, media_type="image/png", filename="a.png")
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    live = await workbench.chat.send(session.id, SUM, (part,))
    after_once(monkeypatch, workbench.exports._artifacts, "get", live.ended)
    told = (await client.get(f"/runs/{live.run_id}/export", params={"format": "jsonl"})).text
    assert live.status == "completed" and '"interrupted"' not in told


async def test_a_turn_that_begins_while_a_conversation_is_written_is_no_other_branch(client, workbench, monkeypatch):
    live = await begun(workbench, SUM)
    await live.ended()
    own = live.started.session_id

    async def say_more() -> None:
        await workbench.chat.send(own, SUM)

    after_once(monkeypatch, workbench.session_exports._exports, "clean", say_more)
    told = (await client.get(f"/sessions/{own}/export", params={"format": "html"})).text
    assert "Total cost" in told and "Other branches" not in told


async def tried(workbench: Workbench, client, times: int) -> list[str]:
    dataset = await workbench.collecting.new_dataset("Greetings")
    await workbench.collecting.add_all(dataset.id, new_cases(dataset.id, [CaseContent(input="hello")]))
    scorers = [Contains(texts=("demo",)).model_dump(mode="json")]
    draft = {"dataset": "greetings", "agent": "assistant", "variants": [1, 1], "scorers": scorers}
    made = [(await client.post("/experiments", json=draft)).json()["data"]["id"] for _ in range(times)]
    for one in made:
        await workbench.experimenting.over(one)
    return made


async def test_an_experiment_that_is_scored_again_still_counts_what_was_tried(client, workbench):
    [own] = await tried(workbench, client, 1)
    told = (await client.post(f"/experiments/{own}/score-again")).json()["data"]
    assert (told["status"], told["progress"]["ended"]) == ("running", 2)


async def test_an_experiment_that_is_deleted_while_all_are_listed_is_only_not_there(client, workbench, monkeypatch):
    first, second = await tried(workbench, client, 2)

    async def delete() -> None:
        await workbench.experimenting.delete(first)

    after_once(monkeypatch, workbench.experimenting, "progress", delete)
    answer = await client.get("/experiments")
    assert (answer.status_code, [one["id"] for one in answer.json()["data"]]) == (200, [second])


async def test_a_job_that_begins_while_they_are_listed_is_none_that_has_ended(unhurried, monkeypatch):
    monkeypatch.setattr(storing, "LONG", 1)
    agent = unhurried.agents.by_slug("assistant").id
    await unhurried.jobs.start(agent, STORY, trigger=PAGE)

    async def another() -> None:
        await unhurried.jobs.start(agent, STORY, trigger=PAGE)

    after_once(monkeypatch, unhurried.runs.lists, "unfinished", another)
    assert (await unhurried.jobs.page(live=False)).rows == []


async def test_a_left_run_that_ends_while_it_is_read_keeps_its_end(tmp_path, monkeypatch):
    run_id = await left(tmp_path)
    workbench = opened(tmp_path)
    await workbench.start()
    await workbench.rows.warm()
    workbench.runs.interrupted_runs.forget(run_id)

    async def go_on() -> None:
        await (await workbench.chat.resume(run_id)).ended()

    after_once(monkeypatch, workbench.runs.traces, "read", go_on)
    for _ in range(2):
        listed = await workbench.runs.lists.page(RunFilter())
    await workbench.close()
    assert [row.status for row in listed.rows] == ["completed"]


async def test_a_row_that_is_told_again_while_its_run_ends_keeps_that_end(unhurried, monkeypatch):
    live = await begun(unhurried, STORY)
    made, loop = told_again._row, asyncio.get_running_loop()

    async def stop() -> None:
        live.stop()
        await live.ended()

    def row(entries):
        found = made(entries)
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        return found

    monkeypatch.setattr(told_again, "_row", row)
    await unhurried.told_again.all()
    await stop()
    assert unhurried.rows.get(live.run_id).status == "cancelled"


async def test_a_run_that_ends_while_it_is_indexed_is_found_after_a_restart(tmp_path, monkeypatch):
    workbench = opened(tmp_path, UNHURRIED)
    await workbench.start()
    live = await begun(workbench, STORY)
    await until(lambda: len(live.draft.text) > 200)
    search, puts = workbench.search, []

    async def stop() -> None:
        live.stop()
        await live.ended()

    def closed_meanwhile(runs) -> None:
        puts.append(runs)
        if len(puts) == 1:
            search._index.__class__.put(search._index, runs)

    after_once(monkeypatch, search._traces, "read", stop)
    monkeypatch.setattr(search._index, "put", closed_meanwhile)
    search.start()
    await until(lambda: puts)
    await search.close()
    [said] = [message.text for message in conversation(live.entries) if message.role == "assistant"]
    await workbench.close()
    again = opened(tmp_path)
    await again.start()
    await again.search.ready()
    found = await again.search.matching(said.split()[3])
    await again.close()
    assert live.run_id in str(found)
