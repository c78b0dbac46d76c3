"""What a run may still use up: looked at before each model call, and after each result."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.domain.agents import LimitName, Limits
from app.domain.events import Entry, LimitReached
from app.domain.models import Price
from app.domain.streaming import ModelRequest
from app.engine.run.ledger import Account, Ledger


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked next."""

    request: ModelRequest
    tokens: int | None
    """About how many it has; `None` where no limit asks for it."""
    entries: int
    """How long the trace was when it was made."""

    def cost_at_most(self, price: Price | None) -> float:
        """US dollars of the call by its prompt and the longest answer; 0 for an unpriced model."""
        if price is None:
            return 0.0
        return (self.tokens or 0) * price.input + self.request.parameters.max_tokens * price.output


@dataclass
class Budget:
    limits: Limits
    account: Account
    ledger: Ledger

    def forbids(self, entries: Sequence[Entry], prompt: Prompt, price: Price | None) -> LimitReached | None:
        """The first limit that one more model call would pass; without one the call's cost is reserved.

        Money is looked at ahead: what was spent, what the calls that are going on may cost, and this one at most.
        """
        self.settle(entries)
        used = self.account.spending
        if used.steps >= self.limits.max_steps:
            return LimitReached(limit="steps", allowed=self.limits.max_steps, reached=used.steps)
        next_cost = prompt.cost_at_most(price)
        if limit := self.passed(entries, tokens=prompt.tokens or 0, cost=next_cost):
            return limit
        self.account.reserved, self.account.reserved_tokens = next_cost, prompt.tokens or 0
        return None

    def passed(self, entries: Sequence[Entry], *, tokens: int = 0, cost: float = 0.0) -> LimitReached | None:
        """The first limit that the run has passed, or would pass with so many more tokens and dollars."""
        used = self.account.spending
        used.follow(entries)
        ceilings: list[tuple[LimitName, float, float]] = [
            ("repeats", self.limits.repeats, used.in_a_row),
            ("result_size", self.limits.result_size, used.largest_result),
        ]
        for name, allowed, reached in ceilings:
            if 0 < allowed < reached:
                return LimitReached(limit=name, allowed=allowed, reached=reached)
        return self._means(tokens, cost)

    def forbids_task(self, cost: float) -> LimitReached | None:
        """The ceiling of tokens or money that a run below this one would pass with a call of so many dollars."""
        return self._means(1, cost)

    def settle(self, entries: Sequence[Entry]) -> None:
        """The model call is over: what it cost takes the place of what was reserved for it."""
        self.account.spending.follow(entries)
        self.account.reserved, self.account.reserved_tokens = 0.0, 0

    @property
    def counts_tokens(self) -> bool:
        """Whether the run, or one above it, has a ceiling of tokens."""
        return any(account.started.limits.run_tokens > 0 for account in self.account.line())

    def close(self) -> None:
        """The run is stored, and its row says what it cost."""
        self.ledger.close(self.account)

    def _means(self, tokens: int, cost: float) -> LimitReached | None:
        for account in self.account.line():  # what a run's children use, the run uses
            allowed, reached = account.started.limits.run_tokens, self.ledger.run_tokens(account) + tokens
            if 0 < allowed < reached:
                return LimitReached(limit="run_tokens", allowed=allowed, reached=reached)
        return next(self._money(cost), None)

    def _money(self, cost: float) -> Iterator[LimitReached]:
        """The ceilings that are passed with so many dollars more; what costs nothing passes none."""
        run_cost = self.ledger.run_cost(self.account) + cost
        if run_cost <= 0:
            return
        for account in self.account.line():  # what a run's children cost, the run costs
            yield from _above("run_cost", account.started.limits.run_cost, self.ledger.run_cost(account) + cost)
        for account in self.account.line():  # and its session
            if (allowed := account.started.limits.session_cost) > 0:
                session_cost = self.ledger.session_cost(account.started.session_id) + cost
                yield from _above("session_cost", allowed, session_cost)
        limits = self.limits
        day_cost = self.ledger.day_cost() + cost
        yield from _above("day_cost", limits.day_cost, day_cost)
        if (app_ceiling := self.ledger.day_ceiling()) > 0:
            yield from _above("app_day_cost", app_ceiling, day_cost)
        if (month_ceiling := self.ledger.month_ceiling()) > 0:
            yield from _above("app_month_cost", month_ceiling, self.ledger.month_cost() + cost)


def _above(name: LimitName, allowed: float, reached: float) -> Iterator[LimitReached]:
    if reached > allowed:
        yield LimitReached(limit=name, allowed=allowed, reached=reached)


SENTENCES: dict[LimitName, str] = {
    "steps": "The run used up its {0.allowed:g} step{3}. Raise the agent's step limit to let it go on.",
    "time": "The run took all of its time, {0.allowed:g} second{3}. Raise the agent's total time to let it go on.",
    "tokens": "The answer was cut at {0.allowed:g} tokens. Raise the agent's max tokens for longer answers.",
    "run_tokens": "The next step would bring this run to about {0.reached:,.0f} tokens, above its ceiling of "
    "{0.allowed:,.0f}. Raise the agent's tokens for a run to let it go on.",
    "run_cost": "The next step could bring this run to {1}, above its ceiling of {2}. "
    "Raise the agent's ceiling for a run to let it go on.",
    "session_cost": "The next step could bring this session to {1}, above its ceiling of {2}. "
    "Start a new session, or raise the agent's ceiling for a session.",
    "day_cost": "The next step could bring today's spending to {1}, above the ceiling of {2}. "
    "Raise the agent's ceiling for a day to let it go on.",
    "app_day_cost": "The next step could bring today's spending to {1}, above the {2} that all agents together may "
    "cost on a day. Raise that ceiling, which stands below the limits of every agent.",
    "app_month_cost": "The next step could bring this month's spending to {1}, above the {2} that all agents together "
    "may cost in a month. Raise that ceiling under Budgets in Settings.",
    "repeats": "The same tool was called {0.reached:g} times in a row with the same arguments, and gave the same "
    "result each time. Tell the agent what to do instead, or raise its limit for repeated calls.",
    "result_size": "A tool result has {0.reached:,.0f} bytes, above the {0.allowed:,.0f} that one may have. Ask for "
    "less at once, or raise the agent's limit for a tool result.",
    "depth": "Agents may start one another {0.allowed:g} level{3} deep, not deeper. Raise the agent's limit for agents "
    "calling agents to let it go on.",
    "nodes": "{0.reached:,.0f} nodes of this workflow have begun, and {0.allowed:,.0f} may in one run. Raise its limit "
    "for nodes to let it go on.",
}


def sentence(limit: LimitReached) -> str:
    """The limit in words, with the way to raise it."""
    ending = "" if limit.allowed == 1 else "s"
    return SENTENCES[limit.limit].format(limit, dollars(limit.reached), dollars(limit.allowed), ending)


def dollars(amount: float) -> str:
    """Two digits behind the point, or as many as a small amount needs."""
    return f"${amount:.2f}" if amount >= 0.1 or amount == 0 else f"${Decimal(f'{amount:.2g}'):f}"
