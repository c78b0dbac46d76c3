"""The app with an agent whose run takes several steps.

`python -m tests.faults.killed_app` takes the app's own arguments. Its provider is a script: it writes a few words, then
asks for the next calls, until it has made all of them. The tool `append` writes a line to the file that APPENDED names,
which is there; `look` reads it, and may be called twice.
"""

import argparse
import asyncio
import dataclasses
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from app.domain.agents import Behaviour, ToolChoice, new_agent
from app.domain.messages import Message, TextPart, ToolCall, Usage
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
from app.tools.registry import Registry
from app.tools.tool import AnyTool, tool
from app.workbench import Workbench

STEPS = 4
SLUG = "mortal"
_MOMENT = 0.01
"""Seconds that words and tools take."""


def tools(appended: Path) -> list[AnyTool]:
    async def append(line: str) -> str:
        """Appends a line."""
        await asyncio.sleep(_MOMENT)
        with appended.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        await asyncio.sleep(_MOMENT)
        return f"appended {line}"

    async def look() -> str:
        """Counts the lines."""
        await asyncio.sleep(_MOMENT)
        with appended.open(encoding="utf-8") as file:
            return str(len(file.readlines()))

    return [tool(side_effects=True)(append), tool(idempotent=True)(look)]


class Scripted(ModelDirectory):
    """One model, whatever it is called."""

    async def open(self, name: str) -> "Scripted":
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        done = sum(len(message.tool_calls) > 0 for message in request.messages)
        words = f"Step {done + 1}."
        for word in (*words, ""):
            await asyncio.sleep(_MOMENT / 4)
            yield TextDelta(word)
        calls = _calls(request.messages[0].text, done) if done < STEPS else ()
        reply = Message(role="assistant", parts=(TextPart(text=words), *calls))
        yield Reply(reply, Usage(input_tokens=1, output_tokens=1), "tool_calls" if calls else "stop")


def _calls(prefix: str, step: int) -> tuple[ToolCall, ...]:
    append = ToolCall(call_id=f"a{step}", name="append", arguments={"line": f"{prefix}-{step}"})
    return append, ToolCall(call_id=f"l{step}", name="look", arguments={})


def mortal(workbench: Workbench) -> Workbench:
    data, registry = workbench.data, Registry(tools(Path(os.environ["APPENDED"])))
    models = Scripted(workbench.catalog, data.artifacts.get)
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
    if SLUG not in workbench.agents.slugs():
        behaviour = Behaviour(tools=(ToolChoice(name="append"), ToolChoice(name="look")))
        await workbench.agents.create(new_agent(SLUG.title(), behaviour, taken_slugs=workbench.agents.slugs()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--no-browser", action="store_true")
    chosen = parser.parse_args()
    opened = mortal(Workbench.open(chosen.data))
    asyncio.run(prepare(opened))
    serve(opened, choose_port(chosen.port), session_token(chosen.data))
