import asyncio
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace

from app.domain.messages import user_message
from app.domain.streaming import ModelRequest
from app.llm.litellm.reading import AnswerReader, Opened


def chunk(text: str, finish: str | None = None) -> SimpleNamespace:
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=text), finish_reason=finish)])


async def always_ready(count: int) -> AsyncIterator[object]:
    """Chunks that are all there at once, so that reading them never waits."""
    for number in range(count):
        yield chunk(f"word {number} ")
    yield chunk("", "stop")


async def test_reading_what_is_always_ready_lets_the_loop_have_its_turns():
    turns: list[float] = []

    async def watch() -> None:
        while True:
            turns.append(time.perf_counter())
            await asyncio.sleep(0)

    reader = AnswerReader(ModelRequest("openai/x", (user_message("hi"),)), "openai/x")
    watcher = asyncio.create_task(watch())
    began = time.perf_counter()
    async for _ in reader.deltas(Opened(always_ready(20_000), lambda: True)):
        pass
    spent = time.perf_counter() - began
    watcher.cancel()

    assert len(turns) > spent / 0.05
    assert reader.reply("OpenAI").message.text.endswith("word 19999 ")
