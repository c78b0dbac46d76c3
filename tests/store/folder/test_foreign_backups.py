"""Backups that were not taken of this data folder: what they hold is restored, what they decide is not."""

import asyncio
import hashlib
import json
import re
import shutil
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.agents import Limits, PromptBehaviour, ToolChoice, VariableSet, WorkingCopy, new_agent
from app.domain.errors import StorageError
from app.domain.evals.experiments import Column, Experiment, Plan
from app.domain.keys import ApiKey
from app.domain.provenance import Trigger
from app.domain.providers import KeptKey
from app.domain.sessions import QueuedMessage, Session
from app.domain.settings import Preferences, WebSearch
from app.domain.tool_settings import HttpTool, McpGrant, McpServer, SavedCall, StdioTransport, ToolSetting, TrustedFile
from app.domain.trace import run_row
from app.domain.values import now
from app.store.folder import foreign_data
from app.store.folder.archive import KEY_FILE, MANIFEST, SIGNATURE
from app.store.folder.backups import put_back
from app.store.folder.folder import DataFolder
from app.store.folder.migrations import back_up
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from app.store.journal.frames import frame
from app.store.keys.provider_keys import KeptKeys
from tests.traces import asked, finished, started, trace_of

STORE = Path(foreign_data.__file__).parent.parent
DROPPED = {"api_keys", "sent_requests", "trusted_files", "providers", "provider_files", "unsent_runs", "uploads"}
"""Tables of which a foreign backup restores nothing."""
SERVER = McpServer(name="files", transport=StdioTransport(command="evil"), seen_tools=())
GRANT = McpGrant(url="https://evil.example/mcp", client_id="x", token_endpoint="https://evil.example/token")
WIDE = PromptBehaviour(
    tools=(ToolChoice(name="shell"), ToolChoice(name="look", policy="off")), limits=Limits(run_cost=1e9)
)


async def filled(path: Path) -> DataFolder:
    """An open folder in which everything there is was allowed."""
    data, moment = DataFolder.open(path), now()
    agent = new_agent("Cook", WIDE, taken_slugs=()).model_copy(update={"is_public": True})
    await data.agents.create(agent)
    await data.working_copies.save(WorkingCopy(agent_id=agent.id, origin=1, behaviour=WIDE, updated_at=moment))
    await data.variable_sets.save(VariableSet(id="v", agent_id=agent.id, name="mild", values={"a": "b"}))
    waiting = QueuedMessage(id="q", text="next", created_at=moment, trigger=Trigger(kind="api_key", name="nightly"))
    session = Session(
        id="s1", agent_id=agent.id, agent_slug="cook", variant=1, title="Soup", runs=("r1",), queue=(waiting,),
        tools_allowed=("shell",), tried=WIDE, created_at=moment, updated_at=moment,
    )  # fmt: skip
    await data.sessions.create(session)
    await data.mcp_servers.create(SERVER.model_copy(update={"consented": SERVER.transport.digest, "grant": GRANT}))
    await data.http_tools.create(HttpTool(name="send-it", description="", address="https://evil.example"))
    await data.tool_settings.save("look", ToolSetting(enabled=False, description="Looks."))
    await data.trusted_files.save(TrustedFile(path=str(path / "tools" / "soup.py"), trusted_at=moment))
    await data.saved_calls.save(SavedCall(id="c", tool="look", name="once", created_at=moment))
    await data.api_keys.create(ApiKey(id="k", name="nightly", secret_digest="0", last_four="abcd", created_at=moment))
    await data.providers.change("openai", lambda one: one.model_copy(update={"address": "https://evil.example/v1"}))
    await KeptKeys(data._database).save(KeptKey(name="openai:key", place="file"))
    search = WebSearch(provider="searxng", address="https://evil.example", key_variable="HOME")
    await data.preferences.save(
        Preferences(http_hosts=("*",), web_search=search, day_cost=0, keep_runs=1, default_model="demo/x")
    )
    await data.experiments.create(trial(agent.id))
    entries = trace_of(started(), asked("soup?"), finished())
    writer = await data.traces.create("r1", "s1")
    for entry in entries:
        writer.append(entry)
    await writer.close()
    await data.rows.save(run_row(entries, alive=False).model_copy(update={"cost": -1e9, "started_at": moment}))
    (path / "tools").mkdir()
    (path / "tools" / "soup.py").write_text("def soup(): ...")
    return data


def trial(agent_id: str) -> Experiment:
    """Left while it ran, with a tool that it calls for real without asking."""
    plan = Plan(
        dataset_id="d", dataset_slug="d", dataset_version=1, cases="", case_ids=("a",), agent_id=agent_id,
        agent_slug="cook", columns=(Column(variant=1, tried=WIDE),), tools="live", live=("shell",),
    )  # fmt: skip
    by = Trigger(kind="api_key", name="nightly")
    there = "tcp://elsewhere.example:8786"
    return Experiment(id="e", plan=plan, status="running", by=by, workers=there, created_at=now(), updated_at=now())


async def foreign(tmp_path: Path) -> Path:
    """A backup of another folder, in the backups of an open one's path."""
    there = await filled(tmp_path / "there")
    backup = await there.backups.take()
    await there.close()
    here = tmp_path / "here" / "backups"
    here.mkdir(parents=True)
    return Path(shutil.copy(there.backups.path(backup.name), here / "theirs.zip"))


async def restored(path: Path, name: str) -> DataFolder:
    """The folder at the start after that backup was restored."""
    data = DataFolder.open(path)
    await data.backups.restore(name)
    await data.close()
    return DataFolder.open(path)


def allowed(data: DataFolder) -> dict[str, object]:
    """All that was allowed in the folder."""
    [agent], [copy] = data.agents.all(), [data.working_copies.find(data.agents.all()[0].id)]
    wanted, session, [column] = data.preferences.get(), data.sessions.get("s1"), data.experiments.get("e").plan.columns
    behaviours = [agent.active_variant.behaviour, *([copy.behaviour] if copy else []), session.tried, column.tried]
    return {
        "policies": {tool.policy for behaviour in behaviours for tool in behaviour.tools if tool.name == "shell"},
        "run cost": {behaviour.limits.run_cost for behaviour in behaviours},
        "public": agent.is_public,
        "in the session": session.tools_allowed,
        "queued by": session.queue[0].trigger.kind,
        "grants": [server.grant for server in data.mcp_servers.all()],
        "consented": [bool(server.consented) for server in data.mcp_servers.all()],
        "seen": [server.seen_tools for server in data.mcp_servers.all()],
        "request": data.tool_settings.get("send_it").enabled,
        "trusted": bool(data.trusted_files.find(str(data.path / "tools" / "soup.py"))),
        "keys": [key.name for key in data.api_keys.all()],
        "providers": [one.address for one in data.providers.all()],
        "hosts": wanted.http_hosts,
        "search": wanted.web_search.provider,
        "day cost": wanted.day_cost,
        "kept runs": wanted.keep_runs,
        "spent today": data.rows.cost_since(now() - timedelta(days=1)),
        "runs of ours": [row.run_id for row in [data.rows.get("r1")] if row and not row.imported],
    }


NOTHING = {
    "policies": {"ask"}, "run cost": {1.0}, "public": False, "in the session": (), "queued by": "page",
    "grants": [None],
    "consented": [False], "seen": [None], "request": False, "trusted": False, "keys": [], "providers": [], "hosts": (),
    "search": "off", "day cost": 10.0, "kept runs": 0, "spent today": 0, "runs of ours": [],
}  # fmt: skip


async def test_what_was_allowed_elsewhere_is_not_allowed_here(tmp_path: Path):
    backup = await foreign(tmp_path)
    data = await restored(tmp_path / "here", backup.name)
    assert allowed(data) == NOTHING
    await data.close()


async def test_what_a_foreign_backup_holds_is_restored(tmp_path: Path):
    data = await restored(tmp_path / "here", (await foreign(tmp_path)).name)
    [agent], session = data.agents.all(), data.sessions.get("s1")
    assert (agent.name, session.title, session.queue[0].text, session.runs) == ("Cook", "Soup", "next", ("r1",))
    assert len((await data.traces.read("r1")).entries) == 3 and data.rows.get("r1")
    assert [one.name for one in (*data.mcp_servers.all(), *data.http_tools.all())] == ["files", "send-it"]
    assert data.tool_settings.get("look") == ToolSetting(enabled=False, description="Looks.")
    assert data.variable_sets.of(agent.id) and data.saved_calls.of("look") and data.preferences.get().default_model
    assert [tool.policy for tool in agent.active_variant.behaviour.tools] == ["ask", "off"]
    assert [one.name for one in KeptKeys(data._database).all()] == ["openai:key"], "keys stay as they are"
    assert (data.path / "tools" / "soup.py").exists() and data.damaged == ()
    await data.close()


async def test_a_backup_of_this_folder_brings_back_what_was_allowed(tmp_path: Path):
    data = await filled(tmp_path / "here")
    before, backup = allowed(data), await data.backups.take()
    assert await data.backups.to_allow_again(backup.name) == []
    await data.backups.remove((await data.backups.take()).name)
    await data.close()
    again = await restored(tmp_path / "here", backup.name)
    assert allowed(again) == before and before["keys"] == ["nightly"]
    second = await again.backups.take()
    assert await again.backups.to_allow_again(second.name) == [], "the key has outlived the restore"
    await again.close()


async def test_one_that_was_downloaded_and_brought_back_and_one_before_a_migration_are_ours(tmp_path: Path):
    data = await filled(tmp_path)
    name = (await data.backups.take()).name
    downloaded = data.backups.path(name).read_bytes()

    async def pieces():
        yield downloaded

    arrived = await data.backups.receive(pieces())
    before_migration = await asyncio.to_thread(back_up, tmp_path, 1)
    for one in (arrived.name, before_migration.name):
        assert await data.backups.to_allow_again(one) == []
    await data.close()


async def test_what_is_to_be_allowed_again_is_listed_before(tmp_path: Path):
    backup = await foreign(tmp_path)
    data = DataFolder.open(tmp_path / "here")
    listed = "\n".join(await data.backups.to_allow_again(backup.name))
    for said in (
        *("MCP servers: files.", "HTTP tools: send-it.", "tool files: soup.py.", "providers: openai."),
        *("API keys, to be made anew: nightly.", "Hosts that tools may ask", "Tools ask before each call"),
    ):
        assert said in listed
    assert not data.backups.waits
    await data.close()


def changed(source: Path, target: Path, *, database: bytes | None = None, signature: bytes | None = None) -> Path:
    """The backup with another main database, which its manifest names, and another signature."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        said = json.loads(old.read(MANIFEST))
        for name in set(old.namelist()) - {MANIFEST, SIGNATURE}:
            content = database if database is not None and name == "app.tdb" else old.read(name)
            said["files"][name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            new.writestr(name, content)
        new.writestr(MANIFEST, json.dumps(said))
        if (written := old.read(SIGNATURE) if signature is None else signature) != b"none":
            new.writestr(SIGNATURE, written)
    return target


@pytest.mark.parametrize("signature", [None, b"none", b"", b"0" * 64, b"\xff" * 64, b"0" * 10_000])
async def test_whoever_changes_a_backup_of_ours_makes_it_one_of_theirs(tmp_path: Path, signature: bytes | None):
    data = await filled(tmp_path)
    taken = data.backups.path((await data.backups.take()).name)
    changed(taken, taken.with_name("changed.zip"), signature=signature)
    assert await data.backups.to_allow_again("changed.zip") != []
    await data.backups.restore("changed.zip")
    await data.close()
    again = DataFolder.open(tmp_path)
    assert allowed(again) == NOTHING
    await again.close()


async def test_without_the_key_no_backup_is_ours_and_the_key_is_in_none(tmp_path: Path):
    data = await filled(tmp_path)
    taken = data.backups.path((await data.backups.take()).name)
    key = (tmp_path / KEY_FILE).read_bytes()
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(taken) as archive:
        assert not [name for name in archive.namelist() if key in archive.read(name)]
    (tmp_path / KEY_FILE).unlink()
    assert await data.backups.to_allow_again(taken.name) != []
    assert not (tmp_path / KEY_FILE).exists(), "to look makes no key"
    await data.close()


async def test_what_an_earlier_version_left_to_be_restored_is_judged_before_it_is_opened(tmp_path: Path):
    data = await filled(tmp_path / "data")
    await data.backups.restore((await data.backups.take()).name)
    await data.close()
    waiting = tmp_path / "data" / "restore"
    (waiting / "judged").unlink()
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "data", killed)
    foreign_data.judged(killed / "restore", killed / "restore" / "runs")  # and killed before it was noted
    (killed / "restore" / "runs").replace(killed / "moved")
    shutil.rmtree(killed / "runs")
    (killed / "moved").replace(killed / "runs")
    for path in (tmp_path / "data", killed):
        assert put_back(path, Disk())
        again = DataFolder.open(path)
        assert allowed(again) == NOTHING
        await again.close()


def test_each_table_there_is_is_judged_or_left_out():
    named = re.findall(r'Documents\(\w+, "(\w+)"', "".join(path.read_text() for path in STORE.rglob("*.py")))
    assert len(named) > 12
    assert {*named, "schema"} == set(foreign_data._RULES) | DROPPED


HOSTILE = [
    frame([("schema", {1: {"number": -5}}), ("http_tools", {1: {"id": "x", "value": {"name": {}}}})]),
    frame([("agents", {1: [1, 2]})]),  # type: ignore[dict-item]
    frame([("sessions", {1: {"id": "s", "value": {"id": 1}}}), ("secrets", {1: {"value": {}}})]),
    frame([("mcp_servers", {1: {"id": 7, "value": None}}), ("preferences", {1: {"id": "preferences", "value": []}})]),
    b'00000000 ["agents",{"1":{}}]\n',
    b"no line of a journal",
]


async def test_an_experiment_of_another_folder_goes_on_with_nothing(tmp_path: Path):
    data = await restored((await foreign(tmp_path)).parent.parent, "theirs.zip")
    experiment = data.experiments.get("e")
    assert (experiment.status, experiment.by.kind) == ("cancelled", "page")
    assert (experiment.plan.tools, experiment.plan.live, experiment.workers) == ("recorded", (), "")
    await data.close()


async def test_a_newer_database_than_its_manifest_says_is_refused_in_words(tmp_path: Path):
    data = await filled(tmp_path)
    taken = data.backups.path((await data.backups.take()).name)
    changed(taken, taken.with_name("newer.zip"), database=frame([("schema", {1: {"number": 99}})]))
    for asked_for in (data.backups.to_allow_again, data.backups.restore):
        with pytest.raises(StorageError, match="newer Agent Playground"):
            await asked_for("newer.zip")
    assert not data.backups.waits and not (tmp_path / "restore.unpacking").exists()
    await data.close()


async def test_a_database_in_which_nothing_fits_is_restored_as_one_with_nothing_in_it(tmp_path: Path):
    data = await filled(tmp_path)
    taken = data.backups.path((await data.backups.take()).name)
    changed(taken, taken.with_name("hostile.zip"), database=b"".join(HOSTILE))
    await data.backups.restore("hostile.zip")
    await data.close()
    again = DataFolder.open(tmp_path)
    assert again.agents.all() == again.mcp_servers.all() == again.sessions.recent() == []
    assert again.damaged == () and again.preferences.get() == Preferences()
    assert JournalDB(tmp_path / "app.tdb").tables() <= set(foreign_data._RULES)
    assert await again.traces.ids() == [], "a run without a row would be taken for one of ours"
    await again.close()
