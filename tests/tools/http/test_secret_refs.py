"""Secrets of servers and requests: kept with the keys, named in the form, filled in for whoever needs them."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from keyring.backends import fail

from app.domain.errors import Conflict, StorageError, WorkbenchError
from app.domain.tool_settings import HttpTool, HttpTransport, McpServer, StdioTransport, Transport
from app.store.journal.database import JournalDB
from app.store.keys.key_places import FILE
from app.store.keys.provider_keys import KeptKeys, ProviderKeys
from app.store.records.tables import HttpTools, McpServers
from app.tools.http.secret_refs import REFERENCE, SecretRefs
from app.tools.http.tools import HttpToolSource
from app.tools.mcp.hub import McpHub
from tests.store.disks import TroubledDisk, full
from tests.tools.vault import Keys

SECRET = "planted-0123456789"


def server(transport: Transport) -> McpServer:
    return McpServer(name="one", transport=transport)


TRANSPORTS: list[Transport] = [
    StdioTransport(command="x", env={"API_KEY": SECRET}),
    StdioTransport(command="x", env={"DATABASE": f"postgres://me:{SECRET}@host/db"}),
    StdioTransport(command="x", env={"HARMLESS": "ghp_0123456789abcdefghij"}),
    StdioTransport(command="x", args=("--verbose", f"--token={SECRET}")),
    StdioTransport(command="x", args=("serve", "--api-key", SECRET, "--port", "80")),
    HttpTransport(url="https://host/mcp", headers={"Authorization": f"Bearer {SECRET}"}),
    HttpTransport(url="https://host/mcp", headers={"X-Api-Key": SECRET}),
    HttpTransport(url=f"https://me:{SECRET}@host/mcp?x=1"),
    HttpTransport(url=f"https://host/mcp?x=1&api_key={SECRET}#y"),
]


@pytest.mark.parametrize("transport", TRANSPORTS, ids=str)
async def test_a_secret_is_not_in_the_form_and_filled_in_again(transport: Transport):
    keys = Keys()
    sealed = await SecretRefs(keys).transport(transport)
    assert SECRET not in sealed.model_dump_json() and "ghp_" not in sealed.model_dump_json()
    assert len(keys.kept) == 1
    assert (await SecretRefs(keys).filled(server(sealed))).transport == transport
    assert await SecretRefs(keys).transport(sealed) == sealed and len(keys.kept) == 1


TWICE: list[Transport] = [
    StdioTransport(command="x", env={"API_KEY": SECRET}, args=("--header", f"Authorization: Bearer {SECRET}")),
    StdioTransport(command="x", env={"API_KEY": SECRET, "WORDS": f"use {SECRET}, please"}),
    HttpTransport(url=f"https://host/{SECRET}/mcp", headers={"X-Api-Key": SECRET}),
]


@pytest.mark.parametrize("transport", TWICE, ids=str)
async def test_a_secret_is_sealed_wherever_it_stands(transport: Transport):
    keys = Keys()
    sealed = await SecretRefs(keys).of_stored("it").transport(transport)
    assert SECRET not in sealed.model_dump_json() and list(keys.kept.values()) == [SECRET]
    assert (await SecretRefs(keys).filled(server(sealed))).transport == transport


async def test_a_secret_of_another_form_is_sealed_where_nothing_tells_it():
    keys = Keys()
    keys.kept["openai:key"] = SECRET
    sealed = await SecretRefs(keys).transport(StdioTransport(command="x", args=(SECRET,)))
    assert SECRET not in sealed.model_dump_json()
    assert (await SecretRefs(keys).filled(server(sealed))).transport == StdioTransport(command="x", args=(SECRET,))


async def test_a_stored_server_that_would_be_broken_stays_as_it_is(caplog: pytest.LogCaptureFixture):
    keys, secret = Keys(), SECRET + "/+"
    transport = HttpTransport(url=f"https://host/mcp?x={quote(secret, safe='')}", headers={"X-Api-Key": secret})
    assert await SecretRefs(keys).of_stored("the MCP server one").transport(transport) == transport
    assert keys.kept == {}
    assert "The secrets of the MCP server one stay in plaintext" in caplog.text and secret not in caplog.text


PLAIN: list[Transport] = [
    StdioTransport(command="x", args=("-y", "package", "--port=80"), env={"LEVEL": "debug", "API_KEY": "$MY_KEY"}),
    HttpTransport(url="https://host/mcp?page=2", headers={"Authorization": "Bearer $MY_KEY", "Accept": "text/html"}),
]


@pytest.mark.parametrize("transport", PLAIN, ids=str)
async def test_what_is_no_secret_stays_as_it_is(transport: Transport):
    keys = Keys()
    assert await SecretRefs(keys).transport(transport) == transport
    assert keys.kept == {}


async def test_a_secret_goes_with_the_last_form_that_names_it():
    keys = Keys()
    refs = SecretRefs(keys)
    before = await refs.transport(StdioTransport(command="x", env={"A_KEY": SECRET, "B_KEY": SECRET + "b"}))
    assert isinstance(before, StdioTransport)
    after = before.model_copy(update={"env": {"A_KEY": before.env["A_KEY"]}})
    await refs.forget(before.model_dump_json(), after.model_dump_json())
    assert list(keys.kept.values()) == [SECRET] == list(refs.variables().values())
    await refs.forget(after.model_dump_json())
    assert keys.kept == {}


async def test_a_secret_that_is_gone_is_said_in_words():
    keys = Keys()
    sealed = server(await SecretRefs(keys).transport(StdioTransport(command="x", env={"A_KEY": SECRET})))
    name = REFERENCE.findall(sealed.model_dump_json())[0]
    keys.kept.clear()
    with pytest.raises(WorkbenchError, match=rf"\${name} is not among the saved keys"):
        await SecretRefs(keys).filled(sealed)


async def test_a_secret_is_kept_before_what_stands_in_clear_is_gone(tmp_path: Path):
    servers, in_clear = McpServers(JournalDB(tmp_path / "app.tdb")), list[bool]()

    class Looking(Keys):
        async def keep(self, name: str, secret: str, *, lasting: bool = False) -> None:
            in_clear.append(secret in servers.get("one").model_dump_json() and lasting)
            await super().keep(name, secret)

    keys = Looking()
    await servers.create(server(StdioTransport(command="x", env={"A_KEY": SECRET})))
    hub = McpHub(servers, version="1", refs=lambda: SecretRefs(keys))
    await hub.start()
    assert await hub.seal() and not await hub.seal()
    assert in_clear == [True]
    assert SECRET not in servers.get("one").model_dump_json()
    assert list(keys.kept.values()) == [SECRET]
    await hub.close()


async def test_a_server_that_is_changed_while_it_is_sealed_stays_as_it_was_changed(tmp_path: Path):
    servers = McpServers(JournalDB(tmp_path / "app.tdb"))
    other = StdioTransport(command="y", env={"A_KEY": SECRET + "2"})

    class Slow(Keys):
        async def keep(self, name: str, secret: str, *, lasting: bool = False) -> None:
            await super().keep(name, secret)
            await servers.change("one", lambda stored: stored.model_copy(update={"transport": other}))

    keys = Slow()
    await servers.create(server(StdioTransport(command="x", env={"A_KEY": SECRET})))
    hub = McpHub(servers, version="1", refs=lambda: SecretRefs(keys))
    await hub.start()
    assert not await hub.seal()
    assert servers.get("one").transport == other and keys.kept == {}
    await hub.close()


async def test_a_server_that_is_removed_while_it_is_sealed_leaves_no_secret_and_holds_nobody_up(tmp_path: Path):
    servers = McpServers(JournalDB(tmp_path / "app.tdb"))

    class Slow(Keys):
        async def keep(self, name: str, secret: str, *, lasting: bool = False) -> None:
            await super().keep(name, secret)
            await servers.delete("one")

    keys = Slow()
    for name in ("one", "two"):
        transport = StdioTransport(command="x", env={"A_KEY": f"{SECRET}-{name}"})
        await servers.create(McpServer(name=name, transport=transport))
    hub = McpHub(servers, version="1", refs=lambda: SecretRefs(keys))
    await hub.start()
    assert await hub.seal()
    assert list(keys.kept.values()) == [f"{SECRET}-two"]
    assert [stored.name for stored in servers.all()] == ["two"] and SECRET not in repr(servers.all())
    await hub.close()


FORM = HttpTool(name="ask", description="Asks.", address="https://host/", headers={"X-Api-Key": SECRET})


async def test_no_secret_is_kept_of_a_request_whose_name_is_taken(tmp_path: Path):
    kept: list[str] = []

    class Watched(Keys):
        async def keep(self, name: str, secret: str, *, lasting: bool = False) -> None:
            kept.append(secret)
            await super().keep(name, secret)

    keys = Watched()
    source = HttpToolSource(HttpTools(JournalDB(tmp_path / "app.tdb")), refs=lambda: SecretRefs(keys))
    await source.receive(FORM)
    with pytest.raises(Conflict, match="There is an HTTP tool 'ask' already"):
        await source.receive(FORM.model_copy(update={"headers": {"X-Api-Key": f"{SECRET}-2"}}))
    assert list(keys.kept.values()) == kept == [SECRET]


async def test_a_request_that_cannot_be_stored_leaves_no_secret_but_those_it_had(tmp_path: Path):
    class Full(HttpTools):
        async def save(self, value: HttpTool) -> HttpTool:
            raise StorageError("The disk is full.")

        create = save

    keys, forms = Keys(), HttpTools(JournalDB(tmp_path / "app.tdb"))
    await HttpToolSource(forms, refs=lambda: SecretRefs(keys)).create(FORM)
    before, [form] = dict(keys.kept), forms.all()
    source = HttpToolSource(Full(JournalDB(tmp_path / "app.tdb")), refs=lambda: SecretRefs(keys))
    other = form.model_copy(update={"headers": {**form.headers, "Authorization": f"Bearer {SECRET}-2"}})
    for refused in (source.save(other), source.create(other.model_copy(update={"name": "tell"}))):
        with pytest.raises(StorageError):
            await refused
    assert keys.kept == before


async def test_a_server_that_cannot_be_stored_leaves_no_secret_but_those_it_had(tmp_path: Path):
    class Filling(McpServers):
        full = False

        async def create(self, value: McpServer) -> McpServer:
            if self.full:
                raise StorageError("The disk is full.")
            return await super().create(value)

        async def change(self, key: str, change: Callable[[McpServer], McpServer]) -> McpServer:
            raise StorageError("The disk is full.")

    keys, servers = Keys(), Filling(JournalDB(tmp_path / "app.tdb"))
    hub = McpHub(servers, version="1", refs=lambda: SecretRefs(keys))
    await hub.add(server(StdioTransport(command="x", env={"A_KEY": SECRET})))
    before, servers.full = dict(keys.kept), True
    [one] = servers.all()
    assert isinstance(one.transport, StdioTransport)
    more = one.transport.model_copy(update={"env": {**one.transport.env, "B_KEY": f"{SECRET}-2"}})
    for refused in (
        hub.change(one.model_copy(update={"transport": more})),
        hub.add(McpServer(name="two", transport=more)),
    ):
        with pytest.raises(StorageError):
            await refused
    assert keys.kept == before
    await hub.close()


@pytest.mark.parametrize("kept", ["the key", "where it is"])
async def test_a_form_whose_secret_cannot_be_kept_for_good_is_refused_and_leaves_nothing(kept: str, tmp_path: Path):
    forms, disk = HttpTools(JournalDB(tmp_path / "app.tdb")), TroubledDisk("write", times=0, error=full)
    notes = JournalDB(tmp_path / "notes.tdb", disk=disk)
    keys = ProviderKeys(KeptKeys(notes), tmp_path, keyring=fail.Keyring, disk=disk)
    source = HttpToolSource(forms, refs=lambda: SecretRefs(keys))
    disk.first, disk.times = disk.calls + (1 if kept == "the key" else 2), 1
    with pytest.raises(StorageError, match=FILE if kept == "the key" else "no room"):
        await source.create(FORM)
    assert (forms.all(), keys.values(), (tmp_path / FILE).exists()) == ([], {}, False)
    await source.create(FORM)
    again = ProviderKeys(KeptKeys(notes), tmp_path, keyring=fail.Keyring)
    await again.ready()
    assert list(again.values().values()) == [SECRET]


async def test_a_request_whose_secret_stands_in_its_address_too_stays_as_it_is(tmp_path: Path):
    keys, forms = Keys(), HttpTools(JournalDB(tmp_path / "app.tdb"))
    form = await forms.create(FORM.model_copy(update={"address": f"https://host/{SECRET}"}))
    assert not await HttpToolSource(forms, refs=lambda: SecretRefs(keys)).seal()
    assert forms.all() == [form] and keys.kept == {}


async def test_a_request_that_is_changed_while_it_is_sealed_stays_as_it_was_changed(tmp_path: Path):
    forms, other = HttpTools(JournalDB(tmp_path / "app.tdb")), FORM.model_copy(update={"headers": {}})

    class Slow(Keys):
        async def keep(self, name: str, secret: str, *, lasting: bool = False) -> None:
            await super().keep(name, secret)
            await forms.save(other)

    keys = Slow()
    await forms.create(FORM)
    assert not await HttpToolSource(forms, refs=lambda: SecretRefs(keys)).seal()
    assert forms.all() == [other] and keys.kept == {}


async def test_a_request_that_was_deleted_comes_back_with_its_secret_sealed_anew(tmp_path: Path):
    keys, forms = Keys(), HttpTools(JournalDB(tmp_path / "app.tdb"))
    source = HttpToolSource(forms, refs=lambda: SecretRefs(keys))
    written = FORM.model_copy(update={"headers": {**FORM.headers, "X-Own": "$MY_KEY"}, "waits": True})
    await source.create(written)
    deleted = await source.delete("ask")
    assert deleted == written and keys.kept == {} and forms.all() == []
    assert deleted is not None
    await source.create(deleted)
    assert list(keys.kept.values()) == [SECRET]
    (back,) = forms.all()
    assert back.waits and SECRET not in back.model_dump_json()
    assert SecretRefs(keys).with_secrets(back) == written


async def test_a_request_that_is_deleted_names_the_secret_that_was_gone_before(tmp_path: Path):
    keys, forms = Keys(), HttpTools(JournalDB(tmp_path / "app.tdb"))
    source = HttpToolSource(forms, refs=lambda: SecretRefs(keys))
    await source.create(FORM)
    (stored,) = forms.all()
    keys.kept.clear()
    assert await source.delete("ask") == stored
    assert await source.delete("ask") is None
