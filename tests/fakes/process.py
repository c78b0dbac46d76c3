"""A fake in a process of its own, for an app that runs in one, too."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.app_process import ROOT


@contextmanager
def openai_process(key: str) -> Iterator[str]:
    """Its address; it takes that key alone, and quotes any other."""
    with fake_process("tests.fakes.openai", "--key", key) as address:
        yield address


@contextmanager
def fake_process(module: str, *options: str) -> Iterator[str]:
    """The address of that fake."""
    command = [sys.executable, "-m", module, *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
