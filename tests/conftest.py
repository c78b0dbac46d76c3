"""What all tests share."""

import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, settings

from tests.processes import alive, command_of

# The tests, and the apps that they start, write into nobody's keyring.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

# How long an example takes says more of what else the machine does than of the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


HERE = Path(__file__).parent
LONGEST = 300
"""Seconds after which a test hangs: it fails, and keeps the others waiting no longer."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of the whole app take longest: they begin first, so that the workers end together."""
    items.sort(key=lambda item: item.path.parent != HERE)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is loaded before the first test is nobody's garbage: a walk takes 0.4 s, and each page's test makes two."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


@pytest.fixture(autouse=True, scope="module")
def _set_aside() -> None:
    """Nor is what the files before have loaded, such as LiteLLM, which takes as long again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    if not hasattr(signal, "alarm"):  # Windows
        return (yield)

    def gives_up(*_: object) -> None:
        raise TimeoutError(f"{item.name} takes more than {LONGEST} seconds.")

    before = signal.signal(signal.SIGALRM, gives_up)
    signal.alarm(LONGEST)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def started() -> Callable[[], list[str]]:
    """The command lines of what this test has started and has not ended; tests before it may hold some of theirs."""
    me = psutil.Process()
    others = me.children(recursive=True)

    def commands() -> list[str]:
        return [command_of(one) for one in me.children(recursive=True) if one not in others and alive(one.pid)]

    return commands
