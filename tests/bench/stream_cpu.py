"""P3: the server's CPU for each chunk of a streamed answer with a page open, above that of a bare LiteLLM loop."""

import asyncio
import tempfile
import time
from pathlib import Path

import psutil

from tests.bench.browsing import ask, session_with
from tests.bench.first_token import bare
from tests.bench.provider import CHUNK, provider
from tests.figures import Figure

CHARACTERS = 20_000


def run(characters: int = CHARACTERS) -> list[Figure]:
    model, chunks = f"openai/stream-{characters}-100", characters // CHUNK
    with tempfile.TemporaryDirectory() as folder, session_with(model, Path(folder)) as (app, page):
        ask(page, "warm up")
        before = cpu_seconds(app.pid)
        ask(page, "go")
        ours = cpu_seconds(app.pid) - before
    with provider() as address:
        theirs = asyncio.run(bare_cpu_seconds(address, model))
    added = (ours - theirs) / chunks * 1000
    value = f"{added:.2f} ms ({ours:.2f} s against {theirs:.2f} s for {chunks} chunks)"
    return [Figure("P3 server CPU for each chunk, above bare LiteLLM", value, "<= 0 ms", added <= 0)]


def cpu_seconds(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


async def bare_cpu_seconds(address: str, model: str) -> float:
    await bare(address, model="openai/stream-400-0")
    before = time.process_time()
    await bare(address, model=model)
    return time.process_time() - before
