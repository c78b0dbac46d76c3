"""P2: what the app adds to the time until the first token, against a bare LiteLLM call of the same provider."""

import os
import statistics
import tempfile
import time
from pathlib import Path

from app.domain.trace import totals
from app.llm.litellm.litellm_model import ensure_litellm
from app.workbench import Workbench
from tests.bench.load import finish, start
from tests.bench.provider import provider
from tests.figures import Figure
from tests.waiting import until

ROUNDS = 40
MODEL = "openai/stream-200-100"


async def run(rounds: int = ROUNDS) -> list[Figure]:
    with provider() as address, tempfile.TemporaryDirectory() as temporary:
        os.environ |= {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-bench"}
        workbench = Workbench.open(Path(temporary) / "data")
        await finish([await start(workbench, MODEL)])
        await bare(address)
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(await through_the_app(workbench))
            theirs.append(await bare(address))
        await workbench.close()
    added = statistics.median(ours) - statistics.median(theirs)
    value = f"{added:.1f} ms ({statistics.median(ours):.1f} against {statistics.median(theirs):.1f})"
    return [Figure("P2 first token, added to bare LiteLLM, p50", value, "<= 20 ms", added <= 20)]


async def through_the_app(workbench: Workbench) -> float:
    """Milliseconds from the message to its first text in the run's draft, session and trace on disk included."""
    began = time.perf_counter()
    live = await start(workbench, MODEL)
    await until(lambda: live.draft.text or not live.alive)
    seconds = time.perf_counter() - began
    await finish([live])
    assert totals(live.entries).model_calls == 1
    return seconds * 1000


async def bare(address: str, *, model: str = MODEL) -> float:
    """Milliseconds from the call to its first text, of LiteLLM alone, set up as the app does it."""
    litellm = await ensure_litellm()

    began = time.perf_counter()
    stream = await litellm.acompletion(
        model=model,
        messages=[{"role": "user", "content": "go"}],
        stream=True,
        stream_options={"include_usage": True},
        api_base=address,
        api_key="sk-bench",
        max_retries=0,
        num_retries=0,
    )
    first = 0.0
    async for chunk in stream:
        if not first and chunk.choices and chunk.choices[0].delta.content:
            first = (time.perf_counter() - began) * 1000
    return first
