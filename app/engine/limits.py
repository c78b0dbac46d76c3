"""What a run may still use up, checked before each model call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.domain.agents import Limits
from app.domain.events import Entry, LimitName, LimitReached
from app.domain.streaming import ModelRequest
from app.domain.trace import totals
from app.engine.ports import Models


@dataclass
class Budget:
    limits: Limits
    models: Models
    day_cost_of_others: Callable[[], float]
    """US dollars that the other runs of today have cost."""

    async def forbids(self, entries: Sequence[Entry], request: Callable[[], ModelRequest]) -> LimitReached | None:
        """The first limit that one more model call would pass.

        Money is checked ahead: what was spent, and what the next call costs at most by its prompt and `max_tokens`.
        """
        used = totals(entries)
        if used.model_calls >= self.limits.max_steps:
            return LimitReached(limit="steps", allowed=self.limits.max_steps, reached=used.model_calls)
        next_call = await self._cost_at_most(request)
        run_cost = used.cost + next_call
        if run_cost > self.limits.run_cost:
            return LimitReached(limit="run_cost", allowed=self.limits.run_cost, reached=run_cost)
        day_cost = self.day_cost_of_others() + run_cost
        if run_cost > 0 and day_cost > self.limits.day_cost:
            return LimitReached(limit="day_cost", allowed=self.limits.day_cost, reached=day_cost)
        return None

    async def _cost_at_most(self, request: Callable[[], ModelRequest]) -> float:
        """US dollars; 0 for a free or an unpriced model."""
        asked = request()
        price = self.models.price(asked.model)
        if price is None or (price.input == 0 and price.output == 0):
            return 0.0
        prompt_tokens = await self.models.count_tokens(asked)
        return prompt_tokens * price.input + asked.parameters.max_tokens * price.output


SENTENCES: dict[LimitName, str] = {
    "steps": "The run used all of its {0.allowed:g} steps. Raise the agent's step limit to let it go on.",
    "time": "The run took its {0.allowed:g} seconds. Raise the agent's total time to let it go on.",
    "tokens": "The answer was cut at {0.allowed:g} tokens. Raise the agent's max tokens for longer answers.",
    "run_cost": "The next step could bring this run to ${0.reached:.2f}, above its ceiling of ${0.allowed:.2f}. "
    "Raise the agent's ceiling for a run to let it go on.",
    "session_cost": "The next step could bring this session to ${0.reached:.2f}, above its ceiling of "
    "${0.allowed:.2f}. Start a new session, or raise the ceiling.",
    "day_cost": "The next step could bring today's spending to ${0.reached:.2f}, above the ceiling of "
    "${0.allowed:.2f}. Raise the agent's ceiling for a day to let it go on.",
    "repeats": "The same tool was called {0.reached:g} times in a row with the same arguments.",
    "result_size": "A tool result of {0.reached:g} bytes is more than the {0.allowed:g} bytes allowed.",
    "depth": "Agents may start one another {0.allowed:g} levels deep, not deeper.",
}


def sentence(limit: LimitReached) -> str:
    """The limit in words, with the way to raise it."""
    return SENTENCES[limit.limit].format(limit)
