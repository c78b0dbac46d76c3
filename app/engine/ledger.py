"""The money of all runs together: what was spent, and what the calls that are going on may cost.

A call's cost is reserved before it is made and settled after it, with nothing awaited between the look at a ceiling and
the reservation: however many runs go on side by side, they do not pass a ceiling together.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from app.domain.events import RunStarted
from app.engine.ports import Clock, RunRows
from app.engine.spending import Spending


def no_ceiling() -> float:
    """A ceiling that nobody set."""
    return 0.0


@dataclass(eq=False, slots=True)
class Account:
    """One run that goes on."""

    run_id: str
    started: RunStarted
    parent: "Account | None"
    """Of the run that started it, while that goes on."""
    spending: Spending = field(default_factory=Spending)
    reserved: float = 0.0
    """US dollars that its model call costs at most, while one is going on."""
    of_children: float = 0.0
    """US dollars that runs it started have spent; those that go on have accounts of their own."""

    @property
    def cost(self) -> float:
        """US dollars, with those that may come on top."""
        return self.spending.cost + self.reserved


class Ledger:
    def __init__(self, rows: RunRows, clock: Clock, day_ceiling: Callable[[], float] = no_ceiling) -> None:
        self.day_ceiling = day_ceiling
        """US dollars that all runs of a day may cost together; 0 for no ceiling."""
        self.unpriced_sessions: set[str] = set()
        """Sessions whose user has agreed to a model of which nobody said what it costs."""
        self._rows = rows
        self._clock = clock
        self._open: dict[str, Account] = {}
        self._day: tuple[datetime, float] | None = None
        self._sessions: dict[str, float] = {}

    def open(self, run_id: str, started: RunStarted) -> Account:
        """The account of a run that begins or goes on."""
        parent = self._open.get(started.parent.run_id) if started.parent else None
        account = self._open[run_id] = Account(run_id, started, parent)
        self._forget(started.session_id)
        return account

    def close(self, account: Account) -> None:
        """The run is stored: from now on its row says what it cost."""
        if self._open.pop(account.run_id, None) is None:
            return
        self._forget(account.started.session_id)
        if account.parent is not None:
            account.parent.of_children += account.spending.cost + account.of_children

    def run_cost(self, account: Account) -> float:
        """US dollars of the run and of those it started, at most."""
        going_on = (self.run_cost(other) for other in self._open.values() if other.parent is account)
        return account.cost + account.of_children + sum(going_on)

    def session_cost(self, session_id: str) -> float:
        """US dollars of all runs of the session, at most."""
        if session_id not in self._sessions:
            stored = self._rows.cost_of_session(session_id)
            self._sessions[session_id] = stored - self._stored(self._of_session(session_id))
        return self._sessions[session_id] + sum(account.cost for account in self._of_session(session_id))

    def day_cost(self) -> float:
        """US dollars of all of today's runs, at most; runs from before midnight that go on count as today's."""
        midnight = local_midnight(self._clock.now())
        if self._day is None or self._day[0] != midnight:
            going_on = [one for one in self._open.values() if self._started_since(one, midnight)]
            self._day = midnight, self._rows.cost_since(midnight) - self._stored(going_on)
        return self._day[1] + sum(account.cost for account in self._open.values())

    def _of_session(self, session_id: str) -> list[Account]:
        return [one for one in self._open.values() if one.started.session_id == session_id]

    def _stored(self, accounts: list[Account]) -> float:
        """What the rows say of runs that go on: a run that was resumed has one from before."""
        rows = (self._rows.get(account.run_id) for account in accounts)
        return sum(row.cost for row in rows if row is not None)

    def _started_since(self, account: Account, moment: datetime) -> bool:
        row = self._rows.get(account.run_id)
        return row is not None and row.started_at >= moment

    def _forget(self, session_id: str) -> None:
        """Ask the rows again when it is needed next: they are another set now."""
        self._day = None
        self._sessions.pop(session_id, None)


def local_midnight(moment: datetime) -> datetime:
    """The start of that moment's day, where the computer stands."""
    return moment.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
