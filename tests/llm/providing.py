"""A provider desk over a data folder of its own, whose keys are kept in the file."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from keyring.backends import fail

from app.llm.providers.last_seen import LastSeen
from app.llm.providers.provider_desk import ProviderDesk
from app.llm.providers.providers import Keys, lookup
from app.store.journal.database import JournalDB
from app.store.journal.disk import Disk
from app.store.keys.provider_keys import KeptKeys, ProviderKeys, ProviderSettingsStore


@dataclass
class Desk:
    desk: ProviderDesk
    lookup: Keys
    keys: ProviderKeys
    settings: ProviderSettingsStore
    seen: LastSeen


@asynccontextmanager
async def opened_desk(folder: Path, *, disk: Disk | None = None, **variables: str) -> AsyncIterator[Desk]:
    database = JournalDB(folder / "app.tdb", disk=disk)
    settings = ProviderSettingsStore(database)
    keys = ProviderKeys(KeptKeys(database), folder, keyring=fail.Keyring)
    look = lookup(keys.get, settings.field, variables=lambda name: variables.get(name, ""))
    seen = LastSeen(look)
    yield Desk(ProviderDesk(settings, keys, look, seen), look, keys, settings, seen)
    database.close()
