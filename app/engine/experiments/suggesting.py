"""Better prompts for an agent: proposed from failures, tried on some cases, chosen on others, proved on those left.

What is proposed last stays a proposal until a person saves it as a variant; nothing is ever promoted from here.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.domain.agents import Agent, by_prompt, with_variant
from app.domain.errors import NotFound, WorkbenchError
from app.domain.evals.drafts import ExperimentDraft
from app.domain.provenance import Trigger
from app.domain.values import new_id
from app.engine.experiments.experimenting import Experimenting
from app.engine.experiments.proposing import ModelProposer, Proposer
from app.engine.experiments.searching import Around, Search, Suggestion, Wish
from app.engine.ports import ScoreStore, Store
from app.engine.runs.runs import Runs

KEPT = 20


@dataclass
class Suggesting:
    agents: Store[Agent]
    experimenting: Experimenting
    runs: Runs
    scores: ScoreStore
    proposer_of: Callable[[str], Proposer] | None = None
    """By the model that was chosen; the app's own where there is none."""

    def __post_init__(self) -> None:
        self._known: dict[str, Suggestion] = {}

    async def start(self, wish: Wish, by: Trigger) -> Suggestion:
        """Begin; returns while it goes on. Raises `NotFound`, and `WorkbenchError` for what does not fit together."""
        agent = self.agents.get(wish.agent_id)
        by_prompt(agent.variant(wish.variant).behaviour)
        await self.runs.models.check(wish.model)
        plan = await self.experimenting.planning.plan(_draft(wish))
        if not plan.scorers:
            raise WorkbenchError("This dataset has no scorer, so nobody can tell what is better. Add one.")
        suggestion = Suggestion(id=new_id(), wish=wish)
        self._known[suggestion.id] = suggestion
        search = Search(suggestion, plan, self._around(wish.model), agent=agent, by=by)
        suggestion.task = asyncio.create_task(search.guarded(), name=f"suggestion {suggestion.id}")
        while len(self._known) > KEPT:
            self._known.pop(next(iter(self._known))).stop()
        return suggestion

    def get(self, suggestion_id: str) -> Suggestion:
        """Raises `NotFound`."""
        if suggestion_id not in self._known:
            raise NotFound("This suggestion is gone: they last until the app is closed. Ask for another one.")
        return self._known[suggestion_id]

    def of_agent(self, agent_id: str) -> Suggestion | None:
        """The newest one for that agent."""
        return next((one for one in reversed(self._known.values()) if one.wish.agent_id == agent_id), None)

    def _around(self, model: str) -> Around:
        own = ModelProposer(self.runs, self.experimenting.trying.chat.sessions, model)
        proposer = self.proposer_of(model) if self.proposer_of else own
        return Around(self.experimenting, self.runs, self.scores, proposer)

    async def save(self, suggestion_id: str) -> Agent:
        """The agent with the proposal as its next variant, not active. Raises `NotFound`, `StorageError`."""
        suggestion = self.get(suggestion_id)
        behaviour, origin = suggestion.behaviour, suggestion.wish.variant
        if behaviour is None:
            raise NotFound("There is no proposal to save.")
        note = f"Suggested by {suggestion.wish.model}"

        def saved(agent: Agent) -> Agent:
            return with_variant(agent, behaviour, origin=origin, note=note)

        agent = await self.agents.change(suggestion.wish.agent_id, saved)
        suggestion.saved = agent.variants[-1].number
        return agent

    async def close(self) -> None:
        tasks = [one.task for one in self._known.values() if one.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _draft(wish: Wish) -> ExperimentDraft:
    return ExperimentDraft(
        dataset=wish.dataset_id,
        agent=wish.agent_id,
        variants=(wish.variant,),
        tools=wish.tools,
        live=wish.live,
        ceiling_usd=wish.ceiling_usd,
    )
