"""What is told of watched processes is told of those that they begin, however soon."""

import subprocess
import sys

from tests.watched import Watched

COPIES = "import os, time; copy = os.fork(); time.sleep(0.3); copy and os.wait()"
BEGINS = "import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', 'import time; time.sleep(0.3)'])"


def followed(code: str) -> dict[str, bytes]:
    with Watched() as watched:
        process = subprocess.Popen([sys.executable, "-S", "-c", code])
        watched.follow(process.pid)
        process.wait(30)
    return watched.seen


def test_a_copy_of_one_that_has_only_just_begun_is_no_other_process():
    assert [followed(COPIES) for _ in range(6)] == [{}] * 6


def test_what_it_begins_is_seen():
    assert any("time.sleep" in name for name in followed(BEGINS))
