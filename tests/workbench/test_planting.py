"""The samples of the very first start."""

import asyncio
import contextlib
from pathlib import Path

from app.workbench import Workbench
from tests.waiting import until


async def kept(folder: Path) -> dict[str, int]:
    """How many cases each dataset in the folder has."""
    workbench = Workbench.open(folder)
    counts = {dataset.slug: workbench.cases.count(dataset.id) for dataset in workbench.datasets.all()}
    await workbench.close()
    return counts


async def test_datasets_are_whole_though_the_app_ends_while_they_are_stored(tmp_path: Path) -> None:
    first, broken_off = Workbench.open(tmp_path / "first"), Workbench.open(tmp_path / "broken-off")
    await first.plant()
    await first.close()
    planting = asyncio.create_task(broken_off.plant())
    await until(broken_off.datasets.slugs)
    planting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await planting
    await broken_off.close()
    counts = await kept(tmp_path / "first")
    assert len(counts) > 1 and all(counts.values())
    assert await kept(tmp_path / "broken-off") == counts
