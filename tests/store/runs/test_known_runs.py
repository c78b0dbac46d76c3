"""Whether a run has a row is asked of every run at each start, so no row is read for it."""

import random
from pathlib import Path

import pytest

from app.store.journal import packed
from app.store.journal.database import JournalDB
from app.store.runs.rows import Rows
from tests.seeds import seeded_row

RUNS = 300
"""More than are kept unpacked."""


async def test_rows_are_known_of_without_being_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, chance = Rows(JournalDB(tmp_path / "app.tdb")), random.Random(1)
    runs = [seeded_row(number, chance) for number in range(RUNS)]
    for row in runs:
        await rows.save(row)
    await rows.delete([runs[0].run_id])
    unpacked: list[int] = []
    read = packed.Packed.json

    def seen(table: packed.Packed, position: int) -> bytes:
        unpacked.append(position)
        return read(table, position)

    monkeypatch.setattr(packed.Packed, "json", seen)
    assert all(rows.knows(row.run_id) for row in runs), "also of a deleted one"
    assert not rows.knows("nobody")
    assert not unpacked
    assert rows.get(runs[1].run_id) and unpacked, "which reading one does"
