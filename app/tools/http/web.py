"""HTTP requests whose library is loaded for the first of them, without holding up anything else."""

import asyncio
import functools

from app.late import late, read
from app.tools.http.message import Received, Sent
from app.tools.http.net_guard import Guard

with late():
    from app.tools.http import net


async def fetch(sent: Sent, guard: Guard) -> Received:
    """What the address answers; see `net.fetch`."""
    await asyncio.to_thread(_load)
    return await net.fetch(sent, guard)


@functools.cache
def _load() -> None:
    """Meant for a thread: httpx takes 180 ms to import, and as long again for what it leaves to its first request."""
    import anyio  # noqa: PLC0415  see above
    import httpcore  # noqa: F401, PLC0415  see above

    read(net)
    anyio.run(anyio.sleep, 0)
