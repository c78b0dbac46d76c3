"""The stored end of one run's trace: entries and checkpoints are taken at once and written by the writer."""

import asyncio
import contextlib
from collections.abc import Awaitable, Iterable

from app.domain.errors import StorageError
from app.domain.events import FORMAT, Entry, MessageAdded, RunStarted
from app.domain.streaming import CallDelta, Draft, DraftCall, ReasoningDelta, TextDelta
from app.store.journal.frames import Document, frame, framed
from app.store.journal.writer import Channel
from app.store.runs.packing import PackedHistory, pack, pack_history
from app.store.runs.session_values import OpenSessions, SessionValues

SHORT_HISTORY = 100
"""Messages that take the event loop no more than a thread would."""


class RunTrace:
    def __init__(
        self,
        run_id: str,
        session_id: str,
        channel: Channel,
        sessions: OpenSessions,
        session: SessionValues,
        *,
        begun: bool,
        pieces: int,
    ) -> None:
        """`begun`: whether the file says whose it is; `pieces`: the checkpoints of a draft that are in it."""
        self._run_id = run_id
        self._session_id = session_id
        self._channel = channel
        self._sessions = sessions
        self._session = session
        self._is_new = not begun
        self._begun = begun
        self._pieces = pieces
        self._stored_draft = Draft()
        self._closed = False
        self._history: PackedHistory | None = None

    async def prepare(self, started: RunStarted) -> None:
        """Work out off the event loop how what the run knows is stored, so that `append` takes no time for it."""
        if len(started.history) > SHORT_HISTORY:
            self._history = await asyncio.to_thread(pack_history, started.history)

    def append(self, entry: Entry) -> None:
        """Take the entry to be written; the model's message takes the place of the live text it grew from."""
        self._begin(entry.event.format if isinstance(entry.event, RunStarted) else FORMAT)
        packed = pack(entry, self._history)
        self._session.add(packed)
        lands = isinstance(entry.event, MessageAdded) and entry.event.origin == "model"
        change = b'["entries",{"%d":%b}]' % (entry.seq + 1, packed.entry)
        if lands and self._pieces:
            change = b'[%b,["draft",null]]' % change
            self._forget()
        self._channel.put(framed(change))

    def checkpoint(self, draft: Draft) -> None:
        """Take what is new of the live text to be written, or forget all of it when the draft is empty."""
        if self._pieces and (draft.empty or not goes_on(self._stored_draft, draft)):
            self._channel.put(frame([("draft", None)]))
            self._forget()
        if grown := piece(self._stored_draft, draft):
            self._begin(FORMAT)
            self._pieces += 1
            self._channel.put(frame([("draft", {self._pieces: grown})]))
            self._stored_draft = snapshot(draft)

    async def flush(self) -> None:
        """Return when all that was taken is on disk; raises `StorageError`, and a later flush tries it again."""
        await self._channel.flush()

    def flushing(self) -> Awaitable[None]:
        """Have all that was taken written now; done when it is on disk, whatever is taken from here on."""
        return self._channel.flushing()

    async def close(self) -> None:
        """Flush and let go of the files; raises `StorageError` and stays open when something is not on disk yet."""
        await self._channel.flush()
        self.let_go()

    def let_go(self) -> None:
        """Have the files closed once all that was taken is written."""
        if not self._closed:
            self._closed = True
            self._channel.let_go()
            self._sessions.close(self._session_id)

    async def abandon(self) -> None:
        """Let go of the files, of what the disk does not take, and of a file that is new."""
        if self._closed:
            return
        try:
            with contextlib.suppress(StorageError):
                await self._channel.flush()
        finally:
            self._channel.forget(and_remove=self._is_new)
            self.let_go()

    def _begin(self, format: int) -> None:
        """Say at the head of the file whose it is, and what a reader has to know."""
        if not self._begun:
            self._begun = True
            owner: Document = {"run_id": self._run_id, "session_id": self._session_id, "format": format}
            self._channel.put(frame([("run", {1: owner})]))

    def _forget(self) -> None:
        self._pieces = 0
        self._stored_draft = Draft()


def snapshot(draft: Draft) -> Draft:
    """The draft as it is now; the live one goes on growing."""
    calls = [DraftCall(call.call_id, call.name, call.arguments) for call in draft.calls.values()]
    return Draft(draft.text, draft.reasoning, calls)


def goes_on(stored: Draft, draft: Draft) -> bool:
    """Whether `stored` is the beginning of `draft`."""
    return (
        draft.text.startswith(stored.text)
        and draft.reasoning.startswith(stored.reasoning)
        and all(
            call_id in draft.calls and draft.calls[call_id].arguments.startswith(call.arguments)
            for call_id, call in stored.calls.items()
        )
    )


def piece(stored: Draft, draft: Draft) -> Document:
    """What `draft` has more than its beginning `stored`; empty when that is nothing."""
    grown: Document = {}
    if text := draft.text[len(stored.text) :]:
        grown["text"] = text
    if reasoning := draft.reasoning[len(stored.reasoning) :]:
        grown["reasoning"] = reasoning
    for call_id, call in draft.calls.items():
        known = stored.calls.get(call_id)
        if known is None or len(known.arguments) < len(call.arguments):
            arguments = call.arguments[len(known.arguments) if known else 0 :]
            grown[f"call {call_id}"] = {"name": call.name, "arguments": arguments}
    return grown


def joined(pieces: Iterable[Document]) -> Draft:
    """The draft out of its pieces, oldest first."""
    draft = Draft()
    for grown in pieces:
        draft.take(TextDelta(_text(grown, "text")))
        draft.take(ReasoningDelta(_text(grown, "reasoning")))
        for key, value in grown.items():
            if key.startswith("call ") and isinstance(value, dict):
                call_id = key.removeprefix("call ")
                draft.take(CallDelta(call_id, _text(value, "name"), _text(value, "arguments")))
    return draft


def _text(document: Document, field: str) -> str:
    value = document.get(field)
    return value if isinstance(value, str) else ""
