from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.experiments.trials import Trials


@pytest.fixture
async def trials(tmp_path: Path) -> AsyncIterator[Trials]:
    trials = await Trials.opened(tmp_path / "data")
    yield trials
    await trials.close()
