"""The results of a step are on disk before the model reads them; meanwhile the next request is made ready."""

import asyncio
import threading
from pathlib import Path

from app.domain.messages import ToolCall
from app.store.journal.disk import Disk
from tests.engine.scripted import reply
from tests.faults.stopped import bench_on
from tests.waiting import until


class HeldDisk(Disk):
    """Once a result was written it stands still, until it is let go."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.free.set()

    def write(self, descriptor: int, content: memoryview, offset: int) -> int:
        if b'"tool_returned"' in content.tobytes():
            self.free.clear()
        return super().write(descriptor, content, offset)

    def sync(self, descriptor: int) -> None:
        assert self.free.wait(10)
        super().sync(descriptor)


async def test_the_next_request_is_ready_while_results_are_written_and_leaves_behind_them(tmp_path: Path):
    disk, stored = HeldDisk(), list[bool]()
    async with bench_on(disk, tmp_path / "data") as bench:
        session = await bench.session("add")

        async def look() -> None:
            stored.append(disk.free.is_set())

        bench.models.say(reply("", ToolCall(call_id="a", name="add", arguments={"x": 1, "y": 2})))
        bench.models.say(look, "3")  # type: ignore[arg-type]
        live = await bench.chat.send(session.id, "add")
        try:
            await until(lambda: [entry.event.type for entry in live.entries].count("model_called") == 2)
            await until(lambda: not disk.free.is_set())
            assert len(bench.models.requests) == 1
        finally:
            disk.free.set()
        await asyncio.wait_for(live.ended(), 30)
    assert len(bench.models.requests) == 2
    assert stored == [True]
