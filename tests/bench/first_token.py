"""P2: what the app adds to the time until the first token, against a bare LiteLLM call of the same provider.

Of a message all that belongs to it is on disk before its model is asked; beside it is what a model call alone takes.
"""

import asyncio
import os
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

from app.domain.messages import user_message
from app.domain.streaming import ModelRequest, TextDelta
from app.domain.trace import totals
from app.engine.ports import Model
from app.llm.litellm.litellm_model import ensure_litellm
from app.workbench import Workbench
from tests.bench.load import finish, start
from tests.bench.provider import provider
from tests.figures import Figure
from tests.waiting import until

ROUNDS = 40
REST = 0.05
"""Seconds after each call: LiteLLM goes on for some milliseconds behind its answer, which belongs to no other call."""
MODEL = "openai/stream-200-100"


async def run(rounds: int = ROUNDS) -> list[Figure]:
    with provider() as address, tempfile.TemporaryDirectory() as temporary:
        os.environ |= {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-bench"}
        workbench = Workbench.open(Path(temporary) / "data")
        await finish([await start(workbench, MODEL)])
        await bare(address)
        model = await workbench.models.open(MODEL)
        agent_id = workbench.agents.all()[-1].id
        ours, new, alone, theirs = [], [], [], []
        for _ in range(rounds):
            for found, taken in (
                (ours, partial(sent, workbench, agent_id)),
                (new, partial(sent, workbench, agent_id, new=True)),
                (alone, partial(called, model)),
                (theirs, partial(bare, address)),
            ):
                await asyncio.sleep(REST)
                found.append(await taken())
        await workbench.close()
    return [
        _figure("P2 first token after Send, added to bare LiteLLM, p50", ours, theirs, most=0),
        _figure("P2 first token of a session made for it, added to bare LiteLLM, p50", new, theirs, most=0),
        _figure("P2 first token of a model call alone, added to bare LiteLLM, p50", alone, theirs, most=0),
    ]


def _figure(name: str, ours: list[float], theirs: list[float], *, most: int) -> Figure:
    added = statistics.median(ours) - statistics.median(theirs)
    value = f"{added:.1f} ms ({statistics.median(ours):.1f} against {statistics.median(theirs):.1f})"
    return Figure(name, value, f"<= {most} ms", added <= most)


async def sent(workbench: Workbench, agent_id: str, *, new: bool = False) -> float:
    """Milliseconds from a message to the first text in the run's draft, the message on disk by then.

    A person's session is there before they send; who asks over REST without one has it made first: `new`.
    """
    asked = time.perf_counter()
    session = await workbench.chat.new_session(agent_id)
    began = asked if new else time.perf_counter()
    live = await workbench.chat.send(session.id, "go")
    await until(lambda: live.draft.text or not live.alive, pause=0)  # one that rests wakes a millisecond late
    seconds = time.perf_counter() - began
    await finish([live])
    assert totals(live.entries).model_calls == 1
    return seconds * 1000


async def called(model: Model) -> float:
    """Milliseconds from the call of the model to its first text."""
    began = time.perf_counter()
    first = 0.0
    async for item in model.stream(ModelRequest(MODEL, (user_message("go"),))):
        if not first and isinstance(item, TextDelta):
            first = (time.perf_counter() - began) * 1000
    return first


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
