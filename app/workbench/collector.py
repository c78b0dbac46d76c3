"""Where spans are sent on to, as a person has decided it, and what sends them."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.domain.collectors import (
    HEADER_KEY,
    CollectorSettings,
    Destination,
    checked_address,
    destination,
    headers_of,
    is_header,
    named_address,
)
from app.domain.errors import WorkbenchError
from app.domain.events import Entry
from app.domain.trace import finished
from app.late import late, late_part
from app.store.folder.folder import DataFolder

with late():
    import app.export.collector.sending

if TYPE_CHECKING:
    from app.export.collector.posting import Receipt
    from app.export.exports import Exports


class Collector:
    """Reads and makes nothing of the sending before a run ends that is wanted, or something waits from before."""

    def __init__(self, data: DataFolder, exports: "Callable[[], Exports]", *, version: str) -> None:
        """`exports` are those out of which every secret is taken that the app knows."""
        self._data, self._exports, self._version = data, exports, version

    @late_part
    def sending(self) -> "app.export.collector.sending.Sending":
        def is_there(run_id: str) -> bool:
            return self._data.rows.get(run_id) is not None

        parts = (self._data.unsent_runs, self._exports(), is_there, self._wanted)
        return app.export.collector.sending.Sending(*parts, app=self._version)

    @property
    def settings(self) -> CollectorSettings:
        return self._data.preferences.get().collector

    @property
    def destination(self) -> Destination | None:
        """Where spans are wanted, be it agreed to or not; its headers left out."""
        return destination(self.settings, os.environ)

    @property
    def named(self) -> str:
        """The address that the environment names; empty for none."""
        return named_address(os.environ)

    @property
    def place(self) -> str:
        """Where spans go now: a host; empty where they go nowhere."""
        to = self.destination
        return to.place if to and to.agreed else ""

    @property
    def knows_no_run(self) -> bool:
        """Whether none was to be sent since the start, and none waits from before."""
        return "sending" not in vars(self) and not self._data.unsent_runs.all()

    def run_ended(self, run_id: str, entries: Sequence[Entry]) -> None:
        if self.place and finished(entries) is not None:
            self.sending.take(run_id)

    async def start(self) -> None:
        """Send what an earlier start could not, and be ready for the runs of this one."""
        if self.place:
            (await self.made()).begin()

    async def made(self) -> "app.export.collector.sending.Sending":
        """What sends, whose libraries are read off the event loop."""
        return await asyncio.to_thread(lambda: self.sending)

    async def set_address(self, text: str) -> None:
        """Send there from now on; nowhere, or where the environment says, for an empty one. Raises `WorkbenchError`."""
        await self._change(address=checked_address(text))

    async def set_content(self, *, content: bool) -> None:
        await self._change(content=content)

    async def answer(self, address: str, *, agreed: bool) -> None:
        """Keep what a person said to that address, which the environment names."""
        await self._change(answers={**self.settings.answers, address: agreed})

    async def headers(self) -> dict[str, str]:
        """The saved ones; their values are for requests only."""
        await self._data.provider_keys.ready()
        saved = self._data.provider_keys.values().items()
        return {name.removeprefix(HEADER_KEY): value for name, value in saved if name.startswith(HEADER_KEY)}

    async def keep_header(self, name: str, value: str) -> None:
        """Send it with each request to the address of the settings. Raises `WorkbenchError`."""
        name, value = name.strip().lower(), value.strip()
        if not name or not value or not is_header(name, value):
            raise WorkbenchError(
                "A header has a name such as authorization or x-api-key, and a value in plain letters."
            )
        await self._data.provider_keys.keep(HEADER_KEY + name, value)

    async def forget_header(self, name: str) -> None:
        await self._data.provider_keys.forget(HEADER_KEY + name)

    async def test(self) -> "Receipt":
        """What the collector says to a span that tells nothing."""
        return await (await self.made()).test()

    async def close(self) -> None:
        if "sending" in vars(self):
            await self.sending.close()

    async def _wanted(self) -> tuple[Destination, bool] | None:
        if (to := self.destination) is None or not to.agreed:
            return None
        headers = headers_of(os.environ) if to.by_environment else await self.headers()
        return replace(to, headers=headers), self.settings.content

    async def _change(self, **changed: object) -> None:
        preferences = self._data.preferences.get()
        update = {"collector": preferences.collector.model_copy(update=changed)}
        await self._data.preferences.save(preferences.model_copy(update=update))
        (await self.made()).begin()
