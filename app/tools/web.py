"""HTTP requests whose library is loaded for the first of them, without holding up anything else."""

import asyncio
import functools
from collections.abc import Awaitable, Callable

from app.tools.http_message import Received, Sent
from app.tools.net_guard import Guard


async def fetch(sent: Sent, guard: Guard) -> Received:
    """What the address answers; see `net.fetch`."""
    load = await asyncio.to_thread(_loaded)
    return await load(sent, guard)


@functools.lru_cache(maxsize=1)
def _loaded() -> Callable[[Sent, Guard], Awaitable[Received]]:
    """Meant for a thread: httpx takes 180 ms to import, and as long again for what it leaves to its first request."""
    import anyio  # noqa: PLC0415  see above
    import httpcore  # noqa: F401, PLC0415  see above

    from app.tools.net import fetch as loaded  # noqa: PLC0415  see above

    anyio.run(anyio.sleep, 0)
    return loaded
