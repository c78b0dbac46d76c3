"""The app with tools of all kinds to try the Tools page on: `python -m tests.tools_app` takes the app's own arguments.

MANY_TOOLS in the environment adds that many more.
"""

import argparse
import asyncio
import base64
import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from app.domain.messages import FilePart, ImagePart, TextPart
from app.domain.tools import CallContext, Progress, Question, ToolOutput
from app.engine.by_hand import HandCalls, LastCalls
from app.start.port import open_port
from app.start.serve import serve
from app.tools.builtin.calculator import calculator
from app.tools.function.tool import AnyTool, Tool, tool
from app.tools.registry import Registry
from app.workbench import Workbench
from tests.parts import having

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Person(BaseModel):
    name: str = Field(description="What they are called.")
    age: int | None = Field(default=None, ge=0, le=150)
    tags: list[str] = []


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    kind: Literal["square"]
    side: float


@tool(title="All kinds", icon="category", idempotent=True)
def forms__all_kinds(
    *,
    title: str,
    colour: Literal["red", "green", "blue"],
    count: int = 3,
    ratio: float | None = None,
    urgent: bool = False,
    day: date | None = None,
    guests: Sequence[str] = (),
    people: Sequence[Person] = (),
    labels: dict[str, str] | None = None,
    shape: Circle | Square | None = None,
    note: str | None = None,
) -> dict[str, object]:
    """Say back what was given.

    Args:
        title: A heading.
        colour: One of three.
        count: How many.
        ratio: A share, or none.
        urgent: Whether it hurries.
        day: When.
        guests: Who comes.
        people: Who is there.
        labels: Names and values.
        shape: A circle or a square.
        note: Anything else.
    """
    given = {"title": title, "colour": colour, "count": count, "ratio": ratio, "urgent": urgent, "labels": labels}
    written = {"day": day and day.isoformat(), "people": [person.model_dump() for person in people]}
    return {**given, **written, "guests": list(guests), "shape": shape and shape.model_dump(), "note": note}


@tool(title="Rows", icon="table_rows")
def forms__rows(number: int = 3) -> list[dict[str, object]]:
    """Return that many rows."""
    return [{"name": f"row {place}", "amount": place * 10, "nested": {"at": [place]}} for place in range(number)]


@tool(title="Slow", icon="hourglass_empty", side_effects=True)
async def live__slow(context: CallContext, steps: int = 100) -> str:
    """Count slowly, and tell of it.

    Args:
        steps: How many tenths of a second.
    """
    for step in range(steps):
        context.printed(f"step {step}\n")
        context.progressed(Progress(done=step, total=steps, text="Counting"))
        await asyncio.sleep(0.1)
    return f"Counted to {steps}"


@tool(title="Asks", icon="contact_support")
async def live__asks(context: CallContext) -> str:
    """Ask who is there."""
    form = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
    answer = await context.ask(Question(text="Who is there?", asked_by="The doorman", form=form))
    return f"{answer.decision}: {answer.values}"


@tool(title="Breaks", icon="broken_image")
def live__breaks(message: str = "it broke") -> str:
    """Fail with that message."""
    raise ZeroDivisionError(message)


@tool(title="Picture", icon="image")
async def live__picture(context: CallContext) -> ToolOutput:
    """Return a picture and a file, and write one."""
    picture = await context.keep(DOT, media_type="image/png", filename="dot.png")
    table = await context.keep(b"a,b\n1,2\n", media_type="text/csv", filename="table.csv")
    await context.files.write("/notes.txt", b"written")
    assert isinstance(picture, ImagePart)
    assert isinstance(table, FilePart)
    return ToolOutput(parts=(TextPart(text="Made both."), picture, table))


def many(number: int) -> list[AnyTool]:
    """That many tools in kits of ten."""
    return [Tool(_named(f"kit_{place // 10}__tool_{place}")) for place in range(number)]


def _named(name: str) -> object:
    def work(text: str, limit: int = 10) -> str:
        """Work on a text, as so many tools do: it is read, cut at the limit and given back."""
        return text[:limit]

    work.__name__ = name
    return work


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_known_args()[0]
    workbench = Workbench.open(arguments.data)
    samples = (calculator, forms__all_kinds, forms__rows, live__slow, live__asks, live__breaks, live__picture)
    tools = Registry((*samples, *many(int(os.environ.get("MANY_TOOLS", "0")))), settings=workbench.data.tool_settings)
    calls = HandCalls(tools, workbench.artifacts)
    shown = having(workbench, tools=tools, hand_calls=calls, last_calls=LastCalls(calls))
    serve(shown, open_port(arguments.port))


if __name__ == "__main__":
    main()
