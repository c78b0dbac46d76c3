"""The app with two agents that hand tasks over: one with money enough, one whose ceiling ends its family early.

`python -m tests.faults.spawning_app` takes the app's own arguments. The provider is a script: who is asked to lead
starts three tasks and joins them; a task calls one tool, which writes a line to the file that APPENDED names.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from app.domain.agents import Limits, Parameters, PromptBehaviour, ToolChoice
from app.domain.messages import Message, TextPart, ToolCall, ToolResult, Usage
from app.domain.models import Price
from app.domain.settings import Preferences
from app.domain.streaming import Delta, ModelRequest, Reply, TextDelta
from app.llm.directory import ModelDirectory
from app.tools.builtin.session import join_task, spawn_task
from app.tools.function.tool import tool
from app.workbench import Workbench
from tests.driven_app import append_to, driven, given_agent, serve_driven

CHILDREN = 3
TOKENS = 10
PRICE = 0.01
"""US dollars for a token of an answer."""
CEILINGS = {"rich": 500.0, "poor": 0.65}
"""US dollars by agent; a family costs 0.90 where nobody kills it."""
DAY = 10_000.0
"""US dollars: no family is ended by what others cost."""
_MOMENT = 0.02
"""Seconds that a word and a tool take."""


class Scripted(ModelDirectory):
    """One model, whatever it is called."""

    async def open(self, name: str) -> "Scripted":
        return self

    def price(self, name: str) -> Price | None:
        return Price(input=0.0, output=PRICE)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        await request.stored()
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
    models = Scripted(workbench.catalog, workbench.artifacts.get)
    append = tool(idempotent=True)(append_to(Path(os.environ["APPENDED"]), _MOMENT))
    return driven(workbench, models, (append, spawn_task, join_task))


async def prepare(workbench: Workbench) -> None:
    for name, ceiling in CEILINGS.items():
        behaviour = PromptBehaviour(
            tools=tuple(ToolChoice(name=name) for name in ("append", "spawn_task", "join_task")),
            parameters=Parameters(max_tokens=TOKENS),
            limits=Limits(run_cost=ceiling, day_cost=DAY),
        )
        await given_agent(workbench, name.title(), behaviour)
    await workbench.preferences.save(Preferences(day_cost=DAY))


if __name__ == "__main__":
    serve_driven(spawning, prepare)
