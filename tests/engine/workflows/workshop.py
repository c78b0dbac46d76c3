"""A process over a data folder in which workflows run, with real tools and a model that says what it was told to."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from app.domain.agents import WORKFLOW_LIMITS, Parameters, PromptBehaviour, ToolChoice, WorkflowBehaviour, new_agent
from app.domain.errors import ToolError
from app.domain.events import NodeEnded, NodeStarted, RunFinished
from app.domain.messages import TextPart
from app.domain.settings import Preferences
from app.domain.tools import CallContext, Question, ToolOutput
from app.domain.trace.nodes import NodeRuns, nodes
from app.domain.workflows.document import Workflow
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import FROM_PAGE, Chat
from app.engine.sessions.jobs import Jobs
from app.engine.sessions.pauses import Pauses
from app.engine.sessions.queue import Queue
from app.store.folder.folder import DataFolder
from app.tools.built_in import BuiltInTools
from app.tools.computing import NodeComputing
from app.tools.function.tool import AnyTool, tool
from app.tools.paths import session_path
from app.tools.registry import Registry
from tests.engine.conftest import QuickClock
from tests.engine.households import Family


@dataclass
class Hands:
    """What tools did, outside of every run."""

    did: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """What `hold` waits for."""
    failures: int = 0
    """How often `shaky` still fails."""


def tools(hands: Hands) -> list[AnyTool]:
    async def add(x: int, y: int) -> str:
        """Add two numbers."""
        return f"{x + y}"

    async def post(text: str) -> str:
        """Send something, which cannot be taken back."""
        hands.did.append(text)
        return f"sent {text}"

    async def shaky(text: str) -> str:
        """Fails at first."""
        hands.did.append(text)
        if hands.failures:
            hands.failures -= 1
            raise ToolError("Not yet.")
        return text

    async def refuse() -> str:
        """Always refuses."""
        raise ToolError("Not today.")

    async def hold(text: str) -> str:
        """Waits until it is let go on."""
        hands.did.append(f"hold {text}")
        await hands.gate.wait()
        return text

    async def wonder(context: CallContext) -> str:
        """Asks the person."""
        answer = await context.ask(Question(text="Really?"))
        return answer.decision

    async def export(context: CallContext) -> ToolOutput:
        """Makes a file."""
        part = await context.keep(b"a,b", media_type="text/plain", filename="yearly-result.txt")
        return ToolOutput(parts=(TextPart(text="made"), part))

    async def jot(path: str, text: str, context: CallContext) -> str:
        """Writes a file of the session."""
        await context.files.write(path, text.encode())
        return text

    async def recall(path: str, context: CallContext) -> str:
        """Reads a file of the session."""
        return (await context.files.read(session_path(path))).decode()

    pure = [tool(idempotent=True)(one) for one in (add, shaky, hold, jot, recall)]
    return [*pure, tool()(refuse), tool()(wonder), tool()(export), tool(side_effects=True)(post)]


@dataclass
class Workshop:
    data: DataFolder
    models: Family
    hands: Hands
    runs: Runs
    chat: Chat
    jobs: Jobs
    pauses: Pauses
    queue: Queue
    registry: Registry
    built_in: BuiltInTools
    clock: QuickClock

    @classmethod
    def opened(cls, folder: Path, models: Family, hands: Hands) -> "Workshop":
        data, clock = DataFolder.open(folder), QuickClock()
        registry, built_in = Registry(tools(hands)), BuiltInTools(Preferences)
        runs = Runs(data.traces, data.rows, models, registry, data.artifacts, clock)
        runs.starting.computing = NodeComputing(built_in)
        chat = Chat(data.agents, data.sessions, runs, registry)
        parts = (Jobs(chat), Pauses(chat), Queue(chat))
        return cls(data, models, hands, runs, chat, *parts, registry, built_in, clock)

    async def closed(self) -> None:
        await self.runs.close()
        await self.queue.close()
        await self.registry.close()
        await self.built_in.close()
        await self.data.close()

    async def restarted(self) -> "Workshop":
        await self.closed()
        return Workshop.opened(self.data.path, self.models, self.hands)

    async def agent(self, name: str, *chosen: str, **fields: object) -> str:
        """The slug of a new agent that a prompt makes."""
        choices = tuple(ToolChoice(name=one) for one in chosen)
        parameters = Parameters(max_tokens=10)
        behaviour = PromptBehaviour(model="scripted/model", tools=choices, parameters=parameters, **fields)
        return await self._stored(name, behaviour)

    async def workflow(self, made: Workflow, name: str = "Flow", **limits: float) -> str:
        """The slug of a new agent that a workflow makes."""
        return await self._stored(
            name, WorkflowBehaviour(workflow=made, limits=WORKFLOW_LIMITS.model_copy(update=limits))
        )

    async def _stored(self, name: str, behaviour: PromptBehaviour | WorkflowBehaviour) -> str:
        agent = await self.data.agents.create(new_agent(name, behaviour, taken_slugs=self.data.agents.slugs()))
        return agent.slug

    async def begun(
        self, made: Workflow, text: str = "hi", *, variables: dict[str, str] | None = None, **limits: float
    ) -> Run:
        slug = await self.workflow(made, f"Flow {len(self.data.agents.slugs())}", **limits)
        agent = next(agent for agent in self.data.agents.all() if agent.slug == slug)
        session = await self.chat.new_session(agent.id, variables=variables)
        return await self.chat.send(session.id, text, trigger=FROM_PAGE)

    async def ran(self, made: Workflow, text: str = "hi", **others: object) -> Run:
        """A run from its start to its end."""
        live = await self.begun(made, text, **others)
        await ended(live)
        return live


async def ended(live: Run) -> None:
    await asyncio.wait_for(live.ended(), 30)


def answer(live: Run) -> str:
    said = [e.event.message.text for e in live.entries if e.event.type == "message_added" and e.event.origin == "model"]
    assert len(said) <= 1
    return said[0] if said else ""


def end(live: Run) -> RunFinished:
    finished = live.entries[-1].event
    assert isinstance(finished, RunFinished)
    return finished


def why(live: Run) -> str:
    error = end(live).error
    return error.text if error else ""


def states(live: Run) -> dict[str, str]:
    """By call: how each node stands."""
    return {run.call_id: run.state for run in known(live).by_call.values()}


def known(live: Run) -> NodeRuns:
    return nodes(live.entries)


def begun_nodes(live: Run) -> list[str]:
    return [entry.event.call_id for entry in live.entries if isinstance(entry.event, NodeStarted)]


def ended_nodes(live: Run) -> list[str]:
    """Those that came to an end, in that order."""
    ends = (entry.event for entry in live.entries if isinstance(entry.event, NodeEnded))
    return [event.call_id for event in ends if event.retry_at is None]
