"""Programs against the sandbox: none gets out, none stays, none takes the app along."""

import asyncio
import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.domain.errors import ToolError
from app.domain.messages import ToolCall
from app.tools.registry import Registry
from tests.builtin_tools import builtin_registry
from tests.figures import Figure
from tests.tools.attacks import ATTACKS, CANARY_FILE, Attack
from tests.tools.context import Context

CANARY = "canary-7f3a"
LEAKS = re.compile(rf"{CANARY}|root:.*:0:0:|uid=\d")
ESCAPED = Path("/tmp/escaped.txt")
LONGEST_SECONDS = 5.5
MOST_MEGABYTES = 20
STOPS = 20


@dataclass(frozen=True)
class Ending:
    attack: Attack
    told: str
    seconds: float


async def run(attacks: Sequence[Attack] = ATTACKS, stops: int = STOPS) -> list[Figure]:
    with _canaries():
        registry = builtin_registry()
        await _told(registry, "1 + 1")
        before = _megabytes()
        endings = [await _ending(registry, attack) for attack in attacks]
        grown = _megabytes() - before
        stopped = sorted([await _stop(registry) for _ in range(stops)])
        warm = sorted([(await _ending(registry, Attack("warm", "1 + 1", "2"))).seconds for _ in range(stops)])
        await registry.close()
        workers = [child for child in psutil.Process().children(recursive=True) if "monty" in child.name()]
        _, left = psutil.wait_procs(workers, timeout=LONGEST_SECONDS)  # one that has run its program is ending
        escapes = [one.attack.name for one in endings if LEAKS.search(one.told)] + _changed()
    return [_escapes(endings, escapes), *_bounds(endings, grown, stopped, warm), _rest(left)]


def _escapes(endings: list[Ending], escapes: list[str]) -> Figure:
    wrong = [f"{one.attack.name}: {one.told[-100:]!r}" for one in endings if one.attack.outcome not in one.told]
    told = "; ".join([*escapes, *wrong])
    value = f"{len(escapes)} of {len(endings)} attacks{', ' * bool(told)}{told}"
    return Figure("R7 sandbox escapes", value, "0", not escapes and not wrong)


def _bounds(endings: list[Ending], grown: float, stops: list[float], warm: list[float]) -> Iterator[Figure]:
    slowest = max(endings, key=lambda one: one.seconds)
    yield Figure(
        "sandbox, longest program",
        f"{slowest.seconds:.2f} s ({slowest.attack.name})",
        f"<= {LONGEST_SECONDS} s",
        slowest.seconds <= LONGEST_SECONDS,
    )
    yield Figure("sandbox, memory of the app", f"+{grown:.0f} MB", f"<= +{MOST_MEGABYTES} MB", grown <= MOST_MEGABYTES)
    p95 = stops[int(len(stops) * 0.95) - 1]
    yield Figure("R4 stop of `while True` in the sandbox, p95", f"{p95 * 1000:.0f} ms", "<= 1000 ms", p95 <= 1)
    median = warm[len(warm) // 2]
    yield Figure("sandbox, trivial line warm, p50", f"{median * 1000:.1f} ms", "<= 10 ms", median <= 0.01)


def _rest(left: list[psutil.Process]) -> Figure:
    return Figure("sandbox, workers left after close", str(len(left)), "0", not left)


@contextmanager
def _canaries() -> Iterator[None]:
    """Secrets where a program might find them: the environment, and the folder that the workers run in."""
    home = Path.cwd()
    ESCAPED.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SANDBOX_CANARY"] = CANARY
        os.chdir(folder)
        Path(CANARY_FILE).write_text(CANARY, encoding="utf-8")
        try:
            yield
        finally:
            os.chdir(home)
            del os.environ["SANDBOX_CANARY"]


def _changed() -> list[str]:
    """What was written outside of the sandbox."""
    changed = [str(ESCAPED)] if ESCAPED.exists() or ESCAPED.is_symlink() else []
    kept = Path(CANARY_FILE)
    return changed if kept.exists() and kept.read_text(encoding="utf-8") == CANARY else [*changed, CANARY_FILE]


async def _ending(registry: Registry, attack: Attack) -> Ending:
    began = time.perf_counter()
    told = await _told(registry, attack.code)
    return Ending(attack, told, time.perf_counter() - began)


async def _told(registry: Registry, code: str, context: Context | None = None) -> str:
    call = ToolCall(call_id="1", name="execute_python", arguments={"code": code})
    try:
        output = await registry.call(call, context or Context())
    except ToolError as error:
        return str(error)
    return "".join(part.text for part in output.parts if part.type == "text")


async def _stop(registry: Registry) -> float:
    """Seconds from Stop until the worker of an endless program is gone."""
    running = asyncio.Event()

    class Waiting(Context):
        def printed(self, text: str) -> None:
            running.set()

    program = asyncio.create_task(_told(registry, "print('on')\nwhile True:\n    pass", Waiting()))
    await running.wait()
    workers = psutil.Process().children()
    began = time.perf_counter()
    program.cancel()
    await asyncio.wait({program})
    psutil.wait_procs([worker for worker in workers if worker.is_running()], timeout=5)
    return time.perf_counter() - began


def _megabytes() -> float:
    return psutil.Process().memory_info().rss / 1024 / 1024
