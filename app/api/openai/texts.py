"""What a client of OpenAI sees of a run that goes on."""

import time
from collections.abc import AsyncIterator

from app.api.following.followed import FollowedRun
from app.api.following.live_text import QUIET_SECONDS, Below, Piece, Quiet, TextPiece, pieces
from app.domain.events import Entry, MessageAdded
from app.domain.reading.answers import unfenced


async def shown(live: FollowedRun, below: Below, *, formed: bool) -> AsyncIterator[Piece]:
    """What happens in the run.

    The text of a `formed` answer comes when it is whole, and alone: what an agent writes on its way to it is no JSON,
    and nobody can know beforehand which text will be the last.
    """
    told_at = time.monotonic()
    async for piece in pieces(live, below=below):
        told = piece
        match piece:
            case TextPiece(kind="text") if formed:
                if time.monotonic() - told_at < QUIET_SECONDS:
                    continue
                told = Quiet()
            case Entry(event=MessageAdded(message=message, origin="model")) if formed and message.text:
                if not (message.tool_calls or message.partial):
                    yield TextPiece("text", "", 0, unfenced(message.text))
            case _:
                pass
        yield told
        told_at = time.monotonic()
