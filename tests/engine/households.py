"""Agents that hand work over to one another: a model that answers by what it was asked, and processes that end."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.domain.agents import Limits, Parameters, PromptBehaviour, ToolChoice, new_agent
from app.domain.events import ChildFinished, ChildStarted
from app.domain.messages import ToolCall, ToolResult
from app.domain.provenance import Trigger
from app.domain.streaming import Delta, ModelRequest, Reply
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import FROM_PAGE, Chat
from app.engine.sessions.jobs import Jobs
from app.engine.sessions.pauses import Pauses
from app.store.folder.folder import DataFolder
from app.tools.apart import ToolApart
from app.tools.builtin.files import file_tools
from app.tools.builtin.pdf_text import pdf_text
from app.tools.builtin.session import join_task, spawn_task
from app.tools.function.tool import AnyTool, tool
from app.tools.registry import Registry
from tests.engine.conftest import QuickClock
from tests.engine.scripted import ScriptedModels, reply

Says = Reply | Callable[[list[ToolResult]], Reply]
"""What the model says in one step, or makes of the results so far."""
TOOLS = ("spawn_task", "join_task", "look", "write_file")


def spawn(call_id: str, task: str, **others: object) -> ToolCall:
    return ToolCall(call_id=call_id, name="spawn_task", arguments={"task": task, **others})


def join(call_id: str, task_id: str) -> ToolCall:
    return ToolCall(call_id=call_id, name="join_task", arguments={"task_id": task_id})


def write(call_id: str, path: str, content: str) -> ToolCall:
    return ToolCall(call_id=call_id, name="write_file", arguments={"path": path, "content": content})


def joining(results: list[ToolResult]) -> Reply:
    """Joins all that was spawned."""
    ids = [result.text for result in results if result.name == "spawn_task" and result.status == "ok"]
    return reply("", *(join(f"j{number}", task_id) for number, task_id in enumerate(ids)))


@dataclass
class Family(ScriptedModels):
    """Answers by what the run was asked: its step of that text's script, and after that "done"."""

    plans: dict[str, list[Says]] = field(default_factory=dict)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """What "waits" waits for."""
    held: set[tuple[str, int]] = field(default_factory=set)
    """What waits for it too: the step of that text's script."""
    calls: list[str] = field(default_factory=list)
    """What was asked, call by call."""
    tokens: int = 10
    reach: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By name of a key: the agents that it was made for, by their names."""

    async def open(self, name: str) -> "Family":
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        asked = next(message.text for message in request.messages if message.role == "user")
        step = sum(message.role == "assistant" for message in request.messages)
        self.calls.append(asked)
        self.requests.append(request)
        if asked.startswith("waits") or (asked, step) in self.held:
            await self.gate.wait()
        plan = self.plans.get(asked, [])
        says = plan[step] if step < len(plan) else reply(f"{asked}: done", tokens=self.tokens)
        yield says if isinstance(says, Reply) else says(results_in(request))


def results_in(request: ModelRequest) -> list[ToolResult]:
    return [part for message in request.messages for part in message.parts if isinstance(part, ToolResult)]


@dataclass
class Household:
    """One process over a data folder."""

    data: DataFolder
    models: Family
    runs: Runs
    chat: Chat
    jobs: Jobs
    pauses: Pauses
    looked: list[str] = field(default_factory=list)

    @classmethod
    def opened(cls, folder: Path, models: Family) -> "Household":
        data, looked = DataFolder.open(folder), list[str]()
        registry = Registry((spawn_task, join_task, look_tool(looked), *file_tools(ToolApart(pdf_text))))
        runs = Runs(data.traces, data.rows, models, registry, data.artifacts, QuickClock())
        chat = Chat(data.agents, data.sessions, runs, registry)
        jobs = Jobs(chat, lambda trigger, agent: agent.name in models.reach.get(trigger.name, (agent.name,)))
        return cls(data, models, runs, chat, jobs, Pauses(chat), looked)

    async def closed(self) -> None:
        await self.runs.close()
        await self.data.close()

    async def restarted(self) -> "Household":
        await self.closed()
        return Household.opened(self.data.path, self.models)

    async def agent(
        self,
        name: str = "Parent",
        *,
        tools: tuple[ToolChoice | str, ...] = TOOLS,
        max_tokens: int = 10,
        **limits: float,
    ) -> str:
        """The id of a new agent."""
        choices = tuple(ToolChoice(name=tool) if isinstance(tool, str) else tool for tool in tools)
        behaviour = PromptBehaviour(
            model="scripted/model", tools=choices, limits=Limits(**limits), parameters=Parameters(max_tokens=max_tokens)
        )
        agent = await self.data.agents.create(new_agent(name, behaviour, taken_slugs=self.data.agents.slugs()))
        return agent.id

    async def begun(self, agent_id: str, text: str = "lead", *, trigger: Trigger = FROM_PAGE) -> Run:
        session = await self.chat.new_session(agent_id)
        return await self.chat.send(session.id, text, trigger=trigger)

    async def led(self, *plan: Says, **limits: float) -> Run:
        """A parent's run from its start to its end."""
        self.models.plans["lead"] = list(plan)
        live = await self.begun(await self.agent(**limits))
        await ended(live)
        return live


def look_tool(looked: list[str]) -> AnyTool:
    async def look() -> str:
        """Looks."""
        looked.append("look")
        return "seen"

    return tool()(look)


async def ended(live: Run) -> None:
    await asyncio.wait_for(live.ended(), 30)


def results(live: Run) -> dict[str, ToolResult]:
    """By call id: what came of each call."""
    return {e.event.call_id: e.event.result for e in live.entries if e.event.type == "tool_returned"}


def started(live: Run) -> list[str]:
    """The runs that it has started."""
    return [e.event.child_run_id for e in live.entries if isinstance(e.event, ChildStarted)]


def finished_children(live: Run) -> dict[str, str]:
    """By run: how those ended that it was told of; each once."""
    ends = [(e.event.child_run_id, e.event.status) for e in live.entries if isinstance(e.event, ChildFinished)]
    assert len(ends) == len(dict(ends))
    return dict(ends)


def called(live: Run) -> set[str]:
    """The calls that have begun."""
    return {entry.event.call_id for entry in live.entries if entry.event.type == "tool_called"}
