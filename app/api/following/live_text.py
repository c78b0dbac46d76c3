"""A run that goes on, as pieces for whoever follows it: pulled at their pace, so that nothing piles up for them.

The run knows nothing of who follows it; a piece that nobody has taken yet is not made yet.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from app.api.following.followed import FollowedRun
from app.domain.events import Entry, MessageAdded, ModelCalled, PauseRequested
from app.domain.messages import Message, ReasoningPart
from app.domain.streaming import Draft

LOOK_SECONDS = 0.03
"""How often it is looked at what is new."""
QUIET_SECONDS = 10.0
"""After so long without news a `Quiet` comes, so that nobody between takes the connection for a dead one."""
BELOW_SECONDS = 0.25
"""Without news, between looks at what the runs below it wait for."""

Kind = Literal["text", "reasoning"]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """More of the message that is being written."""

    kind: Kind
    call_id: str
    """The model call that writes it."""
    offset: int
    """Characters of it that come before."""
    text: str


@dataclass(frozen=True, slots=True)
class Quiet:
    """Nothing has happened for a while."""


@dataclass(frozen=True, slots=True)
class WaitsBelow:
    """The run does nothing before a person decides that of a run below it."""

    run_id: str
    """The one below."""
    pause: PauseRequested


Piece = Entry | TextPiece | Quiet | WaitsBelow
Below = Callable[[], Sequence[WaitsBelow]]


async def pieces(
    live: FollowedRun,
    since: int = 0,
    *,
    below: Below = tuple,
    gone: Callable[[], bool] = lambda: False,
    quiet: float = QUIET_SECONDS,
) -> AsyncGenerator[Piece, None]:
    """What happens in the run from entry `since` on, until nobody works on it any more, or `gone` is true.

    After `quiet` seconds without news a `Quiet` comes; what is waited for `below` comes once each.
    """
    text = LiveText()
    for entry in live.entries[:since]:
        text.take(entry)
    seq, news_at = since, time.monotonic()
    looked_at, told = news_at, set[str]()
    while not gone():
        alive = live.alive
        for entry in live.since(seq):
            for piece in text.take(entry):
                yield piece
            yield entry
            seq, news_at = seq + 1, time.monotonic()
        for piece in text.news(live.draft) if seq >= len(live.entries) else ():
            yield piece
            news_at = time.monotonic()
        if not alive and seq >= len(live.entries):
            return
        if time.monotonic() - max(looked_at, news_at) >= BELOW_SECONDS:
            looked_at = time.monotonic()
            for waits in below():
                if waits.pause.pause_id not in told:
                    told.add(waits.pause.pause_id)
                    yield waits
        if time.monotonic() - news_at >= quiet:
            yield Quiet()
            news_at = time.monotonic()
        if live.task is not None:
            await asyncio.wait([live.task], timeout=LOOK_SECONDS)


class LiveText:
    """What of each message was told already."""

    def __init__(self) -> None:
        self._asked = ""
        self._part = 1
        self._told: dict[Kind, int] = {"text": 0, "reasoning": 0}

    def take(self, entry: Entry) -> list[TextPiece]:
        """The rest of a message that the entry brings to its end."""
        match entry.event:
            case ModelCalled(call_id=call_id):
                self._asked = call_id
                self._told = {"text": 0, "reasoning": 0}
            case MessageAdded(message=message, origin="model"):
                return self._news(message.text, _thoughts(message))
            case _:
                pass
        return []

    def news(self, draft: Draft) -> list[TextPiece]:
        """What was not told yet of a message that is being written.

        Of a workflow it is that of the agent whose answer is its own: where that begins another one, so does this.
        """
        if not self._asked and len(draft.text) < self._told["text"]:
            self._part, self._told = self._part + 1, {"text": 0, "reasoning": 0}
        return self._news(draft.text, draft.reasoning)

    def _news(self, text: str, reasoning: str) -> list[TextPiece]:
        found: list[TextPiece] = []
        wholes: tuple[tuple[Kind, str], ...] = (("reasoning", reasoning), ("text", text))
        for kind, whole in wholes:
            offset = self._told[kind]
            if len(whole) > offset:
                call_id = self._asked or f"answer-{self._part}"
                found.append(TextPiece(kind, call_id, offset, whole[offset:]))
                self._told[kind] = len(whole)
        return found


def _thoughts(message: Message) -> str:
    """The reasoning as it was streamed, with nothing between its parts."""
    return "".join(part.text for part in message.parts if isinstance(part, ReasoningPart))
