"""Runs one measurement in this process: `python -m tests.figure_module tests.bench.append`."""

import asyncio
import importlib
import inspect
import sys

from tests.figures import Figure, show


def figures_of(module: str) -> list[Figure]:
    """What `run()` of `module` measured, whether it is written with async or not."""
    measured = importlib.import_module(module).run()
    return asyncio.run(measured) if inspect.iscoroutine(measured) else measured


if __name__ == "__main__":
    sys.exit(show(figures_of(sys.argv[1])))
