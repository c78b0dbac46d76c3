"""The real clock."""

import asyncio
from datetime import datetime

from app.domain.values import now


class SystemClock:
    def now(self) -> datetime:
        return now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
