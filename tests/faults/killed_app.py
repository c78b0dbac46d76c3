"""The app with an agent whose run takes several steps.

`python -m tests.faults.killed_app` takes the app's own arguments. Its provider is a script: it writes a few words, then
asks for the next calls, until it has made all of them. The tool `append` writes a line to the file that APPENDED names,
which is there; `look` reads it, and may be called twice.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from app.domain.agents import PromptBehaviour, ToolChoice
from app.domain.messages import Message, TextPart, ToolCall, Usage
from app.domain.streaming import Delta, ModelRequest, Reply, TextDelta
from app.llm.directory import ModelDirectory
from app.tools.function.tool import AnyTool, tool
from app.workbench import Workbench
from tests.driven_app import append_to, driven, given_agent, serve_driven

STEPS = 4
SLUG = "mortal"
_MOMENT = 0.01
"""Seconds that words and tools take."""


def tools(appended: Path) -> list[AnyTool]:
    async def look() -> str:
        """Counts the lines."""
        await asyncio.sleep(_MOMENT)
        with appended.open(encoding="utf-8") as file:
            return str(len(file.readlines()))

    return [tool(side_effects=True)(append_to(appended, _MOMENT)), tool(idempotent=True)(look)]


class Scripted(ModelDirectory):
    """One model, whatever it is called."""

    async def open(self, name: str) -> "Scripted":
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        await request.stored()
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
    models = Scripted(workbench.catalog, workbench.artifacts.get)
    return driven(workbench, models, tools(Path(os.environ["APPENDED"])))


async def prepare(workbench: Workbench) -> None:
    behaviour = PromptBehaviour(tools=(ToolChoice(name="append"), ToolChoice(name="look")))
    await given_agent(workbench, SLUG.title(), behaviour)


if __name__ == "__main__":
    serve_driven(mortal, prepare)
