"""A real model, small enough to come in a wheel, chooses a tool and calls it through the whole engine."""

import asyncio
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.models import Price
from app.domain.streaming import ModelRequest
from app.domain.trace import steps
from app.engine.run.stopwatch import SystemClock
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.store.folder.folder import DataFolder
from tests.builtin_tools import builtin_registry
from tests.fakes.needle import NAME, NeedleModel, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


class OnlyNeedle:
    """A directory in which every name leads to the small model."""

    def __init__(self) -> None:
        self.model = NeedleModel()

    async def open(self, name: str) -> NeedleModel:
        return self.model

    async def check(self, name: str) -> None:
        pass

    def price(self, name: str) -> Price | None:
        return None

    async def window(self, name: str) -> int | None:
        return None

    def sends_bills(self, name: str) -> bool:
        return False

    async def count_tokens(self, request: ModelRequest) -> int:
        return sum(len(message.text) for message in request.messages) // 4

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        return request


@pytest.mark.long
async def test_a_real_model_chooses_a_tool_and_the_engine_runs_it(tmp_path: Path):
    data, registry = DataFolder.open(tmp_path / "data"), builtin_registry()
    runs = Runs(data.traces, data.rows, OnlyNeedle(), registry, data.artifacts, SystemClock())
    chat = Chat(data.agents, data.sessions, runs, registry)
    reader_off = ToolChoice(name="read_result", policy="off")  # each schema more takes this model seconds to read
    tools = (ToolChoice(name="calculator"), ToolChoice(name="list_files"), reader_off)
    agent = await data.agents.create(new_agent("Needle", PromptBehaviour(model=NAME, tools=tools), taken_slugs=()))
    session = await chat.new_session(agent.id)
    live = await chat.send(session.id, "Add 5 and 10 with the calculator")
    await asyncio.wait_for(live.ended(), 60)
    called = [step.call for step in steps(live.entries) if step.type == "tool-call"]
    assert live.status == "completed", live.entries[-1]
    assert [call.name for call in called] == ["calculator"]
    assert called[0].result.text == "5 + 10 = 15"
    await registry.close()
    await data.close()
