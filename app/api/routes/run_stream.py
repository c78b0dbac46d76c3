"""A run over a socket: its entries from any number on, and the text that is being written."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import assert_never

from fastapi import WebSocket
from pydantic import JsonValue

from app.api.door.access import run_for
from app.api.door.dependencies import Asking, Here, resource
from app.api.following.event_stream import pause_of, retry_of
from app.api.following.followed import Shared, SharedTraces
from app.api.following.live_text import Piece, Quiet, TextPiece, WaitsBelow, pieces
from app.api.following.running import waits_below
from app.api.following.sockets import Gone, SocketWriter, hung_up
from app.api.routes.run_reading import Seq
from app.domain.events import Entry, ModelFailed
from app.domain.trace import RunStatus
from app.workbench import Workbench

router = resource("/runs", "Runs")


@router.websocket("/{run_id}/stream")
async def stream_run(
    *, socket: WebSocket, run_id: str, workbench: Here, shared: Shared, caller: Asking, since: Seq = 0
) -> None:
    """Each entry from `since` on as `{"type": "entry", run_id, seq, at, event}`, live text as `text-delta`.

    Who connects again with `since` one above the last `seq` misses nothing and gets nothing twice; of a message that
    is being written the first delta is all that there is, its `offset` says so. `retry` says when a model that failed
    is asked again, `pause-requested` what a run below it waits for. At the end `finish`, then the close.
    """
    row = run_for(workbench, caller, run_id)
    await socket.accept()
    writer, hanging_up = SocketWriter(socket), asyncio.create_task(hung_up(socket))
    try:
        async with aclosing(_pieces(workbench, shared, run_id, since, hanging_up.done)) as following:
            async for piece in following:
                for text in _messages(piece):
                    await writer.send_text(text)
        if hanging_up.done():
            return
        status = await _status(workbench, shared, run_id)
        await writer.send({"type": "finish", "runId": run_id, "sessionId": row.session_id, "status": status})
        await writer.close()
    except Gone:
        await writer.send_away()
    finally:
        hanging_up.cancel()


async def _pieces(
    workbench: Workbench, shared: SharedTraces, run_id: str, since: int, gone: Callable[[], bool]
) -> AsyncGenerator[Piece, None]:
    """A run that was left may go on while what is stored of it is told: then what follows comes too."""
    await workbench.runs.starting.settled(run_id)
    if workbench.runs.recent(run_id) is None:
        kept = await shared.read(run_id)
        for place in range(since, len(kept.entries)):
            if gone():
                return
            yield kept.entries[place]
        since = max(since, len(kept.entries))
        await workbench.runs.starting.settled(run_id)
    if (live := workbench.runs.recent(run_id)) is not None:
        async for piece in pieces(live, since, below=partial(waits_below, workbench, run_id), gone=gone):
            yield piece


async def _status(workbench: Workbench, shared: SharedTraces, run_id: str) -> RunStatus:
    live = workbench.runs.recent(run_id)
    return workbench.runs.status(run_id, live.entries if live else (await shared.read(run_id)).entries)


def _messages(piece: Piece) -> list[str]:
    match piece:
        case Entry(event=event):
            retry = retry_of(event) if isinstance(event, ModelFailed) else None
            entry = f'{{"type":"entry",{piece.model_dump_json()[1:]}'
            return [entry, json.dumps(retry)] if retry else [entry]
        case TextPiece(kind=kind, call_id=call_id, offset=offset, text=text):
            delta: dict[str, JsonValue] = {"type": f"{kind}-delta", "id": call_id, "offset": offset, "delta": text}
            return [json.dumps(delta)]
        case WaitsBelow(below, pause):
            return [json.dumps(pause_of(pause, below))]
        case Quiet():
            return []
        case _:
            assert_never(piece)
