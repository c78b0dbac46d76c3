"""A model reflects on answers that were not good and proposes a better prompt: one run of its own for each proposal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.domain.agents import Limits, PromptBehaviour
from app.domain.branches import FIRST
from app.domain.evals.evidence import final_answer
from app.domain.evals.suggestions import SCHEMA, SYSTEM, Failure, Proposal, Rejected, question, read_proposal
from app.domain.events import RunStarted
from app.domain.messages import system_message, user_message
from app.domain.provenance import AgentRef, Trigger
from app.domain.sessions import Session
from app.domain.trace import error_of, totals
from app.domain.values import new_id, now
from app.engine.ports import SessionStore
from app.engine.runs.runs import Runs

REFLECTING = AgentRef(id="suggestion", slug="suggestion", name="Suggestion", variant=1)
LIMITS = Limits(max_steps=1, total_time=600, day_cost=1e6)
"""The ceilings of a suggestion and of all agents together hold its money."""


@dataclass(frozen=True)
class Proposed:
    """What a proposer came to."""

    proposal: Proposal | None
    """`None`: none that could be tried."""
    why: str = ""
    """Why there is none."""
    run_id: str = ""
    cost: float = 0.0
    """US dollars."""


class Proposer(Protocol):
    """Whoever writes better prompts; another optimiser can stand in its place."""

    async def propose(
        self,
        before: PromptBehaviour,
        failures: Sequence[Failure],
        *,
        tried: Sequence[str],
        behind: str,
        trigger: Trigger,
    ) -> Proposed:
        """A proposal made of these failures; `tried` are reasons of those that brought nothing.

        Raises `NotFound` for a model there is not, `StorageError`.
        """
        ...


@dataclass
class ModelProposer:
    runs: Runs
    sessions: SessionStore
    model: str

    async def propose(
        self,
        before: PromptBehaviour,
        failures: Sequence[Failure],
        *,
        tried: Sequence[str],
        behind: str,
        trigger: Trigger,
    ) -> Proposed:
        await self.runs.models.check(self.model)
        run_id = new_id()
        session = await self.sessions.create(_session(run_id, behind))
        started = RunStarted(
            session_id=session.id,
            agent=REFLECTING,
            model=self.model,
            limits=LIMITS,
            system=system_message(SYSTEM),
            follows=FIRST,
            output_schema=SCHEMA,
            trigger=trigger,
            purpose="suggestion",
        )
        asked = user_message(question(before, failures, tried=tried))
        live = await self.runs.start(started, asked, run_id=run_id)
        try:
            await live.ended()
        finally:
            live.stop()  # of one that ended it changes nothing
        cost = totals(live.entries).cost
        if live.status != "completed":
            error = error_of(live.entries)
            return Proposed(None, f"The model proposed nothing. {error.text if error else ''}".strip(), run_id, cost)
        try:
            return Proposed(read_proposal(final_answer(live.entries), before), "", run_id, cost)
        except Rejected as why:
            return Proposed(None, str(why), run_id, cost)


def _session(run_id: str, behind: str) -> Session:
    began = now()
    return Session(
        id=new_id(),
        agent_id=REFLECTING.id,
        agent_slug=REFLECTING.slug,
        variant=REFLECTING.variant,
        title="Suggestion",
        runs=(run_id,),
        behind=behind,
        created_at=began,
        updated_at=began,
    )
