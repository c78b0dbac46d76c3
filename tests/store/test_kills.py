import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KILLS = """
import sys
from pathlib import Path
from tests.store.killing import kill

toll = kill(Path(sys.argv[1]), 40, seed=4, fresh_after=8)
print(toll.kills, toll.inside)
print(*toll.lost, *toll.unreadable, sep="\\n", file=sys.stderr, end="")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_killed_app_keeps_all_that_it_promised(tmp_path: Path):
    """In a process of its own, because a fork copies all that this one holds."""
    ran = subprocess.run(
        [sys.executable, "-c", KILLS, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    kills, inside = map(int, ran.stdout.split())
    assert kills == 40
    assert inside > 20
