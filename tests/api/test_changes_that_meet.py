"""Changes that meet: none is lost, none is taken back by an older one."""

import asyncio
import threading
from pathlib import Path

import pytest

from app.domain.comparisons import ColumnChoice
from app.domain.errors import Conflict
from app.domain.evals.cases import CaseContent, new_cases
from app.domain.evals.scores import RATING, given
from app.domain.provenance import Trigger
from app.domain.tool_settings import HttpTool, McpServer, StdioTransport
from app.store.journal.database import JournalDB
from app.store.keys.provider_keys import KeptKeys, ProviderKeys
from app.store.records.tables import HttpTools, McpServers
from app.tools.http.secret_refs import REFERENCE, SecretRefs
from app.tools.http.tools import HttpToolSource
from app.tools.mcp.hub import McpHub
from tests.api.routes.test_run_stream import SUM
from tests.api.routes.test_workflows import SUMS, document
from tests.store.keys.test_provider_keys import Kept
from tests.tools.vault import Keys
from tests.waiting import until

PAGE = Trigger(kind="page")


async def test_a_command_that_is_changed_as_another_one_is_agreed_to_is_not_started(tmp_path: Path):
    servers, started = McpServers(JournalDB(tmp_path / "app.tdb")), tmp_path / "started"
    hub = McpHub(servers, version="1", refs=lambda: SecretRefs(Keys()))
    seen, other = StdioTransport(command="harmless"), StdioTransport(command="touch", args=(str(started),))
    await hub.add(McpServer(name="one", transport=seen))
    _, told = await asyncio.gather(
        hub.change(McpServer(name="one", transport=other)), hub.consent("one", seen), return_exceptions=True
    )
    await asyncio.wait([asyncio.create_task(until(started.exists, 3))])
    [kept] = servers.all()
    await hub.close()
    assert (kept.transport, kept.consented, started.exists(), type(told)) == (other, "", False, Conflict)


async def spoken(workbench):
    session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
    await (await workbench.chat.send(session.id, SUM)).ended()
    return session.id


@pytest.mark.parametrize("how", ["goes on", "is pinned", "is typed in"])
async def test_a_session_in_use_again_while_its_deletion_is_asked_about_stays(workbench, how):
    old, _new = await spoken(workbench), await spoken(workbench)
    expired = await workbench.retention.looked_through(days=0, runs=1)
    assert expired.sessions == (old,)
    if how == "goes on":
        await (await workbench.chat.send(old, SUM)).ended()
    else:
        changes = {"pinned": True} if how == "is pinned" else {"composer": "a long letter"}
        await workbench.sessions.change(old, lambda one: one.model_copy(update=changes))
    await workbench.retention.remove(expired)
    assert workbench.sessions.get(old).deleted_at is None
    assert set(workbench.sessions.get(old).runs) <= {turn.run_id for _, turn in workbench.rows.by_age()}


FORM = HttpTool(name="ask", description="Asks.", address="https://host/", headers={"X-Api-Key": "planted-0123456789"})


async def test_a_request_form_opened_before_another_tab_saved_does_not_name_a_secret_that_is_gone(tmp_path: Path):
    keys, forms = Keys(), HttpTools(JournalDB(tmp_path / "app.tdb"))
    source = HttpToolSource(forms, refs=lambda: SecretRefs(keys))
    await source.create(FORM)
    [opened] = source.forms()  # in two tabs
    await source.save(opened.model_copy(update={"headers": {"X-Api-Key": "planted-9876543210"}}), seen=opened)
    with pytest.raises(Conflict):
        await source.save(opened.model_copy(update={"description": "Asks more."}), seen=opened)
    [kept] = source.forms()
    named = set(REFERENCE.findall(kept.model_dump_json()))
    assert {f"tool:{name}" for name in named} == set(keys.kept)
    assert list(keys.kept.values()) == ["planted-9876543210"]


async def test_a_command_that_another_tab_changed_is_not_written_over(tmp_path: Path):
    servers = McpServers(JournalDB(tmp_path / "app.tdb"))
    hub = McpHub(servers, version="1", refs=lambda: SecretRefs(Keys()))
    await hub.add(McpServer(name="one", transport=StdioTransport(command="x")))
    [opened] = servers.all()
    first, second = (McpServer(name="one", transport=StdioTransport(command=command)) for command in ("y", "z"))
    await hub.change(first, opened.transport)
    with pytest.raises(Conflict, match="changed meanwhile"):
        await hub.change(second, opened.transport)
    [kept] = servers.all()
    await hub.close()
    assert kept.transport == first.transport


async def test_a_server_switched_off_in_another_tab_stays_off_when_its_command_is_saved(tmp_path: Path):
    servers = McpServers(JournalDB(tmp_path / "app.tdb"))
    hub = McpHub(servers, version="1", refs=lambda: SecretRefs(Keys()))
    await hub.add(McpServer(name="one", transport=StdioTransport(command="x")))
    [opened] = servers.all()
    await hub.enable("one", False)
    await hub.change(opened.model_copy(update={"transport": StdioTransport(command="y")}))
    [kept] = servers.all()
    await hub.close()
    assert (kept.transport, kept.enabled) == (StdioTransport(command="y"), False)


class SlowToDelete(Kept):
    """A keyring that asks its owner before it deletes something."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.agreed = threading.Event(), threading.Event()

    def delete_password(self, service: str, username: str) -> None:
        if "openai" in username:
            self.asked.set()
            self.agreed.wait(30)
        super().delete_password(service, username)


async def test_a_key_saved_while_the_one_before_is_still_being_deleted_is_kept(tmp_path: Path):
    keyring, database = SlowToDelete(), JournalDB(tmp_path / "app.tdb")
    keys = ProviderKeys(KeptKeys(database), tmp_path, keyring=lambda: keyring, seconds=20)
    await keys.save("openai:key", "sk-planted-0123456789-OLD1")
    forgetting = asyncio.create_task(keys.forget("openai:key"))
    await asyncio.to_thread(keyring.asked.wait, 10)
    saving = asyncio.create_task(keys.save("openai:key", "sk-planted-0123456789-NEW1"))
    await asyncio.wait([saving], timeout=0.5)
    keyring.agreed.set()
    await asyncio.gather(forgetting, saving)
    again = ProviderKeys(KeptKeys(database), tmp_path, keyring=lambda: keyring)
    await again.ready()
    found = keys.get("openai:key"), again.get("openai:key")
    database.close()
    assert found == ("sk-planted-0123456789-NEW1",) * 2


async def test_two_thumbs_at_once_are_one(workbench):
    session = workbench.sessions.get(await spoken(workbench))
    [run] = session.runs
    scores = workbench.scores
    await asyncio.gather(*(scores.give(given(run, RATING, PAGE, value=value)) for value in (1.0, 0.0)))
    assert [score.value for score in scores.of(run)] == [0.0]


async def test_two_votes_at_once_are_one(workbench):
    agent = workbench.agents.by_slug("assistant")
    columns = [ColumnChoice(agent_id=agent.id, variant=agent.active) for _ in range(3)]
    comparison = await workbench.compare.start(columns)
    for live in await workbench.compare.send(comparison.id, SUM):
        await live.ended()
    one, two, three = comparison.sessions
    vote = workbench.compare.vote
    await vote(comparison.id, 0, three)
    await asyncio.gather(vote(comparison.id, 0, one), vote(comparison.id, 0, two))
    comparison = workbench.compare.comparisons.get(comparison.id)
    assert len(workbench.compare._votes(comparison, 0)) == 1


async def test_what_another_request_changed_of_a_case_while_a_file_was_read_stays(client, workbench, monkeypatch):
    dataset = await workbench.collecting.new_dataset("Greetings")
    [case] = await workbench.collecting.add_all(dataset.id, new_cases(dataset.id, [CaseContent(input="hello")]))
    upload = (await client.post("/uploads", files={"file": ("a.txt", b"hello")})).json()["data"]
    put, done = workbench.artifacts.put, []
    address = f"/datasets/greetings/cases/{case.id}"

    async def slow(content: bytes, **more) -> str:
        digest = await put(content, **more)
        if not done:
            done.append(1)
            assert (await client.put(address, json={"must_pass": True})).status_code == 200
        return digest

    monkeypatch.setattr(workbench.artifacts, "put", slow)
    told = await client.put(address, json={"attachments": [{"sha256": upload["sha256"]}]})
    assert told.status_code == 200 and done
    kept = workbench.collecting.case(dataset.id, case.id)
    assert (kept.must_pass, len(kept.attachments)) == (True, 1)


async def test_two_requests_that_change_different_things_of_a_workflow_both_count(client):
    made = (await client.post("/workflows", json=SUMS)).json()["data"]
    more = document({"id": "two", "kind": "output", "value": {"kind": "text", "text": "{{question.text}}"}})
    address = f"/workflows/{made['slug']}"
    both = ({"workflow": more}, {"limits": {"total_time": 9}})
    told = await asyncio.gather(*(client.put(address, json=body) for body in both))
    assert [one.status_code for one in told] == [200, 200], [one.text for one in told]
    found = (await client.get(address)).json()["data"]
    assert [node["id"] for node in found["workflow"]["nodes"]][-1] == "two"
    assert found["limits"]["total_time"] == 9


async def test_of_two_tabs_that_save_a_tool_file_at_once_one_is_told(workbench):
    files, both = workbench.user_tools, []
    await files.new_file("a")
    for _ in range(8):
        text = files.source("a.py")
        told = await asyncio.gather(
            *(files.save("a.py", f"{text}# {tab}\n", expected=text) for tab in range(2)), return_exceptions=True
        )
        both.append([type(one) for one in told].count(Conflict))
    assert both == [1] * 8
