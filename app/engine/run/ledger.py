"""The money and tokens of all runs together: what was spent, and what the calls that are going on may cost.

What a run started, it pays for: an account knows those above it, and what was spent below it. A call's cost is reserved
before it is made and settled after it, with nothing awaited between the look at a ceiling and the reservation: however
many runs go on side by side, they do not pass a ceiling together.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from weakref import WeakValueDictionary

from app.domain.events import Entry, Forked, ModelCalled, ModelReturned, RunStarted, ToolCalled, ToolReturned
from app.domain.messages import FilePart, TextPart, ToolResult
from app.domain.trace.usage import own_entries
from app.domain.usage.days import local_midnight, local_month
from app.engine.ports import Clock, RunRows


def no_ceiling() -> float:
    """A ceiling that nobody set."""
    return 0.0


class Spent(NamedTuple):
    """What a run has used up by itself."""

    cost: float
    """US dollars."""
    tokens: int


SameCall = tuple[str, str, ToolResult]
"""Tool, arguments and result of a call."""


@dataclass(slots=True)
class Spending:
    """What a run has used up, kept as its entries come in: no step looks at the whole trace again.

    Of a fork, what came after its copied prefix.
    """

    steps: int = 0
    """Model calls, further attempts at the same one not counted."""
    tokens: int = 0
    cost: float = 0.0
    """US dollars."""
    in_a_row: int = 0
    """How often the last tool call was made one after the other, with the same arguments and the same result."""
    largest_result: int = 0
    """Bytes of the largest tool result."""
    _seen: int = 0
    _arguments: dict[str, str] = field(default_factory=dict)
    """By call id, of the tools that are running."""
    _last_call: SameCall | None = None

    def follow(self, entries: Sequence[Entry]) -> None:
        """Take what is new of the run's entries."""
        for entry in entries[self._seen :] if self._seen else own_entries(entries):
            self._take(entry)
        self._seen = max(self._seen, len(entries))  # a trace that was read some time ago is shorter

    def _take(self, entry: Entry) -> None:
        match entry.event:
            case ModelCalled(attempt=1):
                self.steps += 1
            case ModelReturned() as returned:
                self.tokens += returned.usage.total_tokens
                self.cost += returned.cost or 0.0
            case ToolCalled() as called:
                self._arguments[called.call_id] = json.dumps(called.arguments, sort_keys=True)
            case ToolReturned() as returned:
                self._compare(returned.result)
                self.largest_result = max(self.largest_result, size_of(returned.result))
            case Forked():  # recorded after the first look
                self.steps = self.tokens = self.in_a_row = self.largest_result = 0
                self.cost = 0.0
            case _:
                pass

    def _compare(self, result: ToolResult) -> None:
        arguments = self._arguments.pop(result.call_id, None)
        if arguments is None:  # it was refused before it began
            return
        call = (result.name, arguments, result.model_copy(update={"call_id": ""}))
        self.in_a_row = self.in_a_row + 1 if call == self._last_call else 1
        self._last_call = call


@dataclass(eq=False, slots=True, weakref_slot=True)
class Account:
    """One run that goes on, or that stands above one which does."""

    run_id: str
    started: RunStarted
    parent: "Account | None"
    """Of the run that started it."""
    spending: Spending = field(default_factory=Spending)
    reserved: float = 0.0
    """US dollars that its model call costs at most, while one is going on."""
    reserved_tokens: int = 0
    """Tokens of the prompt of that call, where somebody counted them."""
    below: dict[str, Spent] = field(default_factory=dict)
    """By run: what those have spent that it started, and that these started; those that go on have accounts."""

    @property
    def cost(self) -> float:
        """US dollars, with those that may come on top."""
        return self.spending.cost + self.reserved

    @property
    def tokens(self) -> int:
        return self.spending.tokens + self.reserved_tokens

    def line(self) -> Iterator["Account"]:
        """The account, and those above it up to the first."""
        account: Account | None = self
        while account is not None:
            yield account
            account = account.parent

    @property
    def root(self) -> RunStarted:
        """How the first run above it began, or itself: who started that one started all below it."""
        *_, first = self.line()
        return first.started

    def above(self) -> Iterator["Account"]:
        """Those above it."""
        return iter(()) if self.parent is None else self.parent.line()


class Ledger:
    def __init__(
        self,
        rows: RunRows,
        clock: Clock,
        day_ceiling: Callable[[], float] = no_ceiling,
        month_ceiling: Callable[[], float] = no_ceiling,
    ) -> None:
        self.day_ceiling = day_ceiling
        """US dollars that all runs of a day may cost together; 0 for no ceiling."""
        self.month_ceiling = month_ceiling
        """The same of a calendar month."""
        self.unpriced_sessions: set[str] = set()
        """Sessions whose user has agreed to a model of which nobody said what it costs."""
        self._rows = rows
        self._clock = clock
        self._open: dict[str, Account] = {}
        self._known: WeakValueDictionary[str, Account] = WeakValueDictionary()
        """Of runs that go on, and of those above them."""
        self._spent: dict[datetime, float] = {}
        """By moment: what the runs since then have cost that do not go on any more."""
        self._sessions: dict[str, float] = {}

    def open(self, run_id: str, started: RunStarted) -> Account:
        """The account of a run that begins or goes on."""
        account = self._open[run_id] = self._account(run_id, started)
        for one in account.above():
            one.below.pop(run_id, None)
        self._forget_line(account)
        return account

    def root(self, started: RunStarted) -> RunStarted:
        """How the first run above that one began, or itself where there is none."""
        parent = self._known.get(started.parent.run_id) if started.parent else None
        return parent.root if parent else started

    def knows(self, run_id: str) -> bool:
        """Whether the run goes on, or one below it does."""
        return run_id in self._known

    def recall(self, run_id: str, started: RunStarted, entries: Sequence[Entry], below: Mapping[str, Spent]) -> Account:
        """The account of a run of an earlier process, for one that it started; `entries` are its trace.

        Hold on to it until the account of that one is open.
        """
        account = self._account(run_id, started)
        account.spending.follow(entries)
        self.remember(account, below)
        return account

    def remember(self, account: Account, below: Mapping[str, Spent]) -> None:
        """Take in what the runs that it started have spent, and those that they started, as it was read.

        One that was closed since has spent more than that.
        """
        for run_id, spent in below.items():
            if run_id not in self._open:
                account.below[run_id] = max(spent, account.below.get(run_id, spent))

    def close(self, account: Account) -> None:
        """The run is stored: from now on its row says what it cost."""
        if self._open.pop(account.run_id, None) is None:
            return
        self._forget_line(account)
        for one in account.above():
            one.below[account.run_id] = Spent(account.spending.cost, account.spending.tokens)

    def run_cost(self, account: Account) -> float:
        """US dollars of the run and of all that it started, at most."""
        ended = sum(spent.cost for spent in account.below.values())
        return account.cost + ended + sum(other.cost for other in self._going_on_below(account))

    def run_tokens(self, account: Account) -> int:
        """Tokens of the run and of all that it started."""
        ended = sum(spent.tokens for spent in account.below.values())
        return account.tokens + ended + sum(other.tokens for other in self._going_on_below(account))

    def session_cost(self, session_id: str) -> float:
        """US dollars of all runs of the session and of those that they started, at most."""
        if session_id not in self._sessions:
            stored = self._rows.cost_of_session(session_id)
            self._sessions[session_id] = stored - self._stored(self._of_session(session_id))
        return self._sessions[session_id] + sum(account.cost for account in self._of_session(session_id))

    def day_cost(self) -> float:
        """US dollars of all of today's runs, at most; runs from before midnight that go on count as today's."""
        return self._cost_since(local_midnight(self._clock.now()))

    def month_cost(self) -> float:
        """The same of this month's runs."""
        return self._cost_since(local_month(self._clock.now()))

    def _cost_since(self, moment: datetime) -> float:
        if moment not in self._spent:
            going_on = [one for one in self._open.values() if self._started_since(one, moment)]
            self._spent[moment] = self._rows.cost_since(moment) - self._stored(going_on)
        return self._spent[moment] + sum(account.cost for account in self._open.values())

    def _account(self, run_id: str, started: RunStarted) -> Account:
        """The run's account, the same one as long as anybody has it."""
        account = self._known.get(run_id)
        if account is None:
            parent = self._known.get(started.parent.run_id) if started.parent else None
            account = self._known[run_id] = Account(run_id, started, parent)
        return account

    def _going_on_below(self, account: Account) -> Iterator[Account]:
        return (other for other in self._open.values() if account in other.above())

    def _of_session(self, session_id: str) -> list[Account]:
        open_ = self._open.values()
        return [one for one in open_ if any(up.started.session_id == session_id for up in one.line())]

    def _stored(self, accounts: list[Account]) -> float:
        """What the rows say of runs that go on: a run that was resumed has one from before."""
        rows = (self._rows.get(account.run_id) for account in accounts)
        return sum(row.cost for row in rows if row is not None)

    def _started_since(self, account: Account, moment: datetime) -> bool:
        row = self._rows.get(account.run_id)
        return row is not None and row.started_at >= moment

    def _forget_line(self, account: Account) -> None:
        """Ask again of the sessions of the run and of those above it."""
        self._spent.clear()
        for one in account.line():
            self._sessions.pop(one.started.session_id, None)

    def forget(self) -> None:
        """Ask the rows again when it is needed next: they are not the same any more."""
        self._spent.clear()
        self._sessions.clear()


def size_of(result: ToolResult) -> int:
    """Bytes of the result's text and of what is kept of it as files."""
    texts = sum(len(part.text.encode()) for part in result.parts if isinstance(part, TextPart))
    return texts + sum(part.size for part in result.parts if isinstance(part, FilePart))
