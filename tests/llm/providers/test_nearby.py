"""Servers of models on this machine: found, tried by their address, taken."""

import asyncio
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.domain.errors import WorkbenchError
from app.llm.providers.nearby import Nearby
from app.llm.providers.provider_desk import ProviderEntry
from tests.app_process import free_port
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai import FakeOpenAI
from tests.llm.providers.test_choices import nowhere
from tests.llm.providing import opened_desk

KEY = "sk-planted-0123456789-WXYZ"


async def test_a_server_that_runs_tells_its_models_and_the_others_say_why_not(tmp_path: Path):
    async with FakeOllama() as fake, opened_desk(tmp_path, **nowhere() | {"OLLAMA_HOST": fake.url}) as it:
        servers = {server.name: server for server in await Nearby(it.desk, it.lookup).look()}
    assert list(servers) == ["ollama", "lmstudio", "llamacpp"]
    assert servers["ollama"].answers and "thinking-tools" in servers["ollama"].models
    assert not servers["lmstudio"].answers and not servers["llamacpp"].answers


@asynccontextmanager
async def silent_server():
    """The address of a server that takes connections and says nothing."""
    ended = asyncio.Event()

    async def hold(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ended.wait()
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    ended.set()
    server.close()


async def test_servers_that_say_nothing_are_waited_for_together_and_not_long(tmp_path: Path):
    async with silent_server() as address:
        silent = {"OLLAMA_HOST": address, "LM_STUDIO_API_BASE": address, "LLAMACPP_URL": address}
        async with opened_desk(tmp_path, **silent) as it:
            nearby = Nearby(it.desk, it.lookup)
            began = time.monotonic()
            servers = await nearby.look()
            took = time.monotonic() - began
    assert [server.trouble.failure for server in servers if server.trouble] == ["timeout"] * 3
    assert took < 2.5


@pytest.mark.parametrize("written", ["{address}", "{host}", "{address}/", "{address}/v1", "  {address}  "])
async def test_a_server_is_found_however_its_address_is_written(tmp_path: Path, written: str):
    async with FakeOpenAI() as fake, opened_desk(tmp_path, **nowhere()) as it:
        nearby = Nearby(it.desk, it.lookup)
        found = await nearby.at(written.format(address=fake.url, host=fake.url.removeprefix("http://")))
        name = await nearby.take(found)
        again = await nearby.take(found)
        state = it.desk.state(name)
    assert (found.name, found.address) == ("compatible", f"{fake.url}/v1")
    assert state.is_custom and "ok" in state.settings.models
    assert again == name


async def test_an_ollama_elsewhere_is_set_up_as_ollama(tmp_path: Path):
    async with FakeOllama() as fake, opened_desk(tmp_path) as it:
        nearby = Nearby(it.desk, it.lookup)
        name = await nearby.take(await nearby.at(fake.url))
        state = it.desk.state("ollama")
    assert name == "ollama"
    assert state.address == fake.url and "ok" in state.settings.models


async def test_a_key_is_not_sent_to_an_address_that_is_only_tried(tmp_path: Path):
    async with FakeOpenAI() as fake, opened_desk(tmp_path, **nowhere()) as it:
        fake.key = KEY
        await it.desk.save("compatible", ProviderEntry({"key": KEY}, {"address": "http://127.0.0.1:9/v1"}))
        with pytest.raises(WorkbenchError, match="wants a key"):
            await Nearby(it.desk, it.lookup).at(fake.url)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("", "Write the server's address"),
        ("no address", "is no address"),
        ("ftp://example.org", "is no address"),
        ("http://me:secret@127.0.0.1:9", "Leave name and password out"),
        ("127.0.0.1:{free}", "Nothing answers at"),
    ],
)
async def test_what_is_no_server_is_said_in_words(tmp_path: Path, written: str, words: str):
    async with opened_desk(tmp_path) as it:
        with pytest.raises(WorkbenchError, match=words):
            await Nearby(it.desk, it.lookup).at(written.replace("{free}", str(free_port())))
