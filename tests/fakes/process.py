"""A provider in a process of its own, for an app that runs in one, too."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.app_process import ROOT


@contextmanager
def openai_process(key: str) -> Iterator[str]:
    """Its address; it takes that key alone, and quotes any other."""
    command = [sys.executable, "-m", "tests.fakes.openai", "--key", key]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
