"""Plans of experiments, written before anything runs: what exactly is tried, and what that may cost."""

import asyncio
import statistics
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

from app.domain.agents import Agent, Behaviour, WorkflowBehaviour, check_model_choice, model_of
from app.domain.errors import NotFound, WorkbenchError
from app.domain.evals.cases import Case, Dataset
from app.domain.evals.drafts import Estimate, ExperimentDraft, too_large
from app.domain.evals.experiments import Column, Plan
from app.domain.evals.scorers import Judge, Pairwise, Scorer
from app.domain.evals.verdicts import reach_words
from app.domain.models import Price
from app.domain.tools import GrantedTool, canonical_name
from app.domain.trace import RunFilter, RunRow
from app.engine.experiments.collecting import Collecting
from app.engine.loop.granting import allowed
from app.engine.ports import AgentStore, Models, RunRows, Toolbox
from app.engine.workflows.grants import Nodes

LOOKED_AT = 200
"""Runs of the agent from which is told what one more costs."""
PILOT_CASES = 3
JUDGE_TOKENS = (2_000, 500)
"""Of a judge's prompt and reply, where none of it has judged before."""
NO_RECORD = (
    "{count} of {all} cases have no recorded calls of tools: a tool that the agent calls there is an error of the "
    "cell, unless it is named among those that are called for real."
)
NO_PRICE = "Nobody said what {model} costs, so the ceiling cannot hold it."
NO_SCORER = "No scorer is chosen, so nothing passes or fails."
NO_CASES = "The dataset {name!r} has no cases yet. Add one, or save a run as a case."

Range = tuple[float, float]
"""US dollars, from and to."""


class DatasetNames(Protocol):
    def by_slug(self, slug: str) -> Dataset:
        """Raises `NotFound`, which names those there are."""
        ...


@dataclass(frozen=True)
class Asked:
    """What a draft names, found."""

    draft: ExperimentDraft
    dataset: Dataset
    agent: Agent
    columns: tuple[Column, ...]
    scorers: tuple[Scorer, ...]
    others: Mapping[str, Agent]
    """Those that are tried besides, by id."""
    tools: tuple[GrantedTool, ...] = ()
    """Of all its columns, each once."""

    def of(self, column: Column) -> Agent:
        """The agent that the column tries."""
        return self.others.get(column.agent_id, self.agent)

    def behaviour(self, column: Column) -> Behaviour:
        return self.of(column).variant(column.variant).behaviour

    def model(self, column: Column) -> str | None:
        """The `provider/model` that the column asks; `None` where the nodes of a workflow ask theirs."""
        return column.model or model_of(self.behaviour(column))

    @property
    def tried(self) -> list[Column]:
        """The columns for which something is run."""
        return [column for column in self.columns if not column.as_recorded]

    @property
    def live(self) -> tuple[GrantedTool, ...]:
        """The tools that would be called for real."""
        draft = self.draft
        every = draft.tools == "live"
        return tuple(t for t in self.tools if t.spec.name in draft.live or (every and t.policy == "auto"))


@dataclass
class Planning:
    collecting: Collecting
    datasets: DatasetNames
    agents: AgentStore
    toolbox: Toolbox
    models: Models
    rows: RunRows
    provider_of: Callable[[str], str]
    """The provider behind the name of a model, which may be an alias."""

    async def plan(self, draft: ExperimentDraft) -> Plan:
        """All that decides what the experiment does, as it is now.

        Raises `NotFound` for what there is not, `WorkbenchError` for what does not fit together.
        """
        asked = await self._asked(draft)
        digest, cases = await self.collecting.snapshot(asked.dataset.id)
        _check_size(asked, len(cases))
        return Plan(
            dataset_id=asked.dataset.id,
            dataset_slug=asked.dataset.slug,
            dataset_version=asked.dataset.version,
            cases=digest,
            case_ids=tuple(case.id for case in cases),
            agent_id=asked.agent.id,
            agent_slug=asked.agent.slug,
            columns=asked.columns,
            repeats=draft.repeats,
            tools=draft.tools,
            live=tuple(sorted({canonical_name(name) for name in draft.live})),
            tool_digests={tool.spec.name: tool.spec.digest for tool in asked.tools},
            scorers=asked.scorers,
            primary=draft.primary or ("" if draft.scorers else asked.dataset.primary),
            margin=draft.margin,
            ceiling_usd=draft.ceiling_usd,
            concurrency=draft.concurrency,
            wait=draft.wait,
        )

    async def estimate(self, draft: ExperimentDraft) -> Estimate:
        """What it may cost and what it can show. Raises like `plan`."""
        asked = await self._asked(draft)
        cases = await asyncio.to_thread(self.collecting.cases.of, asked.dataset.id)
        _check_size(asked, len(cases))
        cells = len(cases) * len(asked.columns) * draft.repeats
        turns = statistics.fmean(_turns(case) for case in cases) * len(cases) * draft.repeats
        runs = {
            slug: await asyncio.to_thread(self._runs_of, RunFilter(agent=slug, behind=True))
            for slug in {asked.of(column).slug for column in asked.tried}
        }
        costs = [await self._range(asked.model(column), runs[asked.of(column).slug]) for column in asked.tried]
        judges = [await self._judge(scorer, cells) for scorer in asked.scorers]
        known = all(cost is not None for cost in costs)
        return Estimate(
            cells=cells,
            low_usd=turns * sum(cost[0] for cost in costs if cost) if known else None,
            high_usd=turns * sum(cost[1] for cost in costs if cost) if known else None,
            judge_low_usd=_sum(judges, 0),
            judge_high_usd=_sum(judges, 1),
            pilot=not known and len(cases) > PILOT_CASES,
            reach=await asyncio.to_thread(reach_words, len(cases)),
            live=tuple(tool.spec.name for tool in asked.live),
            side_effects=tuple(tool.spec.name for tool in asked.live if tool.spec.side_effects),
            notes=tuple([one async for one in self._notes(asked, cases)]),
        )

    def provider_of_column(self, plan: Plan, column: Column) -> str:
        """Whom the runs of the column ask; empty where nothing is run, several are, or nobody knows any more."""
        if column.as_recorded:
            return ""
        try:
            model = column.model or model_of(self.agents.get(plan.agent_of(column)).variant(column.variant).behaviour)
        except NotFound:
            return ""
        return self.provider_of(model) if model else ""

    async def _asked(self, draft: ExperimentDraft) -> Asked:
        dataset, agent = self._dataset(draft.dataset), self._agent(draft.agent)
        tried = product(draft.variants or (agent.active,), draft.models or ("",))
        recorded = [Column(variant=0, as_recorded=True)] if draft.as_recorded else []
        others = self._others(agent, draft.beside)
        columns = (
            *recorded,
            *(Column(variant=variant, model=model) for variant, model in tried),
            *(Column(agent_id=one.id, agent_slug=one.slug, variant=one.active) for one in others.values()),
        )
        scorers = draft.scorers or dataset.scorers
        _check_names(scorers, draft.primary or ("" if draft.scorers else dataset.primary))
        asked = Asked(draft, dataset, agent, columns, scorers, others)
        tools = self._tools([asked.behaviour(column) for column in asked.tried])
        names = {tool.spec.name for tool in tools}
        if unknown := sorted({canonical_name(name) for name in draft.live} - names):
            listed = ", ".join(map(repr, unknown))
            raise WorkbenchError(f"The agent has no tool {listed}. It has: {', '.join(sorted(names)) or 'none'}.")
        for column in asked.tried:
            check_model_choice(asked.behaviour(column), column.model or None)
            if model := asked.model(column):
                await self.models.check(model)
        return replace(asked, tools=tools)

    def _others(self, agent: Agent, named: Sequence[str]) -> dict[str, Agent]:
        others = {one.id: one for one in map(self._agent, named)}
        if agent.id in others:
            raise WorkbenchError(
                f"{agent.slug!r} is tried already. Name other agents beside it, or more of its variants."
            )
        return others

    def _dataset(self, named: str) -> Dataset:
        try:
            return self.collecting.dataset(named)
        except NotFound:
            return self.datasets.by_slug(named)

    def _agent(self, named: str) -> Agent:
        agents = self.agents.all()
        found = next((agent for agent in agents if named in (agent.slug, agent.id)), None)
        if found is None:
            listed = ", ".join(sorted(agent.slug for agent in agents)) or "none"
            raise NotFound(f"There is no agent {named!r}. Agents: {listed}.")
        return found

    def _tools(self, behaviours: Sequence[Behaviour]) -> tuple[GrantedTool, ...]:
        nodes = Nodes(self.agents.all(), self.toolbox)
        found: dict[str, GrantedTool] = {}
        for behaviour in behaviours:
            own = allowed(self.toolbox, behaviour)
            of_all = nodes.granted(behaviour.workflow, own) if isinstance(behaviour, WorkflowBehaviour) else own
            found |= {tool.spec.name: tool for tool in of_all}
        return tuple(found.values())

    def _runs_of(self, wanted: RunFilter) -> list[RunRow]:
        rows = self.rows.find(wanted, limit=LOOKED_AT).rows
        return [row for row in rows if row.status in ("completed", "limited") and not row.imported]

    async def _range(self, model: str | None, runs: Sequence[RunRow]) -> Range | None:
        """What a run with the model costs, of what runs with it did, else the others would have; `None`: unknown.

        Without a model: what a run of the workflow costs.
        """
        if model is None:
            return _quartiles([row.cost for row in runs]) if runs else None
        price = await self._price(model)
        same = [row.cost for row in runs if row.model == model and not row.unpriced]
        if price is not None and not (price.input or price.output):
            return 0.0, 0.0
        if not same and price is not None:
            same = [row.input_tokens * price.input + row.output_tokens * price.output for row in runs]
        return _quartiles(same) if same else None

    async def _judge(self, scorer: Scorer, cells: int) -> Range | None:
        """What the scorer's judges cost over all cells; `None` where nobody said what their models cost."""
        match scorer:
            case Judge(model=model, juries=juries, votes=votes):
                each = [await self._per_judgement(one) for one in (model, *juries)]
                most = votes
            case Pairwise(model=model):
                each, most = [await self._per_judgement(model)] * 2, 1  # once in each order
            case _:
                return 0.0, 0.0
        low, high = _sum(each, 0), _sum(each, 1)
        return None if low is None or high is None else (low * cells, high * cells * most)

    async def _per_judgement(self, model: str) -> Range | None:
        runs = await asyncio.to_thread(self._runs_of, RunFilter(model=model, behind=True))
        known = await self._range(model, [row for row in runs if row.purpose == "judge"])
        if known is not None:
            return known
        price = await self._price(model)
        if price is None:
            return None
        cost = JUDGE_TOKENS[0] * price.input + JUDGE_TOKENS[1] * price.output
        return cost / 2, cost * 2

    async def _price(self, model: str) -> Price | None:
        await self.models.window(model)
        return self.models.price(model) if self.models.sends_bills(model) else Price(input=0, output=0)

    async def _notes(self, asked: Asked, cases: Sequence[Case]) -> AsyncIterator[str]:
        without = sum(not case.record for case in cases)
        if without and asked.tried and asked.draft.tools == "recorded" and len(asked.live) < len(asked.tools):
            yield NO_RECORD.format(count=without, all=len(cases))
        for model in dict.fromkeys(asked.model(column) for column in asked.tried):
            if model is not None and await self._price(model) is None:
                yield NO_PRICE.format(model=model)
        if not asked.scorers:
            yield NO_SCORER


def _check_size(asked: Asked, cases: int) -> None:
    if not cases:
        raise WorkbenchError(NO_CASES.format(name=asked.dataset.name))
    if problem := too_large(cases * len(asked.columns) * asked.draft.repeats):
        raise WorkbenchError(problem)


def _check_names(scorers: Sequence[Scorer], primary: str) -> None:
    names = [scorer.name for scorer in scorers]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise WorkbenchError(f"Two scorers are called {twice!r}. Give each a name of its own.")
    if primary and primary not in names:
        raise WorkbenchError(
            f"There is no scorer {primary!r} that could decide. Scorers: {', '.join(names) or 'none'}."
        )


def _turns(case: Case) -> int:
    return case.user.most_turns if case.user else 1 + len(case.turns)


def _quartiles(costs: Sequence[float]) -> Range:
    ordered = sorted(costs)
    return ordered[(len(ordered) - 1) // 4], ordered[-(-3 * (len(ordered) - 1) // 4)]


def _sum(ranges: Iterable[Range | None], place: int) -> float | None:
    """`None` where one of them is not known."""
    found = list(ranges)
    return None if None in found else sum(one[place] for one in found if one is not None)
