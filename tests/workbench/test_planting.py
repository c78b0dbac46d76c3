"""The samples of the very first start."""

import asyncio
import contextlib
import shutil
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


async def started(folder: Path) -> Workbench:
    workbench = Workbench.open(folder)
    await workbench.start(with_datasets=True)
    return workbench


async def slugs_after_a_start(folder: Path) -> set[str]:
    """Those of all agents once the app was started over the folder, and ended in good order."""
    workbench = await started(folder)
    await workbench.plant()
    slugs = workbench.agents.slugs()
    await workbench.close()
    return slugs


async def test_what_a_first_start_was_cut_short_over_comes_at_the_next(tmp_path: Path) -> None:
    whole = await slugs_after_a_start(tmp_path / "first")
    counts = await kept(tmp_path / "first")
    cut = Workbench.open(tmp_path / "cut")
    starting = asyncio.create_task(cut.start(with_datasets=True))
    await until(cut.agents.slugs)
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await starting
    assert len(cut.agents.slugs()) < len(whole)
    await cut.close()
    assert await slugs_after_a_start(tmp_path / "cut") == whole
    assert await kept(tmp_path / "cut") == counts


async def test_a_dataset_that_a_killed_app_stored_in_part_is_made_whole_at_the_next_start(tmp_path: Path) -> None:
    whole = await slugs_after_a_start(tmp_path / "first")
    killed = await started(tmp_path / "killed")
    planting = asyncio.create_task(killed.plant())
    await until(lambda: any(killed.cases.count(dataset.id) for dataset in killed.datasets.all()))
    shutil.copytree(tmp_path / "killed", tmp_path / "copy")
    await planting
    await killed.close()
    counts = await kept(tmp_path / "first")
    assert await kept(tmp_path / "copy") != counts
    assert await slugs_after_a_start(tmp_path / "copy") == whole
    assert await kept(tmp_path / "copy") == counts


async def test_a_folder_that_an_earlier_version_has_used_gets_no_samples(tmp_path: Path) -> None:
    earlier = Workbench.open(tmp_path)
    await earlier.start()
    (agent, *_) = earlier.agents.all()
    await earlier.agents.delete(agent.id)
    await earlier.close()
    again = await started(tmp_path)
    await again.plant()
    assert agent not in again.agents.all() and again.datasets.slugs() == set()
    await again.close()
