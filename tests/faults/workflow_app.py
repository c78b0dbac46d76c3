"""The app with a workflow that has a node of each kind.

`python -m tests.faults.workflow_app` takes the app's own arguments. Its provider is a script that says after some words
what it was asked; the tool `append` writes a line to the file that APPENDED names, which is there.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from app.domain.agents import PromptBehaviour, ToolChoice, WorkflowBehaviour
from app.domain.messages import Message, TextPart, ToolCall, Usage
from app.domain.streaming import Delta, ModelRequest, Reply, TextDelta
from app.llm.directory import ModelDirectory
from app.tools.function.tool import tool
from app.workbench import Workbench
from tests.driven_app import append_to, driven, given_agent, serve_driven
from tests.engine.workflows.flows import of_each_kind

SLUG = "mortal"
_MOMENT = 0.05
"""Seconds that words and tools take."""


class Scripted(ModelDirectory):
    """One model, whatever it is called."""

    async def open(self, name: str) -> "Scripted":
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        asked, called = request.messages[0].text, any(message.tool_calls for message in request.messages)
        for word in (*asked.split(), ""):
            await asyncio.sleep(_MOMENT / 2)
            yield TextDelta(word)
        call = ToolCall(call_id="a", name="append", arguments={"line": f"agent of {asked.split()[-1]}"})
        parts = (TextPart(text=asked), *(() if called else (call,)))
        finish = "stop" if called else "tool_calls"
        yield Reply(Message(role="assistant", parts=parts), Usage(input_tokens=1, output_tokens=1), finish)


def mortal(workbench: Workbench) -> Workbench:
    models = Scripted(workbench.catalog, workbench.artifacts.get)
    append = tool(side_effects=True)(append_to(Path(os.environ["APPENDED"]), _MOMENT))
    return driven(workbench, models, (append,))


async def prepare(workbench: Workbench) -> None:
    await given_agent(workbench, "Writer", PromptBehaviour(tools=(ToolChoice(name="append"),)))
    await given_agent(workbench, SLUG.title(), WorkflowBehaviour(workflow=of_each_kind(tool="append")))


if __name__ == "__main__":
    serve_driven(mortal, prepare)
