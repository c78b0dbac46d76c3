"""What people change of an agent, known to all pages at once and written a second after typing stops."""

import asyncio
from contextlib import suppress
from typing import Protocol

from app.domain.agents import WorkingCopy
from app.domain.errors import StorageError
from app.engine.sessions.edit_history import EditHistory

SECONDS = 1.0


class WorkingCopyStore(Protocol):
    def find(self, agent_id: str) -> WorkingCopy | None: ...

    async def save(self, copy: WorkingCopy) -> object: ...

    async def delete(self, agent_id: str) -> None: ...


class WorkingCopies:
    """One working copy for an agent. It belongs to the process: a page that is closed loses nothing of it."""

    def __init__(self, store: WorkingCopyStore, *, seconds: float = SECONDS) -> None:
        self._store = store
        self._seconds = seconds
        self._typed: dict[str, WorkingCopy] = {}
        self._writing: dict[str, asyncio.Task[None]] = {}
        self._troubles: dict[str, str] = {}
        self._histories: dict[str, EditHistory] = {}

    def history(self, agent_id: str) -> EditHistory:
        """The steps in which a workflow was changed, as long as the app runs: each page goes on with its own."""
        return self._histories.get(agent_id, EditHistory()).copy()

    def keep_history(self, agent_id: str, history: EditHistory) -> None:
        """Let pages that are opened later begin with these steps: they led to what is in the editor now."""
        self._histories[agent_id] = history

    def get(self, agent_id: str) -> WorkingCopy | None:
        """As it is now, whether it is written already or not."""
        return self._typed.get(agent_id) or self._store.find(agent_id)

    def typed(self, copy: WorkingCopy) -> None:
        """Take the copy as it is now; it is written when nothing else comes for a second."""
        self._typed[copy.agent_id] = copy
        self._stop_waiting(copy.agent_id)
        self._writing[copy.agent_id] = asyncio.create_task(self._write_later(copy), name="keep a working copy")

    def trouble(self, agent_id: str) -> str:
        """Why the newest changes are not on disk, in words; empty when they are, or will be."""
        return self._troubles.get(agent_id, "")

    def is_written(self, agent_id: str) -> bool:
        """Whether all that was typed is on disk."""
        return agent_id not in self._typed

    async def save(self, copy: WorkingCopy) -> None:
        """Write the copy now. Raises `StorageError`; the copy is known all the same."""
        self._stop_waiting(copy.agent_id)
        self._typed[copy.agent_id] = copy
        await self._write(copy)

    async def drop(self, agent_id: str) -> None:
        """Forget it: it was saved as a variant, or taken back."""
        self._stop_waiting(agent_id)
        self._typed.pop(agent_id, None)
        self._troubles.pop(agent_id, None)
        if self._store.find(agent_id) is not None:
            await self._store.delete(agent_id)

    async def close(self) -> None:
        """Write what is not written yet."""
        for agent_id, copy in list(self._typed.items()):
            self._stop_waiting(agent_id)
            with suppress(StorageError):  # kept as `trouble`; the others are written all the same
                await self._write(copy)

    def _stop_waiting(self, agent_id: str) -> None:
        if (waiting := self._writing.pop(agent_id, None)) is not None:
            waiting.cancel()

    async def _write_later(self, copy: WorkingCopy) -> None:
        await asyncio.sleep(self._seconds)
        # From here on a newer copy waits its own time and does not cut this one off.
        self._writing.pop(copy.agent_id, None)
        with suppress(StorageError):  # kept as `trouble` for the page to show
            await self._write(copy)

    async def _write(self, copy: WorkingCopy) -> None:
        try:
            await self._store.save(copy)
        except StorageError as problem:
            self._troubles[copy.agent_id] = str(problem)
            raise
        self._troubles.pop(copy.agent_id, None)
        if self._typed.get(copy.agent_id) is copy:
            del self._typed[copy.agent_id]
