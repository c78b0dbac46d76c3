from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.households import Family
from tests.engine.workflows.workshop import Hands, Workshop


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    opened = Workshop.opened(tmp_path / "data", Family(), Hands())
    yield opened
    await opened.closed()
