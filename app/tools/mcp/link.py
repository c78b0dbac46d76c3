"""The way to a server: what is known of it beside what the server says, and what happens on it."""

import asyncio
from dataclasses import dataclass, field

from app.tools.mcp.server_log import ServerLog


@dataclass
class Link:
    log: ServerLog
    started: bool = False
    lost: bool = False
    """Nothing more can come from it."""
    exit_code: int | None = None
    garbage: int = 0
    """Lines of its standard output that were no messages."""
    http_status: int | None = None
    """Of its last answer, when that was a refusal."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def lose(self) -> None:
        self.lost = True
        self._news.set()

    def tools_changed(self) -> None:
        """It says that it has other tools now."""
        self._news.set()

    async def changed(self) -> bool:
        """Wait until its tools changed; false when it is lost."""
        await self._news.wait()
        self._news.clear()
        return not self.lost

    def begin_again(self, why: str) -> None:
        self.log.event(why)
        self._news.clear()
        self.lost = False
        self.exit_code = self.http_status = None
