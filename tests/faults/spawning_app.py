"""The app with two agents that hand tasks over: one with money enough, one whose ceiling ends its family early.

`python -m tests.faults.spawning_app` takes the app's own arguments. The provider is a script: who is asked to lead
starts three tasks and joins them; a task calls one tool, which writes a line to the file that APPENDED names.
"""

import argparse
import asyncio
import dataclasses
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from app.domain.agents import Behaviour, Limits, Parameters, ToolChoice, new_agent
from app.domain.messages import Message, TextPart, ToolCall, ToolResult, Usage
from app.domain.models import Price
from app.domain.streaming import Delta, ModelRequest, Reply, TextDelta
from app.engine.chat import Chat
from app.engine.clock import SystemClock
from app.engine.jobs import Jobs
from app.engine.pauses import Pauses
from app.engine.queue import Queue
from app.engine.runs import Runs
from app.llm.directory import ModelDirectory
from app.serve import choose_port, serve
from app.store.secrets import session_token
from app.tools.builtin.tasks import join_task, spawn_task
from app.tools.registry import Registry
from app.tools.tool import AnyTool, tool
from app.workbench import Workbench

CHILDREN = 3
TOKENS = 10
PRICE = 0.01
"""US dollars for a token of an answer."""
CEILINGS = {"rich": 500.0, "poor": 0.65}
"""US dollars by agent; a family costs 0.90 where nobody kills it."""
_MOMENT = 0.02
"""Seconds that a word and a tool take."""


def append_tool(appended: Path) -> AnyTool:
    async def append(line: str) -> str:
        """Appends a line."""
        await asyncio.sleep(_MOMENT)
        with appended.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        await asyncio.sleep(_MOMENT)
        return f"appended {line}"

    return tool(idempotent=True)(append)


class Scripted(ModelDirectory):
    """One model, whatever it is called."""

    async def open(self, name: str) -> "Scripted":
        return self

    def price(self, name: str) -> Price | None:
        return Price(input=0.0, output=PRICE)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        done = sum(len(message.tool_calls) > 0 for message in request.messages)
        asked = request.messages[0].text
        words = f"Step {done + 1}."
        for word in (*words.split(), ""):
            await asyncio.sleep(_MOMENT)
            yield TextDelta(word)
        calls = _leading(request, done) if asked.startswith("lead") else _working(asked, done)
        message = Message(role="assistant", parts=(TextPart(text=words), *calls))
        yield Reply(message, Usage(input_tokens=1, output_tokens=TOKENS), "tool_calls" if calls else "stop")


def _leading(request: ModelRequest, done: int) -> tuple[ToolCall, ...]:
    if done == 0:
        tasks = (f"work {number}" for number in range(CHILDREN))
        return tuple(ToolCall(call_id=task, name="spawn_task", arguments={"task": task}) for task in tasks)
    results = [part for message in request.messages for part in message.parts if isinstance(part, ToolResult)]
    ids = [result.text for result in results if result.status == "ok"]
    return tuple(ToolCall(call_id=f"join {i}", name="join_task", arguments={"task_id": i}) for i in ids) * (done == 1)


def _working(asked: str, done: int) -> tuple[ToolCall, ...]:
    return (ToolCall(call_id="a", name="append", arguments={"line": asked}),) * (done == 0)


def spawning(workbench: Workbench) -> Workbench:
    data = workbench.data
    registry = Registry((append_tool(Path(os.environ["APPENDED"])), spawn_task, join_task))
    models = Scripted(workbench.catalog, data.artifacts.get)
    runs = Runs(data.traces, data.rows, models, registry, data.artifacts, SystemClock())
    chat = Chat(data.agents, data.sessions, runs, registry)
    parts = {"queue": Queue(chat), "pauses": Pauses(chat), "jobs": Jobs(chat)}
    return dataclasses.replace(workbench, models=models, tools=registry, runs=runs, chat=chat, **parts)


async def prepare(workbench: Workbench) -> None:
    for name, ceiling in CEILINGS.items():
        if name in workbench.agents.slugs():
            continue
        behaviour = Behaviour(
            tools=tuple(ToolChoice(name=name) for name in ("append", "spawn_task", "join_task")),
            parameters=Parameters(max_tokens=TOKENS),
            limits=Limits(run_cost=ceiling, day_cost=10_000),
        )
        await workbench.agents.create(new_agent(name.title(), behaviour, taken_slugs=workbench.agents.slugs()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--no-browser", action="store_true")
    chosen = parser.parse_args()
    opened = spawning(Workbench.open(chosen.data))
    asyncio.run(prepare(opened))
    serve(opened, choose_port(chosen.port), session_token(chosen.data))
