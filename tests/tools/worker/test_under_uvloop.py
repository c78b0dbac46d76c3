"""The app serves on uvloop, whose transports are of none of asyncio's classes."""

from pathlib import Path

import pytest

from app.tools.worker.file_worker import FileWorker
from tests.tools.context import Context

uvloop = pytest.importorskip("uvloop", reason="uvloop is not for this system; the app then serves without it")

SOURCE = 'def double(number: int) -> int:\n    """Double a number."""\n    return number * 2\n'


def test_a_file_is_loaded_called_and_ended_on_uvloop(tmp_path: Path):
    async def doubled() -> str:
        worker = FileWorker(tmp_path / "double.py", SOURCE)
        try:
            loaded = await worker.load()
            assert [spec.name for spec in loaded.tools] == ["double"]
            output = await worker.call("double", {"number": 21}, Context())
        finally:
            await worker.close()
        return output.parts[0].text

    assert uvloop.run(doubled()) == "42"
