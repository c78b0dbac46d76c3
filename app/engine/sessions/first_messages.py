"""A new session stays only where its first message has begun a run."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.domain.errors import StorageError
from app.domain.sessions import Session
from app.engine.sessions.chat import Chat

log = logging.getLogger(__name__)


@asynccontextmanager
async def begun_or_gone(chat: Chat, session: Session) -> AsyncIterator[Session]:
    """The session, made just now, to send its first message inside; where no run comes of it, it is gone for good."""
    try:
        yield session
    except BaseException:
        await chat.runs.unbroken(_taken_back(chat, session.id))
        raise


async def _taken_back(chat: Chat, session_id: str) -> None:
    async with chat.runs.beginning(session_id):  # whoever was cancelled, a run that begins may go on
        if chat.runs.rows.turns(session_id):
            return
        try:
            await chat.sessions.remove(session_id)
        except StorageError as error:  # what kept the run from beginning is what is told
            log.warning("The empty session %s stays: %s", session_id, error)
