"""What tells runs' states apart is told of very many runs without a list of them."""

import random
import tracemalloc
from collections import deque
from collections.abc import Callable
from pathlib import Path

from app.store.journal.database import JournalDB
from app.store.runs.rows import Rows
from tests.seeds import seeded_row

RUNS = 2_000


def most_held(look: Callable[[], object]) -> int:
    """Bytes that were held at once while it looked, above what was held before."""
    tracemalloc.start()
    try:
        look()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


async def test_they_are_told_one_after_the_other(tmp_path: Path) -> None:
    rows, chance = Rows(JournalDB(tmp_path / "app.tdb")), random.Random(1)
    for number in range(RUNS):
        await rows.save(seeded_row(number, chance))
    told = list(rows.stamps())
    assert len(told) == RUNS and told[0][1].startswith("20")
    as_list = most_held(lambda: list(rows.stamps()))
    one_by_one = most_held(lambda: deque(rows.stamps(), maxlen=0))
    assert one_by_one < as_list * 2 / 3, f"{one_by_one:,} bytes of {as_list:,}"
