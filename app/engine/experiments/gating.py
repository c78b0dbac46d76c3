"""The one way in which a variant becomes the active one: past the gate of its agent, where it has one."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.domain.agents import Agent, promoted
from app.domain.errors import Conflict, NotFound, TooLarge, WorkbenchError
from app.domain.evals.agreement import agreement
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.experiments import Experiment
from app.domain.evals.gate_rules import Asked, fits, judged, stale, untold
from app.domain.evals.gates import LONGEST_REASON, Gate, GateClosed, GateLine, GateOutcome
from app.domain.evals.scorers import NEEDS_MODEL
from app.domain.evals.scores import marks_of
from app.domain.provenance import Trigger
from app.engine.experiments.experimenting import Experimenting
from app.engine.loop.granting import allowed
from app.engine.ports import ScoreStore, Store, Toolbox

LOOKED_AT = 100
"""The newest experiments of an agent on its gate's dataset."""
GONE = "The dataset of this agent's gate is gone. Bring it back, choose another one, or take the gate away."
NO_GATE = "The agent {name!r} has no gate. Set one first: a dataset that its variants have to do well on."

Change = Callable[[Agent], Agent]


class ExperimentList(Protocol):
    def recent(
        self, *, dataset_id: str = "", agent_id: str = "", offset: int = 0, limit: int = 50
    ) -> Sequence[Experiment]:
        """The newest first; deleted ones left out."""
        ...


@dataclass
class Gating:
    agents: Store[Agent]
    experiments: ExperimentList
    experimenting: Experimenting
    toolbox: Toolbox
    scores: ScoreStore
    _told: dict[tuple[str, int], tuple[object, GateOutcome]] = field(default_factory=dict)

    async def set(self, agent_id: str, gate: Gate | None) -> Agent:
        """The agent with that gate, or with none. Raises `NotFound`, and `WorkbenchError` for what cannot decide."""
        if gate is not None:
            dataset = self.experimenting.collecting.dataset(gate.dataset_id)
            names = [scorer.name for scorer in dataset.scorers]
            if not names:
                raise WorkbenchError(f"The dataset {dataset.name!r} has no scorer yet, so nothing passes. Add one.")
            if gate.primary and gate.primary not in names:
                raise WorkbenchError(f"There is no scorer {gate.primary!r} that could decide: {', '.join(names)}.")
        return await self.agents.change(agent_id, lambda agent: agent.model_copy(update={"gate": gate}))

    async def activate(self, agent_id: str, number: int, *, by: str, override: str = "") -> Agent:
        """The agent with that variant active. `override` is why it may be although the gate holds it back.

        Raises `GateClosed`, `NotFound`, and `Conflict` where the agent changed meanwhile.
        """
        agent, reason = self.agents.get(agent_id), _reason(override)
        outcome = await self.outcome(agent, number)
        if outcome is None or outcome.state == "green":
            reason = ""
        elif not reason:
            raise GateClosed(outcome)
        reasons = outcome.reasons if outcome is not None and reason else ()

        def changed(newest: Agent) -> Agent:
            if (newest.active, newest.gate) != (agent.active, agent.gate):
                raise Conflict(f"{agent.name!r} was changed meanwhile. Look at it again, then promote.")
            return promoted(newest, number, by=by, override=reason, reasons=reasons)

        return await self.agents.change(agent_id, changed)

    async def keep(self, agent_id: str, change: Change, *, by: str, override: str = "") -> Agent:
        """Apply a change that may save a further variant, and make that the active one.

        Where the gate holds it back, all else of the change is kept, and `GateClosed` is raised.
        """
        before: list[int] = []
        _reason(override)

        def changed(newest: Agent) -> Agent:
            after = change(newest)
            number = after.variants[-1].number
            before[:] = [newest.variants[-1].number]
            return promoted(after, number, by=by) if after.gate is None and before != [number] else after

        stored = await self.agents.change(agent_id, changed)
        number = stored.variants[-1].number
        if before == [number]:
            return stored
        return await self.activate(agent_id, number, by=by, override=override)

    async def outcome(self, agent: Agent, number: int) -> GateOutcome | None:
        """What the gate says of the variant; `None` where it holds nothing back: a variant that was active before."""
        agent.variant(number)
        if agent.gate is None or agent.was_active(number):
            return None
        try:
            dataset = self.experimenting.collecting.dataset(agent.gate.dataset_id)
        except NotFound:
            lines = (GateLine(rule="fresh", state="amber", words=GONE),)
            return GateOutcome(variant=number, against=agent.active, lines=lines)
        asked = Asked(agent, agent.gate, number, dataset, self._tools(agent, number))
        asked = replace(asked, trusted=await asyncio.to_thread(self._is_trusted, asked))
        tried = await asyncio.to_thread(self._tried, asked)
        over = [one for one in tried if one.status == "completed"]
        best = next((one for one in over if not stale(asked, one)), next(iter(over or tried), None))
        if best is None:
            return untold(asked)
        if reasons := stale(asked, best):
            return untold(asked, *reasons, experiment=best)
        return await self._judged(asked, best, tries=len(over))

    async def run(self, agent_id: str, number: int, by: Trigger) -> Experiment:
        """Start the experiment that the gate asks for, of that variant beside the active one.

        Raises `NotFound`, and `WorkbenchError` for what does not fit together.
        """
        agent = self.agents.get(agent_id)
        planned = await self.experimenting.plan(self.draft(agent, number), by)
        return await self.experimenting.start(planned.id)

    def draft(self, agent: Agent, number: int) -> ExperimentDraft:
        """That experiment, before it is planned. Raises `NotFound`, `Conflict` for the active variant."""
        agent.variant(number)
        if agent.gate is None:
            raise NotFound(NO_GATE.format(name=agent.name))
        if number == agent.active:
            raise Conflict(f"Variant {number} is active already. The gate is asked of another one.")
        gate = agent.gate
        return ExperimentDraft(
            dataset=gate.dataset_id,
            agent=agent.id,
            variants=(agent.active, number),
            repeats=gate.repeats,
            tools=gate.tools,
            live=gate.live,
            primary=gate.primary,
            margin=gate.margin,
            ceiling_usd=gate.ceiling_usd,
            title=f"Gate: variant {number} beside variant {agent.active}",
        )

    def _tools(self, agent: Agent, number: int) -> dict[str, str]:
        behaviours = [agent.variant(one).behaviour for one in (agent.active, number)]
        found = (tool.spec for behaviour in behaviours for tool in allowed(self.toolbox, behaviour))
        return {spec.name: spec.digest for spec in found}

    def _is_trusted(self, asked: Asked) -> bool:
        """Whether what decides needs no model, or its model agrees well enough with what people said."""
        scorer = asked.deciding
        if scorer is None or scorer.type not in NEEDS_MODEL:
            return True
        return agreement(self._labels(asked, scorer.name)).state == "usable"

    def _labels(self, asked: Asked, name: str) -> Iterator[tuple[bool, bool]]:
        """Answers that a person rated and the scorer, as it is now, judged: whether each passed them."""
        for experiment in self._recent(asked):
            if experiment.plan.scorer(name) != asked.deciding:
                continue
            for cell in self.experimenting.cells_kept.of(experiment.id):
                score, rating = cell.score(name), marks_of(self.scores.of(cell.runs[-1])).rating if cell.runs else None
                if rating is not None and score is not None and score.passed is not None:
                    yield rating == "good", score.passed

    def _recent(self, asked: Asked) -> Sequence[Experiment]:
        return self.experiments.recent(dataset_id=asked.dataset.id, agent_id=asked.agent.id, limit=LOOKED_AT)

    def _tried(self, asked: Asked) -> list[Experiment]:
        """The newest first: those that tried the variant beside the active one."""
        found = (one for one in self._recent(asked) if fits(asked, one.plan) is not None)
        return [self.experimenting.get(one.id) for one in found]

    async def _judged(self, asked: Asked, experiment: Experiment, *, tries: int) -> GateOutcome:
        kept, place = self.experimenting.cells_kept, (asked.agent.id, asked.number)
        stamp = (experiment.id, kept.revision(experiment.id), asked.gate, asked.trusted, tries)
        known = self._told.get(place)
        if known is None or known[0] != stamp:
            cases = await self.experimenting.collecting.cases_of(experiment.plan.cases)
            column = fits(asked, experiment.plan) or 1

            def told() -> GateOutcome:
                return judged(asked, experiment, column, kept.of(experiment.id), cases, tries=tries)

            self._told[place] = known = (stamp, await asyncio.to_thread(told))
        return known[1]


def _reason(override: str) -> str:
    words = override.strip()
    if len(words) > LONGEST_REASON:
        raise TooLarge(f"A reason has at most {LONGEST_REASON:,} characters; this one has {len(words):,}.")
    return words
