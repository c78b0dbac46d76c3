"""A Dask cluster as workers: cells go to its scheduler, which gives what a lost machine had to another one.

Only the extra `agent-playground[cluster]` brings `distributed`, read with the first experiment that asks for it.
"""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Protocol

from app.domain.errors import WorkbenchError
from app.engine.experiments.handing import Unreachable
from app.workbench.cluster import worker

CONNECT_SECONDS = 5
CLOSE_SECONDS = 3
NOT_INSTALLED = (
    "Cells go to other machines by Dask, which is not installed here: pip install 'agent-playground[cluster]'. The "
    "packed app cannot do it."
)
NONE_ANSWERS = "No scheduler of Dask answers at {address}: {error}. Start one with `dask scheduler`, then resume."
LOST = "The scheduler at {address} is gone. Start it again, then resume; what has ended is kept."
NO_ANSWER = "The cluster gave no answer for this cell: {error}"

Told = tuple[bytes, list[bytes]]


class Future(Protocol):
    """What comes back, some day."""

    def __await__(self) -> Generator[Any, None, Told]: ...

    async def cancel(self, *, force: bool) -> None: ...

    def release(self) -> None: ...


class Client(Protocol):
    """As much of Dask's as is needed."""

    status: str

    def submit(self, function: Callable[..., Told], *given: object, pure: bool) -> Future:
        """What the function gives on one of the machines; it is called again where that machine is lost."""
        ...

    async def close(self) -> None: ...


def can_connect() -> bool:
    """Whether what the extra brings is installed."""
    return find_spec("distributed") is not None


async def connect(address: str) -> "DaskWorkers":
    """The workers of the scheduler there. Raises `Unreachable`."""
    try:
        distributed: Any = await asyncio.to_thread(__import__, "distributed")
    except ImportError:
        raise Unreachable(NOT_INSTALLED) from None
    client = distributed.Client(
        address, asynchronous=True, timeout=CONNECT_SECONDS, set_as_default=False, name="agent-playground"
    )
    try:
        return DaskWorkers(await client, address)
    except BaseException as error:
        await client.close()
        if isinstance(error, OSError | TimeoutError | ValueError):
            raise Unreachable(NONE_ANSWERS.format(address=address, error=error)) from error
        raise


class DaskWorkers:
    def __init__(self, client: Client, address: str) -> None:
        self._client = client
        self._address = address

    async def tried(self, order: bytes, contents: Mapping[str, bytes]) -> tuple[bytes, Sequence[bytes]]:
        """As `Workers` has it; the first answer counts. Cancelling it takes the cell back."""
        if self._client.status != "running":  # Dask would wait for ever
            raise Unreachable(LOST.format(address=self._address))
        future = self._client.submit(worker.tried, order, dict(contents), pure=False)
        try:
            said, bundles = await future
        except asyncio.CancelledError:
            await asyncio.shield(future.cancel(force=True))
            raise
        except Exception as error:
            if self._client.status != "running":
                raise Unreachable(LOST.format(address=self._address)) from error
            raise WorkbenchError(NO_ANSWER.format(error=f"{error!r:.300}")) from error
        finally:
            future.release()
        return bytes(said), [bytes(one) for one in bundles]

    async def close(self) -> None:
        """Take back what is out."""
        with suppress(TimeoutError):  # it waits for a scheduler that is gone
            await asyncio.wait_for(self._client.close(), CLOSE_SECONDS)
