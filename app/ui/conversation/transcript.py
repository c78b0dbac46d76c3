"""The scrolling part of a conversation."""

import asyncio
from collections.abc import Awaitable, Callable

from nicegui import ui


class Transcript(ui.element, component="transcript.js"):
    """Follows what is added at its end until the reader scrolls up."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._props["label"] = label
        self._updating = asyncio.Lock()

    async def update_by(self, look: Callable[[], Awaitable[None]], *, always: bool = False) -> None:
        """Let `look` show what is new, unless that goes on already; `always` waits for its end instead.

        Not in the context of whoever called: a handler's own message may be among those that go.
        """
        if self._updating.locked() and not always:
            return
        with self:
            async with self._updating:
                await look()

    def to_latest(self) -> None:
        """Scroll to the end and stay there."""
        self.run_method("to_latest")

    def keep_place(self) -> None:
        """Call before something is put in above what the reader sees."""
        self.run_method("keep_place")

    def stay(self) -> None:
        """Call before something below what the reader looks at is changed for something else."""
        self.run_method("stay")
