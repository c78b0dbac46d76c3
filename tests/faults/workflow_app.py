"""The app with a workflow that has a node of each kind.

`python -m tests.faults.workflow_app` takes the app's own arguments. Its provider is a script that says after some words
what it was asked; the tool `append` writes a line to the file that APPENDED names, which is there. The runs that the
file AIMS names stop being written where that says.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from app.domain.agents import PromptBehaviour, ToolChoice, WorkflowBehaviour
from app.domain.messages import Message, TextPart, ToolCall, Usage
from app.domain.streaming import Delta, ModelRequest, Reply, TextDelta
from app.domain.workflows.document import Workflow
from app.llm.directory import ModelDirectory
from app.tools.function.tool import tool
from app.workbench import Workbench
from tests.domain.workflows.worlds import workflow
from tests.driven_app import append_to, driven, given_agent, serve_driven
from tests.engine.workflows.flows import of_each_kind, sends
from tests.faults.workflow_aims import INNER, AimedTraces, Aims

SLUG = "mortal"
_MOMENT = 0.05
"""Seconds that words and tools take."""


class Scripted(ModelDirectory):
    """One model, whatever it is called."""

    async def open(self, name: str) -> "Scripted":
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        await request.stored()
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
    made = driven(workbench, models, (append,))
    made.runs.starting.traces = AimedTraces(made.data.traces, Aims(Path(os.environ["AIMS"])))
    return made


def inner() -> Workflow:
    return workflow(
        sends("sent", "inner of {{input.text}}", tool="append"),
        wires=("input > sent", "sent > output"),
        answer="{{sent}}",
    )


async def prepare(workbench: Workbench) -> None:
    await given_agent(workbench, "Writer", PromptBehaviour(tools=(ToolChoice(name="append"),)))
    await given_agent(workbench, INNER.title(), WorkflowBehaviour(workflow=inner()))
    await given_agent(workbench, SLUG.title(), WorkflowBehaviour(workflow=of_each_kind(tool="append", nested=INNER)))


if __name__ == "__main__":
    serve_driven(mortal, prepare)
