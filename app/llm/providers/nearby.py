"""Servers of models on this machine or at an address typed by hand; nobody is asked unless a person looks for one."""

import asyncio
import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.domain.errors import ModelFailure, WorkbenchError
from app.domain.providers import checked_address
from app.domain.secrets.pasted import cleaned_key
from app.llm.providers.offered import offered_models
from app.llm.providers.provider_desk import ProviderDesk, ProviderEntry
from app.llm.providers.providers import PROVIDERS, Keys, saved_name

SECONDS = 1.0
"""How long one server may take to say which models it has."""
_OWN = "compatible"
"""Under this name a server that speaks OpenAI's protocol is asked before it has one of its own."""


@dataclass(frozen=True, slots=True)
class NearbyServer:
    """A server, and what it said."""

    name: str
    """Its provider's: `ollama`, or `compatible` where none is set up for it yet."""
    title: str
    address: str
    models: tuple[str, ...] = ()
    trouble: ModelFailure | None = None
    """Why it told nothing."""

    @property
    def answers(self) -> bool:
        return self.trouble is None


class Nearby:
    def __init__(self, desk: ProviderDesk, keys: Keys) -> None:
        self._desk = desk
        self._keys = keys

    async def look(self) -> list[NearbyServer]:
        """Every server known to be on this machine, each asked for its models at once."""
        states = [state for state in await self._desk.all() if state.provider.is_local and state.address]
        await asyncio.to_thread(importlib.import_module, "httpx")  # so that its import is in nobody's second
        known = (NearbyServer(state.name, state.provider.title, state.address) for state in states)
        return await asyncio.gather(*(_answer(server, self._keys) for server in known))

    async def at(self, written: str, key: str = "") -> NearbyServer:
        """The server at an address typed by hand, whichever protocol it speaks and with or without `/v1`.

        `key` is for one that wants one, as it was pasted. Raises `WorkbenchError` in words where nothing there lists
        models.
        """
        address = checked_address(written if "://" in written or not written.strip() else f"http://{written.strip()}")
        if not address:
            raise WorkbenchError("Write the server's address, such as http://127.0.0.1:8000/v1.")
        await self._desk.all()  # which waits for the saved keys
        await asyncio.to_thread(importlib.import_module, "httpx")
        key = cleaned_key(key).value if key else ""
        base = address.removesuffix("/v1")
        ollama = NearbyServer("ollama", PROVIDERS["ollama"].title, base)
        title = urlsplit(address).netloc
        tried = (ollama, *(NearbyServer(_OWN, title, one) for one in dict.fromkeys((f"{base}/v1", address))))
        asked = await asyncio.gather(*(_answer(server, self._at(server, key)) for server in tried))
        found = max((server for server in asked if server.answers), key=lambda one: len(one.models), default=None)
        if found is None:
            raise WorkbenchError(_nothing_at(address, asked))
        return found

    async def take(self, server: NearbyServer, key: str = "") -> str:
        """Set it up, with its models; returns its provider's name. Raises `WorkbenchError` in words.

        `key` is saved for a server that is new here.
        """
        name = await self._name(server, key)
        await self._desk.list_models(name)
        return name

    async def _name(self, server: NearbyServer, key: str) -> str:
        states = await self._desk.all()
        if same := next((one for one in states if one.provider.is_local and _is_at(one.address, server.address)), None):
            return same.name
        if server.name == "ollama":
            await self._desk.save("ollama", ProviderEntry(settings={"address": server.address}))
            return "ollama"
        return await self._desk.add(server.title, server.address, key)

    def _at(self, server: NearbyServer, key: str) -> Keys:
        """What is set, but for the address and the key: it gets none that was meant for another."""
        addresses = (*PROVIDERS[server.name].bases, saved_name(server.name, "address"))
        told = dict.fromkeys(addresses, server.address) | {saved_name(server.name, "key"): key}

        def keys(variable: str) -> str:
            return told.get(variable, "")

        return keys


async def _answer(server: NearbyServer, keys: Keys) -> NearbyServer:
    """The server with what it says."""
    try:
        async with asyncio.timeout(SECONDS):
            models = await offered_models(server.name, keys)
    except TimeoutError:
        trouble = ModelFailure("timeout", f"It said nothing for {SECONDS:g} s.")
    except ModelFailure as failure:
        trouble = failure
    else:
        return NearbyServer(server.name, server.title, server.address, models)
    return NearbyServer(server.name, server.title, server.address, trouble=trouble)


def _is_at(one: str, other: str) -> bool:
    return one.replace("://localhost", "://127.0.0.1").rstrip("/") == other.replace("://localhost", "://127.0.0.1")


def _nothing_at(address: str, asked: Iterable[NearbyServer]) -> str:
    """Why nothing there could be used, in words."""
    troubles = [server.trouble for server in asked if server.trouble is not None]
    if any(trouble.failure == "invalid_key" for trouble in troubles):
        return f"The server at {address} wants a key, or another than this. Paste its key beside the address."
    if all(trouble.failure in ("network", "timeout") for trouble in troubles):
        return f"Nothing answers at {address}. Is the server started, and the port right?"
    return f"Something answers at {address}, but it lists no models. Its address often ends in /v1."
