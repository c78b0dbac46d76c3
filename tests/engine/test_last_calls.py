"""What was last tried of each tool."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.workbench import Workbench


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "data")
    yield workbench
    await workbench.close()


async def test_the_last_arguments_and_the_last_call_of_a_tool_are_kept(workbench: Workbench):
    last = workbench.last_calls
    assert (last.arguments("calculator"), last.of("calculator")) == (None, None)
    first = last.start("calculator", {"operation": "add", "x": 1, "y": 2})
    await first.ended()
    last.keep("calculator", {"x": 3})
    assert last.arguments("calculator") == {"x": 3}
    assert last.of("calculator") is first
    assert last.of("read_file") is None
    last.forget("calculator")
    assert last.arguments("calculator") is None
