"""A search for a better prompt: proposals made of failures, chosen on other cases, proved on those that are left."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from app.domain.agents import Agent, PromptBehaviour, by_prompt
from app.domain.errors import StorageError, WorkbenchError
from app.domain.evals.experiments import Cell, Column, Experiment, Plan
from app.domain.evals.results import scores_of
from app.domain.evals.scorers import span_of
from app.domain.evals.suggestions import SHOWN_AT_ONCE, Failure, Parts, Proposal, frontier, gain, split, total
from app.domain.evals.verdicts import verdict
from app.domain.provenance import Trigger
from app.domain.values import new_id, now
from app.engine.experiments.cells import Trying
from app.engine.experiments.experimenting import Experimenting
from app.engine.experiments.failing import Failing, Memory
from app.engine.experiments.limiting import Limiter
from app.engine.experiments.proposing import Proposer
from app.engine.experiments.working import Means, Working
from app.engine.ports import ScoreStore
from app.engine.runs.runs import Runs

log = logging.getLogger(__name__)

MOST_PROPOSALS, WITHOUT_GAIN = 6, 3
STOP_AGAIN = 0.2  # seconds
NOTHING_FAILED = "Nothing failed on the cases to learn from, and nobody noted a bad answer: there is nothing to learn."
SPENT = "The money for it is used up."
NO_BETTER = "None of the proposals did better than the prompt as it is, on cases that they were not made from."
DRAFT = (
    "A draft without scores: {count} cases are too few to learn, choose and prove with different ones; it takes 32. "
    "Try it on the dataset, beside the variant as it is."
)
PROVED = (
    "On {count} cases that no proposal saw: {words}. The prompt as it is, tried twice, beside itself: {noise}. So few "
    "cases are a guard, hardly ever a proof."
)
Status = Literal["running", "done", "stopped", "failed"]
Outcome = tuple[Mapping[str, float], Sequence[Cell]]


@dataclass(frozen=True)
class Wish:
    """What is to become better, by which cases, and what that may cost."""

    agent_id: str
    variant: int
    dataset_id: str
    model: str
    """Reflects."""
    ceiling_usd: float = 1.0
    live: tuple[str, ...] = ()
    tools: Literal["recorded", "live"] = "recorded"


@dataclass
class Suggestion:
    """One search for a better prompt, as it goes on; it lasts as long as the app runs."""

    id: str
    wish: Wish
    status: Status = "running"
    told: list[str] = field(default_factory=list)
    """What was done so far, a sentence each."""
    cost: float = 0.0
    """US dollars of all that was tried and asked."""
    proposal: Proposal | None = None
    """The best one; `None` where there is none yet."""
    failures: tuple[Failure, ...] = ()
    """Those that it was made of."""
    outcome: str = ""
    """What came of it, in words."""
    behaviour: PromptBehaviour | None = None
    """The one that is proposed, with all that led to it."""
    experiment_id: str = ""
    """The experiment that proves it."""
    saved: int | None = None
    """The number of the variant it was saved as."""
    task: asyncio.Task[None] | None = None

    @property
    def left(self) -> float:
        """US dollars."""
        return max(0.0, self.wish.ceiling_usd - self.cost)

    def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()


@dataclass(frozen=True)
class Around:
    """What every search works with."""

    experimenting: Experimenting
    runs: Runs
    scores: ScoreStore
    proposer: Proposer


@dataclass(frozen=True)
class _Candidate:
    behaviour: PromptBehaviour
    chosen: Mapping[str, float]
    proposal: Proposal | None = None
    failures: tuple[Failure, ...] = ()


class _Spent(Exception):
    """There is no money for more."""


class Search:
    def __init__(self, suggestion: Suggestion, plan: Plan, around: Around, *, agent: Agent, by: Trigger) -> None:
        """`plan` tries the agent's variant on all cases; what is tried of them is decided here."""
        self._suggestion, self._plan, self._around, self._agent, self._by = suggestion, plan, around, agent, by
        self._before = by_prompt(agent.variant(suggestion.wish.variant).behaviour)
        self._limiters: defaultdict[str, Limiter] = defaultdict(Limiter)
        self._failing = Failing(around.experimenting.trying, around.runs, around.scores)
        self._missed: list[str] = []
        """Reasons of proposals that brought nothing."""

    async def guarded(self) -> None:
        """All of it; how it ended stands in the suggestion."""
        suggestion = self._suggestion
        try:
            suggestion.outcome = await self._search()
            suggestion.status = "done"
        except _Spent:
            suggestion.status, suggestion.outcome = "done", SPENT
        except asyncio.CancelledError:
            suggestion.status, suggestion.outcome = "stopped", "It was stopped."
            raise
        except WorkbenchError as problem:
            suggestion.status, suggestion.outcome = "failed", str(problem)
        except Exception as error:
            log.exception("Suggestion %s ended in a bug", suggestion.id)
            suggestion.status = "failed"
            suggestion.outcome = f"Something went wrong inside the app: {type(error).__name__}: {error}"

    async def _search(self) -> str:
        cases = await self._around.experimenting.collecting.cases_of(self._plan.cases)
        parts, said = split(cases.values()), self._suggestion.told.append
        said(f"Trying the prompt as it is on the {len(parts.learn)} cases to learn from.")
        learned, cells = await self._scores(self._before, parts.learn)
        failures = await self._failing.of(cells, cases, agent_slug=self._agent.slug)
        if not failures:
            return NOTHING_FAILED
        said(f"{len(failures)} answers were not good. {self._suggestion.wish.model} reads them.")
        if not parts.choose:
            return await self._drafted(failures, len(cases))
        best = await self._chosen(parts, failures, learned)
        if best.proposal is None:
            return NO_BETTER
        self._take(best.proposal, best.behaviour, best.failures)
        return await self._proved(best, parts)

    def _take(self, proposal: Proposal, behaviour: PromptBehaviour, failures: tuple[Failure, ...]) -> None:
        self._suggestion.proposal, self._suggestion.behaviour = proposal, behaviour
        self._suggestion.failures = failures

    async def _drafted(self, failures: Sequence[Failure], count: int) -> str:
        for number in range(WITHOUT_GAIN):
            made = await self._proposed(self._before, _some(failures, number))
            if made is not None:
                self._take(made, made.behaviour(self._before), _some(failures, number))
                return DRAFT.format(count=count)
        return NO_BETTER

    async def _proposed(self, before: PromptBehaviour, failures: tuple[Failure, ...]) -> Proposal | None:
        suggestion = self._suggestion
        if suggestion.wish.ceiling_usd and not suggestion.left:
            raise _Spent
        made = await self._around.proposer.propose(
            before, failures, tried=self._missed, behind=suggestion.id, trigger=self._trigger
        )
        suggestion.cost += made.cost
        if made.proposal is None:
            suggestion.told.append(f"Thrown away: {made.why}")
        return made.proposal

    async def _chosen(self, parts: Parts, failures: Sequence[Failure], learned: Mapping[str, float]) -> _Candidate:
        """The best proposal by cases that it was not made from; the prompt as it is where none is better."""
        said = self._suggestion.told.append
        said(f"Trying the prompt as it is on the {len(parts.choose)} cases to choose by.")
        pool = [_Candidate(self._before, (await self._scores(self._before, parts.choose))[0])]
        without_gain = 0
        for number in range(MOST_PROPOSALS):
            best = max(gain(one.chosen, pool[0].chosen) for one in pool)
            perfect = any(total(one.chosen, pool[0].chosen) == len(parts.choose) for one in pool)
            if without_gain == WITHOUT_GAIN or perfect:
                break
            without_gain += 1
            front = frontier([one.chosen for one in pool])
            parent, shown = pool[front[number % len(front)]], _some(failures, number)
            try:
                made = await self._tried(parent, shown, learned, parts)
            except _Spent:
                said(SPENT)
                break
            if made is None:
                continue
            pool.append(made)
            if gain(made.chosen, pool[0].chosen) > best:
                without_gain = 0
            elif made.proposal is not None:
                self._missed.append(made.proposal.reason)
        return max(pool, key=lambda one: gain(one.chosen, pool[0].chosen))

    async def _tried(
        self, parent: _Candidate, shown: tuple[Failure, ...], learned: Mapping[str, float], parts: Parts
    ) -> _Candidate | None:
        """The candidate that is made of the parent; `None` where it is no better on what it was made from."""
        proposal = await self._proposed(parent.behaviour, shown)
        if proposal is None:
            return None
        behaviour, said = proposal.behaviour(parent.behaviour), self._suggestion.told.append
        own = tuple(one.case_id for one in shown if one.case_id)
        again, _ = await self._scores(behaviour, own) if own else ({}, ())
        if own and total(again, learned) <= total({one: learned.get(one, 0.0) for one in own}, again):
            said("A proposal was no better on the failures that it was made from.")
            self._missed.append(proposal.reason)
            return None
        scores, _ = await self._scores(behaviour, parts.choose)
        said(f"A proposal got {sum(scores.values()):g} of {len(parts.choose)} where it was not made from.")
        return _Candidate(behaviour, scores, proposal, shown)

    async def _scores(self, behaviour: PromptBehaviour, case_ids: Sequence[str]) -> Outcome:
        """What it gets on these cases, each tried once, in runs that no list shows."""
        suggestion, engine = self._suggestion, self._around.experimenting
        if suggestion.wish.ceiling_usd and not suggestion.left:
            raise _Spent
        memory = Memory()
        experiment = self._experiment(case_ids, self._columns(behaviour), suggestion.left).model_copy(
            update={"id": suggestion.id, "status": "running"}
        )
        trying = Trying(engine.trying.chat, memory, engine.collecting)
        means = Means(memory, trying, engine.scoring, engine.collecting, self._limiters.__getitem__, self._providers)
        working = Working(experiment, means, "try")
        trial = asyncio.create_task(working.work())
        try:
            status, why = await asyncio.shield(trial)
        except asyncio.CancelledError:
            while not trial.done():  # also a run that was just about to begin is ended
                working.cancel()
                await asyncio.wait([trial], timeout=STOP_AGAIN)
            raise
        finally:
            suggestion.cost += working.tally.cost
        if status != "completed":
            raise StorageError(why)
        found = scores_of(experiment, memory.cells, 0)
        return {case_id: one.mean for case_id, one in found.items() if one.scores}, memory.of(experiment.id)

    def _providers(self, plan: Plan) -> list[str]:
        return [self._around.experimenting.planning.provider_of_column(plan, column) for column in plan.columns]

    def _columns(self, *behaviours: PromptBehaviour) -> tuple[Column, ...]:
        number = self._suggestion.wish.variant
        return tuple(
            Column(variant=number, tried=None if behaviour == self._before else behaviour) for behaviour in behaviours
        )

    def _experiment(self, case_ids: Sequence[str], columns: tuple[Column, ...], left: float) -> Experiment:
        ceiling = max(left, 1e-9) if self._suggestion.wish.ceiling_usd else 0.0
        changes = {"case_ids": tuple(case_ids), "columns": columns, "ceiling_usd": ceiling}
        began = now()
        return Experiment(
            id=new_id(),
            title=f"Suggestion for {self._agent.name}",
            plan=self._plan.model_copy(update=changes),
            by=self._trigger,
            created_at=began,
            updated_at=began,
        )

    @property
    def _trigger(self) -> Trigger:
        by = self._by
        return by if by.kind == "api_key" else Trigger(kind="job", name="suggestion", key=by.key)

    async def _proved(self, best: _Candidate, parts: Parts) -> str:
        """The proposal beside the prompt as it is, twice, on cases that chose nothing."""
        suggestion, engine = self._suggestion, self._around.experimenting
        if suggestion.wish.ceiling_usd and not suggestion.left:
            return f"{SPENT} So it is not proved on cases that did not choose it."
        columns = self._columns(self._before, self._before, best.behaviour)
        made = await engine.experiments.create(self._experiment(parts.prove, columns, suggestion.left))
        suggestion.experiment_id = made.id
        suggestion.told.append(f"Proving it on the {len(parts.prove)} cases that are left.")
        await engine.start(made.id)
        try:
            await engine.over(made.id)
        except asyncio.CancelledError:
            await engine.cancel(made.id)
            raise
        suggestion.cost += (await engine.progress(made.id)).cost
        cells = {cell.id: cell for cell in (await engine.cells(made.id))[0]}
        ended = engine.get(made.id)
        first, second, ours = (scores_of(ended, cells, column) for column in range(3))
        span = span_of(self._plan.scorer(self._plan.deciding))
        noise = verdict(first, second, finished=False, span=span)
        told = verdict(first, ours, finished=ended.status == "completed", span=span)
        return PROVED.format(
            count=len(parts.prove), words=told.words, noise=f"{noise.better} better, {noise.worse} worse"
        )


def _some(failures: Sequence[Failure], number: int) -> tuple[Failure, ...]:
    """A few of them, others each time."""
    first = number * SHOWN_AT_ONCE % len(failures)
    return tuple([*failures[first:], *failures[:first]][:SHOWN_AT_ONCE])
