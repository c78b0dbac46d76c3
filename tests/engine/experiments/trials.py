"""Experiments over a real workbench, whose model answers what a test tells it to."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.domain.agents import Agent, Limits, PromptBehaviour, ToolChoice, new_agent, with_variant
from app.domain.errors import NotFound
from app.domain.evals.cases import Case, CaseContent, new_cases
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.experiments import Cell, Experiment
from app.domain.evals.scorers import Contains
from app.domain.messages import ToolCall
from app.domain.models import Price
from app.domain.provenance import Trigger
from app.domain.streaming import Delta, ModelRequest, Reply, TextDelta
from app.domain.tools import CallContext, Question
from app.tools.function.tool import tool
from app.tools.registry import Registry
from app.workbench import Workbench
from tests.engine.conftest import QuickClock
from tests.engine.scripted import reply
from tests.parts import having
from tests.waiting import until

PAGE = Trigger(kind="page")
SLUG = "tester"
Answer = str | Reply | Exception
Answers = Callable[[ModelRequest], Answer | Awaitable[Answer]]


@dataclass
class Answering:
    """A directory with one model in it, whatever it is called, which answers what a function says."""

    answers: Answers = lambda _request: "It is 3."
    requests: list[ModelRequest] = field(default_factory=list)
    priced: Price | None = field(default_factory=lambda: Price(input=1e-5, output=1e-5))
    bills: bool = True
    unpriced: tuple[str, ...] = ()
    """Names of which it does not know what they cost."""

    async def open(self, name: str) -> "Answering":
        return self

    async def check(self, name: str) -> None:
        if name.startswith("unknown/"):
            raise NotFound(f"There is no provider {name.partition('/')[0]!r}.")

    def price(self, name: str) -> Price | None:
        return None if name in self.unpriced else self.priced

    async def window(self, name: str) -> int | None:
        return None

    def sends_bills(self, name: str) -> bool:
        return self.bills

    async def count_tokens(self, request: ModelRequest) -> int:
        return 10

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        return request

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        self.requests.append(request)
        answer = self.answers(request)
        said = answer if isinstance(answer, str | Reply | Exception) else await answer
        if isinstance(said, Exception):
            raise said
        whole = reply(said) if isinstance(said, str) else said
        if whole.message.text:
            yield TextDelta(whole.message.text)
        yield whole


@dataclass
class Trials:
    bench: Workbench
    models: Answering
    called: list[str] = field(default_factory=list)
    """The names of the tools that were called for real."""
    dataset: str = ""
    clock: QuickClock = field(default_factory=QuickClock)

    @classmethod
    async def opened(cls, folder: Path) -> "Trials":
        trials = cls(Workbench.open(folder, demo_pace=0), Answering())
        await trials.bench.start()
        registry = Registry(trials._tools())
        trials.bench = having(trials.bench, models=trials.models, tools=registry)
        trials.bench.runs.clock = trials.bench.runs.starting.clock = trials.clock
        return trials

    async def again(self) -> None:
        """Close the app, as by its end, and open it anew."""
        await self.close()
        other = await Trials.opened(self.bench.data.path)
        self.bench, other.models.answers = other.bench, self.models.answers
        self.models, self.called = other.models, other.called

    async def close(self) -> None:
        await self.bench.close()

    def _tools(self) -> list:
        async def add(x: int, y: int) -> str:
            """Add two numbers."""
            self.called.append("add")
            return f"{x + y}"

        async def send(text: str) -> str:
            """Send a letter."""
            self.called.append("send")
            return "sent"

        async def wonder(context: CallContext) -> str:
            """Asks the person."""
            return (await context.ask(Question(text="Really?"))).decision

        return [tool()(wonder), tool(idempotent=True)(add), tool(side_effects=True)(send)]

    async def agent(self, *tools: ToolChoice | str, variants: int = 1, **limits: float) -> Agent:
        choices = tuple(ToolChoice(name=one) if isinstance(one, str) else one for one in tools)
        first = PromptBehaviour(
            system_prompt="Be {{mood}}.", model="fake/model", tools=choices, limits=Limits(**limits)
        )
        agent = new_agent(SLUG.title(), first, taken_slugs=())
        for number in range(2, variants + 1):
            agent = with_variant(agent, first.model_copy(update={"system_prompt": f"Variant {number}."}), origin=1)
        return await self.bench.agents.create(agent)

    async def recorded(self, text: str = "What is 1 + 2?", *calls: ToolCall) -> Case:
        """A case out of a run that really made these calls, one of `add` where none are named."""
        made = calls or (ToolCall(call_id="c1", name="add", arguments={"x": 1, "y": 2}),)
        before, self.models.answers = self.models.answers, calling(*made)
        session = await self.bench.chat.new_session(self.bench.agents.by_slug(SLUG).id)
        live = await self.bench.chat.send(session.id, text, trigger=Trigger(kind="terminal"))
        await live.ended()
        self.models.answers = before
        self.called.clear()
        return await self.bench.collecting.from_run(await self._dataset(), live.run_id)

    async def written(self, *cases: CaseContent | str) -> list[Case]:
        contents = [CaseContent(input=one, reference="3") if isinstance(one, str) else one for one in cases]
        dataset = await self._dataset()
        return await self.bench.collecting.add_all(dataset, new_cases(dataset, contents))

    async def _dataset(self) -> str:
        self.dataset = self.dataset or (await self.bench.collecting.new_dataset("Sums")).id
        return self.dataset

    def draft(self, **changes: object) -> ExperimentDraft:
        said = {"dataset": self.dataset, "agent": SLUG, "scorers": (Contains(texts=("3",)),), "concurrency": 1}
        return ExperimentDraft.model_validate({**said, **changes})

    async def planned(self, **changes: object) -> Experiment:
        return await self.bench.experimenting.plan(self.draft(**changes), PAGE)

    async def ran(self, **changes: object) -> list[Cell]:
        """The cells of an experiment from its start to its end."""
        experiment = await self.planned(**changes)
        await self.bench.experimenting.start(experiment.id)
        return await self.over(experiment.id)

    async def over(self, experiment_id: str) -> list[Cell]:
        """Its cells, once nothing of it goes on."""
        await until(lambda: not self.bench.experimenting.is_live(experiment_id))
        return (await self.bench.experimenting.cells(experiment_id))[0]


def calling(*calls: ToolCall, then: str = "It is 3.") -> Answers:
    """Makes these calls, one a step, and answers then."""

    def answer(request: ModelRequest) -> Answer:
        since = [one.role for one in request.messages]
        last = len(since) - 1 - since[::-1].index("user")
        done = since[last:].count("assistant")
        return reply("", calls[done]) if done < len(calls) else then

    return answer


class Gate:
    """Holds the answers back until it is opened."""

    def __init__(self, then: str = "It is 3.") -> None:
        self.open = asyncio.Event()
        self.waiting = 0
        self._then = then

    async def __call__(self, _request: ModelRequest) -> Answer:
        self.waiting += 1
        await self.open.wait()
        return self._then
