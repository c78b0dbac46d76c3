"""A2: a call of an agent over `/mcp` above the same agent over REST, in both versions of the protocol."""

import asyncio
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter

import httpx
import httpx2
from mcp import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client

from tests.app_process import AppProcess
from tests.bench.provider import provider
from tests.figures import Figure

ROUNDS = 60
WARM_UP = 5
MOST_MS = 10.0
MODEL = "sums-1-0"
MODES: tuple[ConnectMode, ...] = ("legacy", "auto")
SAID = {"input": "Add up."}


async def run(rounds: int = ROUNDS, warm_up: int = WARM_UP) -> list[Figure]:
    """They take turns; what is compared is the median of the differences within a round."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(provider())
        local = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-bench", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        app = AppProcess(folder / "data", environment=local)
        await asyncio.to_thread(app.start)
        stack.push_async_callback(asyncio.to_thread, app.stop)
        headers = {"Authorization": f"Bearer {app.token}"}
        rest = await stack.enter_async_context(httpx.AsyncClient(base_url=app.url, headers=headers, timeout=60))
        agent = {"name": "Sums", "provider": "openai", "model": MODEL, "tools": ["calculator"]}
        (await rest.post("/api/v1/agents", json=agent)).raise_for_status()
        ways: dict[str, Callable[[], Awaitable[object]]] = {"rest": lambda: _over_rest(rest)}
        for mode in MODES:
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
            way = streamable_http_client(f"{app.url}/mcp", http_client=http)
            client = await stack.enter_async_context(Client(way, mode=mode))
            ways[mode] = lambda client=client: _over_mcp(client)
        taken = await _taken(ways, rounds, warm_up)
    return [_figure(taken, mode) for mode in MODES]


async def _over_rest(rest: httpx.AsyncClient) -> None:
    reply = (await rest.post("/api/v1/agents/sums/run", json=SAID)).raise_for_status().json()
    assert reply["data"]["status"] == "completed", reply


async def _over_mcp(client: Client) -> None:
    reply = await client.call_tool("run_sums", SAID)
    assert reply.structured_content["status"] == "completed", reply


async def _taken(ways: dict[str, Callable[[], Awaitable[object]]], rounds: int, warm_up: int) -> dict[str, list[float]]:
    """Milliseconds of each round, by way."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(-warm_up, rounds):
        for name in list(ways) if number % 2 else reversed(list(ways)):
            began = perf_counter()
            await ways[name]()
            if number >= 0:
                taken[name].append(1000 * (perf_counter() - began))
    return taken


def _figure(taken: dict[str, list[float]], mode: str) -> Figure:
    above = statistics.median(ours - rest for ours, rest in zip(taken[mode], taken["rest"], strict=True))
    rest, words = statistics.median(taken["rest"]), "older" if mode == "legacy" else "newer"
    name = f"A2 call over /mcp above the same over REST, {words} protocol"
    return Figure(name, f"{above:.1f} ms (REST takes {rest:.1f} ms)", f"≤ {MOST_MS:.0f} ms", above <= MOST_MS)
