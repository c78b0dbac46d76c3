"""The app with a model that makes the tool call it is told to, and tools that ask, take their time and talk much.

`python -m tests.e2e.obeying_app` takes the app's own arguments. A message `{"name": …, "arguments": …}` is the call.
"""

import argparse
import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator
from pathlib import Path

from app.domain.agents import Behaviour, ToolChoice, new_agent
from app.domain.messages import Message, TextPart, ToolCall, Usage
from app.domain.streaming import Delta, ModelRequest, Reply
from app.domain.tools import CallContext, Progress, Question
from app.domain.values import new_id
from app.engine.chat import Chat
from app.engine.clock import SystemClock
from app.engine.jobs import Jobs
from app.engine.pauses import Pauses
from app.engine.queue import Queue
from app.engine.runs import Runs
from app.llm.directory import ModelDirectory
from app.serve import choose_port, serve
from app.store.secrets import session_token
from app.tools.registry import Registry
from app.tools.tool import tool
from app.workbench import Workbench

FORM = {
    "type": "object",
    "properties": {"size": {"type": "integer", "title": "Size"}, "colour": {"enum": ["red", "blue"]}},
    "required": ["size"],
}


@tool()
async def tailor(context: CallContext) -> str:
    """Asks for a size."""
    answer = await context.ask(Question(text="Which size?", asked_by="The tailor", form=FORM))
    return f"{answer.decision} {json.dumps(answer.values)}"


@tool()
async def climb(context: CallContext) -> str:
    """Stops half way, to be looked at, until somebody agrees."""
    context.printed("at the hut\n")
    context.progressed(Progress(done=1, total=2, text="at the hut"))
    answer = await context.ask(Question(text="Go on?"))
    return f"{answer.decision}"


@tool(idempotent=True, cancellable=False)
async def wait_for(path: str) -> str:
    """Waits until there is such a file, whatever happens meanwhile."""
    there = Path(path).exists
    while not there():  # noqa: ASYNC110  the test makes it, and nothing tells
        await asyncio.sleep(0.02)
    return "it is there"


@tool()
async def recite(lines: int) -> str:
    """Says much."""
    return "\n".join(f"line {number}" for number in range(lines))


@tool()
async def add(x: int, y: int) -> str:
    """Adds two numbers."""
    return f"{x} + {y} = {x + y}"


class Obeying(ModelDirectory):
    """One model, whatever it is called."""

    async def open(self, name: str) -> "Obeying":
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        last = request.messages[-1]
        if last.role == "user":
            wanted = json.loads(last.text)
            part = ToolCall(call_id=new_id(), name=wanted["name"], arguments=wanted["arguments"])
        else:
            part = TextPart(text="That was it.")
        yield Reply(Message(role="assistant", parts=(part,)), Usage(), "stop")


def obeying(workbench: Workbench) -> Workbench:
    data, registry = workbench.data, Registry([tailor, climb, recite, add, wait_for])
    models = Obeying(workbench.catalog, data.artifacts.get)
    runs = Runs(data.traces, data.rows, models, registry, data.artifacts, SystemClock())
    chat = Chat(data.agents, data.sessions, runs, registry)
    return dataclasses.replace(
        workbench,
        models=models,
        tools=registry,
        runs=runs,
        chat=chat,
        queue=Queue(chat),
        pauses=Pauses(chat),
        jobs=Jobs(chat, workbench.keys.may_use),
    )


async def prepare(workbench: Workbench) -> None:
    if "obedient" in workbench.agents.slugs():
        return  # started again on the same data
    tools = tuple(ToolChoice(name=name, policy="ask" if name == "add" else "auto") for name in NAMES)
    await workbench.agents.create(new_agent("Obedient", Behaviour(tools=tools), taken_slugs=workbench.agents.slugs()))


NAMES = ("tailor", "climb", "recite", "add", "wait_for")

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--no-browser", action="store_true")
    chosen = parser.parse_args()
    opened = obeying(Workbench.open(chosen.data))
    asyncio.run(prepare(opened))
    serve(opened, choose_port(chosen.port), session_token(chosen.data))
