"""The Python sandbox: how long a line takes that does nothing much, once its process is up."""

import statistics
import time

from app.domain.messages import ToolCall
from tests.builtin_tools import builtin_registry
from tests.figures import Figure
from tests.tools.context import Context

CALLS = 100


async def run(calls: int = CALLS) -> list[Figure]:
    registry = builtin_registry()
    took: list[float] = []
    try:
        for number in range(calls + 5):
            call = ToolCall(call_id=f"call-{number}", name="execute_python", arguments={"code": "print(1 + 1)"})
            began = time.perf_counter()
            output = await registry.call(call, Context())
            took.append((time.perf_counter() - began) * 1000)
            if "2" not in output.printed:
                raise RuntimeError(f"The sandbox answered {output}")
    finally:
        await registry.close()
    warm = statistics.median(took[5:])
    return [Figure("execute_python, a trivial line, warm, p50", f"{warm:.1f} ms", "<= 10 ms", warm <= 10)]
