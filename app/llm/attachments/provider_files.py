"""Files kept with providers: uploaded once for an account, used by their ids, removed with their last session.

No id leaves this module but into a call of the same account: what is recorded of a run names contents by their sha256.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Protocol

from app.domain.errors import ModelFailure, WorkbenchError
from app.domain.providers import ProviderFile, file_key
from app.domain.values import now
from app.llm.attachments.file_stores import Account, NotKept, account_of, delete, upload
from app.llm.providers.providers import Keys, saved_name

log = logging.getLogger(__name__)

SPARE = timedelta(minutes=5)
"""A file that is gone sooner than that is uploaded anew."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is uploaded."""

    content: bytes
    name: str
    media_type: str


class KeptFiles(Protocol):
    """Where it is kept what was uploaded."""

    def all(self) -> list[ProviderFile]: ...
    def find(self, key: str) -> ProviderFile | None: ...
    async def save(self, value: ProviderFile) -> ProviderFile: ...
    async def delete(self, key: str) -> None: ...


class ProviderFiles:
    """`is_live` says of a session whether it is there and not deleted."""

    def __init__(self, kept: KeptFiles, keys: Keys, is_live: Callable[[str], bool]) -> None:
        self._kept = kept
        self._keys = keys
        self._is_live = is_live
        self._uploading: dict[str, asyncio.Task[ProviderFile]] = {}
        self._sweeping: set[asyncio.Task[None]] = set()
        self._deleting = asyncio.Lock()

    def may_keep(self, provider: str) -> bool:
        """Whether its owner allowed that provider to keep files."""
        return self._keys(saved_name(provider, "uploads")) == "allowed"

    def of(self, provider: str) -> list[ProviderFile]:
        """What it keeps now."""
        return [one for one in self._kept.all() if one.provider == provider]

    async def id_of(self, provider: str, file: Content, session_id: str) -> str:
        """What the provider calls the content, which is uploaded where it does not have it. Raises `NotKept`.

        Who is cancelled while it waits leaves the upload to its end, so that nothing is there of which nobody knows.
        """
        account = self._account(provider)
        digest = await asyncio.to_thread(lambda: sha256(file.content).hexdigest())
        key = file_key(provider, account.digest, digest)
        row = self._kept.find(key)
        if row is None or row.expires_at - now() < SPARE:
            if key not in self._uploading:
                begun = self._uploaded(account, file, digest, session_id)
                self._uploading[key] = asyncio.create_task(begun, name=f"upload {file.name} to {provider}")
                self._uploading[key].add_done_callback(lambda _: self._uploading.pop(key, None))
            uploaded = await asyncio.shield(self._uploading[key])
            row = self._kept.find(key) or uploaded  # others that waited for it have added their sessions
        if session_id not in row.sessions:
            row = await self._save(row.model_copy(update={"sessions": (*row.sessions, session_id)}))
        return row.file_id

    async def forget(self, provider: str, file_id: str) -> None:
        """The provider has lost it: it is uploaded anew when it is needed."""
        for row in self.of(provider):
            if row.file_id == file_id:
                await self._kept.delete(row.key)

    async def remove(self, provider: str) -> None:
        """Have all of its files deleted, and forget those that are not ours to delete."""
        await self._remove_those(lambda row: row.provider == provider)

    async def sweep(self) -> None:
        """Delete what belongs to no session any more, and forget what is gone there."""
        await self._remove_those(lambda row: row.expires_at < now() or not any(map(self._is_live, row.sessions)))

    def sweep_soon(self) -> None:
        """The same beside whatever goes on; called whenever a session was deleted."""
        task = asyncio.get_running_loop().create_task(self.sweep(), name="delete files at providers")
        self._sweeping.add(task)
        task.add_done_callback(self._sweeping.discard)

    async def close(self) -> None:
        """Break off what goes on."""
        tasks = [*self._sweeping, *self._uploading.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _account(self, provider: str) -> Account:
        try:
            account = account_of(provider, self._keys)
        except ModelFailure as failure:
            raise NotKept(failure.text) from None
        if account is None:
            raise NotKept("there is no key to upload it with")
        return account

    async def _uploaded(self, account: Account, file: Content, digest: str, session_id: str) -> ProviderFile:
        stored = await upload(account, file.content, name=file.name, media_type=file.media_type)
        row = ProviderFile(
            key=file_key(account.provider, account.digest, digest),
            provider=account.provider,
            account=account.digest,
            sha256=digest,
            file_id=stored.file_id,
            media_type=file.media_type,
            size=len(file.content),
            uploaded_at=now(),
            expires_at=stored.expires_at,
            sessions=(session_id,),
        )
        try:
            return await self._save(row)
        except NotKept:
            await _deleted(account, row)
            raise

    async def _save(self, row: ProviderFile) -> ProviderFile:
        try:
            return await self._kept.save(row)
        except WorkbenchError as problem:
            raise NotKept(f"what was uploaded could not be noted: {problem}") from problem

    async def _remove_those(self, which: Callable[[ProviderFile], bool]) -> None:
        async with self._deleting:
            for row in [row for row in self._kept.all() if which(row)]:
                try:
                    account = self._account(row.provider)
                except NotKept:
                    account = None
                is_ours = account is not None and account.digest == row.account
                if is_ours and account is not None and not await _deleted(account, row) and row.expires_at > now():
                    continue  # the next sweep tries again
                if is_ours or row.expires_at < now():
                    await self._kept.delete(row.key)


async def _deleted(account: Account, row: ProviderFile) -> bool:
    try:
        await delete(account, row.file_id)
    except NotKept as problem:
        log.warning("A file could not be deleted where it was uploaded: %s", problem)
        return False
    return True


ReadArtifact = Callable[[str], Awaitable[bytes]]
"""The bytes of an artifact by its sha256; raises `NotFound` where there is none."""
