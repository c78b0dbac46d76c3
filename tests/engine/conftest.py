import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from app.domain.agents import Limits, Parameters, PromptBehaviour, ToolChoice, new_agent
from app.domain.errors import ToolError
from app.domain.sessions import Session
from app.domain.tools import CallContext, Question
from app.domain.values import now
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.store.folder.folder import DataFolder
from app.tools.function.tool import AnyTool, tool
from app.tools.registry import Registry
from tests.engine.scripted import ScriptedModels


@dataclass
class QuickClock:
    """A clock whose waits take no time, and are remembered."""

    waits: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return now()

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(0)


@dataclass
class SetClock:
    """A clock that stands until it is set."""

    at: datetime

    def now(self) -> datetime:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@dataclass
class Bench:
    """Everything a run needs, with a real store and real tools."""

    data: DataFolder
    models: ScriptedModels
    clock: QuickClock
    runs: Runs
    chat: Chat
    events: dict[str, asyncio.Event] = field(default_factory=dict)

    async def session(self, *tools: ToolChoice | str, parameters: Parameters | None = None, **limits: float) -> Session:
        choices = tuple(ToolChoice(name=tool) if isinstance(tool, str) else tool for tool in tools)
        behaviour = PromptBehaviour(
            system_prompt="Be {{mood}}.",
            model="scripted/model",
            tools=choices,
            limits=Limits(**limits),
            parameters=parameters or Parameters(),
        )
        agent = await self.data.agents.create(new_agent("Tester", behaviour, taken_slugs=self.data.agents.slugs()))
        return await self.chat.new_session(agent.id)

    async def ask(self, text: str = "hi", *tools: ToolChoice | str, **limits: float) -> Run:
        """A run from its start to its end."""
        session = await self.session(*tools, **limits)
        live = await self.chat.send(session.id, text)
        await asyncio.wait_for(live.ended(), 30)
        return live


def tools(started: asyncio.Event, paying: asyncio.Event) -> list[AnyTool]:
    async def add(x: int, y: int) -> str:
        """Add two numbers."""
        return f"{x + y}"

    async def refuse() -> str:
        """Always refuses."""
        raise ToolError("Not today.")

    async def crash() -> str:
        """Always crashes."""
        return {}["missing"]

    async def hang() -> str:
        """Never comes back."""
        started.set()
        await asyncio.Event().wait()
        return "never"

    async def talk(context: CallContext) -> str:
        """Prints and writes a file."""
        context.printed("working\n")
        await context.files.write("/made.txt", b"made")
        return "talked"

    async def pay() -> str:
        """Must not be cancelled once it has begun."""
        await paying.wait()
        return "paid"

    async def wonder(context: CallContext) -> str:
        """Asks the person."""
        answer = await context.ask(Question(text="Really?"))
        return answer.decision

    made = [tool()(function) for function in (add, refuse, crash, hang, talk, wonder)]
    return [*made, tool(cancellable=False)(pay)]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    data = DataFolder.open(tmp_path / "data")
    models, clock, started, paying = ScriptedModels(), QuickClock(), asyncio.Event(), asyncio.Event()
    registry = Registry(tools(started, paying))
    runs = Runs(data.traces, data.rows, models, registry, data.artifacts, clock)
    yield Bench(
        data,
        models,
        clock,
        runs,
        Chat(data.agents, data.sessions, runs, registry),
        {"hanging": started, "paying": paying},
    )
    await runs.close()
    await registry.close()
    await data.close()
    assert threading.active_count() < 50
