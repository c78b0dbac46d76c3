"""The app with a dataset of short cases and an agent whose model takes a moment and calls one recorded tool.

`python -m tests.faults.experimenting_app` takes the app's own arguments. A call that is made for real writes a line to
the file that APPENDED names.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from app.domain.agents import PromptBehaviour, ToolChoice
from app.domain.evals.cases import CaseContent, new_cases
from app.domain.events import Entry, ToolCalled, ToolReturned
from app.domain.messages import Message, TextPart, ToolCall, ToolResult, Usage
from app.domain.models import Price
from app.domain.streaming import Delta, ModelRequest, Reply, TextDelta
from app.domain.values import now
from app.llm.directory import ModelDirectory
from app.tools.function.tool import tool
from app.workbench import Workbench
from tests.driven_app import append_to, driven, given_agent, serve_driven

SLUG, DATASET = "tried", "short-cases"
CASES, VARIANTS, REPEATS = 50, (1, 1), 3
_MOMENT = 0.005
"""Seconds that an answer takes."""
CALL = ToolCall(call_id="c1", name="append", arguments={"line": "x"})


class Scripted(ModelDirectory):
    """One model, whatever it is called: it calls the tool, and answers then."""

    async def open(self, name: str) -> "Scripted":
        return self

    def price(self, name: str) -> Price:
        return Price(input=1e-5, output=1e-5)

    def sends_bills(self, name: str) -> bool:
        return True

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        await request.stored()
        await asyncio.sleep(_MOMENT)
        if len(request.messages) == 1:
            yield Reply(Message(role="assistant", parts=(CALL,)), Usage(input_tokens=1, output_tokens=1), "tool_calls")
            return
        yield TextDelta("done")
        reply = Message(role="assistant", parts=(TextPart(text="done"),))
        yield Reply(reply, Usage(input_tokens=1, output_tokens=1), "stop")


def tried(workbench: Workbench) -> Workbench:
    append = append_to(Path(os.environ["APPENDED"]), 0)
    return driven(workbench, Scripted(workbench.catalog, workbench.artifacts.get), [tool(side_effects=True)(append)])


async def prepare(workbench: Workbench) -> None:
    await given_agent(workbench, SLUG.title(), PromptBehaviour(tools=(ToolChoice(name="append"),)))
    if DATASET in workbench.datasets.slugs():
        return
    collecting = workbench.collecting
    dataset, record = await collecting.new_dataset("Short cases"), await collecting.keep_record(_recorded())
    cases = new_cases(dataset.id, [CaseContent(input=f"case {number}") for number in range(CASES)])
    await collecting.add_all(dataset.id, [case.model_copy(update={"record": record}) for case in cases])


def _recorded() -> list[Entry]:
    result = ToolResult(call_id=CALL.call_id, name=CALL.name, parts=(TextPart(text="appended x"),))
    events = (
        ToolCalled(call_id=CALL.call_id, name=CALL.name, arguments=CALL.arguments),
        ToolReturned(call_id=CALL.call_id, result=result, ms=1),
    )
    return [Entry(run_id="recorded", seq=number, at=now(), event=event) for number, event in enumerate(events)]


if __name__ == "__main__":
    serve_driven(tried, prepare)
