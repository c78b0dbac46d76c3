from pathlib import Path

from tests.faults.store_power_cuts import cut


def test_a_power_cut_takes_nothing_that_was_safe(tmp_path: Path):
    assert cut(tmp_path, 200, seed=2) == ([], [])
