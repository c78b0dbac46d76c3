"""The app with a model that makes the tool call it is told to, and tools that ask, take their time and talk much.

`python -m tests.e2e.obeying_app` takes the app's own arguments. A message `{"name": …, "arguments": …}` is the call.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

from app.domain.agents import PromptBehaviour, ToolChoice
from app.domain.messages import Message, TextPart, ToolCall, Usage
from app.domain.streaming import Delta, ModelRequest, Reply
from app.domain.tools import CallContext, Progress, Question
from app.domain.values import new_id
from app.llm.directory import ModelDirectory
from app.tools.function.tool import tool
from app.workbench import Workbench
from tests.driven_app import driven, given_agent, serve_driven

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


@tool()
async def write_down(text: str) -> str:
    """Writes something down."""
    return f"{len(text)} characters"


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
    models = Obeying(workbench.catalog, workbench.artifacts.get)
    return driven(workbench, models, (tailor, climb, recite, add, wait_for, write_down))


async def prepare(workbench: Workbench) -> None:
    tools = tuple(ToolChoice(name=name, policy="ask" if name in ("add", "write_down") else "auto") for name in NAMES)
    await given_agent(workbench, "Obedient", PromptBehaviour(tools=tools))


NAMES = ("tailor", "climb", "recite", "add", "wait_for", "write_down")

if __name__ == "__main__":
    serve_driven(obeying, prepare)
