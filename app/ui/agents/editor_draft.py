"""What somebody makes of an agent in the editor before it is a variant."""

import asyncio

from app.domain.agents import Agent, Behaviour, Variant, WorkingCopy, with_variant
from app.domain.errors import NotFound, StorageError
from app.domain.values import now
from app.workbench import Workbench


class EditorDraft:
    """Begins with the agent's working copy, where there is one, else with the active variant.

    What is changed is the working copy from then on: it belongs to the workbench, and outlives the page.
    """

    def __init__(self, workbench: Workbench, agent: Agent) -> None:
        self._workbench = workbench
        self._agent_id = agent.id
        self._dropping: asyncio.Task[None] | None = None
        self._drop_trouble = ""
        self.origin = agent.active
        """The number of the variant it began from."""
        self.behaviour = agent.active_variant.behaviour
        self.load()

    @property
    def agent(self) -> Agent:
        """The agent as it is stored now."""
        return self._workbench.agents.get(self._agent_id)

    @property
    def saved(self) -> Behaviour:
        """What the draft began from."""
        return self.agent.variant(self.origin).behaviour

    @property
    def changed(self) -> bool:
        """True when it is not what it began from."""
        return self.behaviour != self.saved

    @property
    def is_written(self) -> bool:
        """True when all of it is on disk."""
        return self._workbench.working_copies.is_written(self._agent_id)

    @property
    def trouble(self) -> str:
        """Why it is not on disk, in words; empty when it is, or will be."""
        return self._drop_trouble or self._workbench.working_copies.trouble(self._agent_id)

    @property
    def elsewhere(self) -> bool:
        """True when another page has changed the agent's working copy after this one did."""
        kept = self._kept()
        return kept is not None and kept.behaviour != self.behaviour

    def load(self) -> None:
        """Take the working copy as it is now."""
        kept = self._kept()
        if kept is not None:
            self.origin, self.behaviour = kept.origin, kept.behaviour

    def change(self, behaviour: Behaviour, *, origin: int | None = None) -> None:
        """Take another state, of another origin where one is named; it is kept a second after the last change."""
        self.behaviour = behaviour
        self.origin = origin or self.origin
        if self.changed:
            copy = WorkingCopy(agent_id=self._agent_id, origin=self.origin, behaviour=behaviour, updated_at=now())
            self._workbench.working_copies.typed(copy)
        else:
            self._dropping = asyncio.get_running_loop().create_task(self._drop(), name="forget a working copy")

    async def save(self, note: str) -> Variant:
        """Save it as the agent's next variant, whatever other tabs saved meanwhile. Raises `StorageError`."""
        behaviour, origin = self.behaviour, self.origin
        agent = await self._workbench.agents.change(
            self._agent_id, lambda agent: with_variant(agent, behaviour, origin=origin, note=note)
        )
        variant = agent.variants[-1]
        self.origin = variant.number
        kept = self._kept()
        # What another tab has changed there is somebody's work, and stays.
        if kept is not None and kept.behaviour == behaviour:
            await self._drop()
        return variant

    async def _drop(self) -> None:
        try:
            await self._workbench.working_copies.drop(self._agent_id)
            self._drop_trouble = ""
        except StorageError as problem:
            self._drop_trouble = str(problem)

    def _kept(self) -> WorkingCopy | None:
        kept = self._workbench.working_copies.get(self._agent_id)
        if kept is None:
            return None
        try:
            self.agent.variant(kept.origin)
        except NotFound:
            return kept.model_copy(update={"origin": self.agent.active})
        return kept
