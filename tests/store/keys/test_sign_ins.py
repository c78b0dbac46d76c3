"""Who is signed in: over restarts, for how long, how many, and until when."""

import asyncio
import stat
from pathlib import Path

import pytest

from app.domain.errors import StorageError
from app.store.keys.sign_ins import DAY, FILE, LIFETIME_DAYS, MOST, SignIns
from app.workbench import Workbench
from tests.store.read_only import fingerprint, newer_folder


class Calendar:
    """A present that a test sets."""

    def __init__(self) -> None:
        self.day = 20_000.0

    def __call__(self) -> float:
        return self.day * DAY


def holding(folder: Path, shown: str) -> list[Path]:
    """The files that hold it."""
    return [path for path in folder.rglob("*") if path.is_file() and shown.encode() in path.read_bytes()]


async def test_a_browser_stays_signed_in_over_a_restart_and_its_id_is_on_no_disk(tmp_path: Path):
    workbench = Workbench.open(tmp_path)
    first, second = await workbench.sign_ins.sign_in(), await workbench.sign_ins.sign_in()
    await workbench.close()
    assert first != second and stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert not holding(tmp_path, first)
    again = Workbench.open(tmp_path)
    assert again.sign_ins.is_signed_in(first) and again.sign_ins.is_signed_in(second) and again.sign_ins.number == 2
    assert not any(again.sign_ins.is_signed_in(wrong) for wrong in ("", first[:-1], first + "x", "ü", "\udcff"))
    await again.sign_ins.sign_all_out()
    assert not again.sign_ins.is_signed_in(first)
    await again.close()
    after = Workbench.open(tmp_path)
    assert not after.sign_ins.is_signed_in(first) and after.sign_ins.number == 0
    await after.close()


async def test_no_backup_holds_who_is_signed_in_and_no_restore_brings_it_back(tmp_path: Path):
    workbench = Workbench.open(tmp_path)
    before = await workbench.sign_ins.sign_in()
    backup = await workbench.data.backups.take()
    await workbench.sign_ins.sign_all_out()
    after = await workbench.sign_ins.sign_in()
    await workbench.data.backups.restore(backup.name)
    await workbench.close()
    restored = Workbench.open(tmp_path)
    assert restored.sign_ins.is_signed_in(after) and not restored.sign_ins.is_signed_in(before)
    await restored.close()


async def test_over_data_that_is_only_looked_at_it_ends_with_the_app(tmp_path: Path):
    folder = newer_folder(tmp_path / "newer")
    before = fingerprint(folder)
    workbench = Workbench.open(folder)
    assert workbench.sign_ins.is_signed_in(await workbench.sign_ins.sign_in())
    await workbench.close()
    assert fingerprint(folder) == before


async def test_who_does_not_come_for_long_is_signed_out(tmp_path: Path):
    today = Calendar()
    sign_ins = SignIns(tmp_path / FILE, today)
    shown = await sign_ins.sign_in()
    today.day += LIFETIME_DAYS - 1
    assert sign_ins.is_signed_in(shown)
    await sign_ins.close()
    sign_ins = SignIns(tmp_path / FILE, today)
    today.day += LIFETIME_DAYS - 0.5
    assert sign_ins.is_signed_in(shown) and sign_ins.number == 1
    today.day += LIFETIME_DAYS
    assert not sign_ins.is_signed_in(shown) and sign_ins.number == 0


async def test_one_browser_too_many_signs_out_the_one_that_was_not_used_for_longest():
    today = Calendar()
    sign_ins = SignIns(now=today)
    shown = [await sign_ins.sign_in() for _ in range(MOST)]
    today.day += 2
    assert sign_ins.is_signed_in(shown[0])
    newest = await sign_ins.sign_in()
    assert [one for one in (*shown, newest) if not sign_ins.is_signed_in(one)] == [shown[1]]
    assert sign_ins.number == MOST


async def test_a_full_disk_keeps_nobody_out_and_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    sign_ins = SignIns(tmp_path / "nowhere" / FILE)
    shown = await sign_ins.sign_in()
    assert sign_ins.is_signed_in(shown) and "has to sign in again after the next start" in caplog.text
    with pytest.raises(StorageError):
        await sign_ins.sign_all_out()
    assert not sign_ins.is_signed_in(shown)


@pytest.mark.parametrize("turns", (1, 2, 3))
async def test_signing_out_goes_on_when_nobody_waits_for_it(tmp_path: Path, turns: int):
    sign_ins = SignIns(tmp_path / FILE)
    shown = [await sign_ins.sign_in() for _ in range(3)]
    signing_out = asyncio.create_task(sign_ins.sign_all_out())
    for _ in range(turns):
        await asyncio.sleep(0)
    signing_out.cancel()
    await asyncio.gather(signing_out, return_exceptions=True)
    last = await sign_ins.sign_in()
    assert [one for one in (*shown, last) if SignIns(tmp_path / FILE).is_signed_in(one)] == [last]


async def test_a_file_that_cannot_be_read_is_told(tmp_path: Path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(StorageError, match=FILE):
        SignIns(tmp_path / FILE)


@pytest.mark.parametrize("content", ["{", "[]", '{"x": "y"}', "\udcff"])
async def test_a_damaged_file_signs_everyone_out(tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture):
    (tmp_path / FILE).write_bytes(content.encode("utf-8", "surrogateescape"))
    sign_ins = SignIns(tmp_path / FILE)
    assert sign_ins.number == 0 and "every browser has to be signed in again" in caplog.text
    assert sign_ins.is_signed_in(await sign_ins.sign_in())
