"""What a scorer is shown of a try: the case, and the traces of the runs that it took, one a turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from app.domain.errors import FailureClass
from app.domain.evals.cases import Case
from app.domain.events import Entry, MessageAdded, ModelCalled
from app.domain.messages import ToolStatus
from app.domain.provenance import AgentRef
from app.domain.trace.left import active_seconds
from app.domain.trace.row import RunRow, run_row
from app.domain.trace.trajectory import trajectory
from app.domain.trace.usage import Totals, own_entries, totals

DECLINED: frozenset[ToolStatus] = frozenset({"denied", "cancelled", "invalid", "unknown"})
"""Calls that no tool got."""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call of a tool that the agent made."""

    name: str
    arguments: dict[str, JsonValue]
    status: ToolStatus | None
    """`None` where it was left without a result."""
    step: int
    """The step that made it, counted from 1 over all turns."""

    @property
    def failed(self) -> bool:
        """Whether it came to nothing: an error, a refusal, a break."""
        return self.status != "ok"


@dataclass(frozen=True)
class Evidence:
    case: Case
    traces: tuple[Sequence[Entry], ...]
    """One a turn, each from its `RunStarted` on. Runs that these started are not among them, nor are their calls."""
    below_usd: float = 0.0
    """US dollars of the runs that these started."""
    below_unpriced: bool = False
    """Whether a call of these had no known price."""

    @cached_property
    def answer(self) -> str:
        """The text of the last answer, empty where there is none."""
        return final_answer(self.traces[-1]) if self.traces else ""

    @cached_property
    def calls(self) -> tuple[MadeCall, ...]:
        """The calls of tools in the order in which the model asked for them."""
        return tuple(self._made())

    @cached_property
    def rows(self) -> tuple[RunRow, ...]:
        """Its runs as lists show them."""
        return tuple(run_row(trace, alive=False) for trace in self.traces)

    @property
    def agent(self) -> AgentRef | None:
        return self.rows[-1].agent if self.rows else None

    @property
    def model(self) -> str:
        """The `provider/model` of the last run."""
        return self.rows[-1].model if self.rows else ""

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(row.run_id for row in self.rows)

    @cached_property
    def ms(self) -> float:
        """Milliseconds of work; waits for people and for retries do not count."""
        return 1000 * sum(active_seconds(trace) for trace in self.traces)

    @property
    def cost(self) -> float:
        """US dollars, those of the runs that it started included."""
        return sum(sums.cost for sums in self._sums) + self.below_usd

    @property
    def unpriced(self) -> bool:
        """True where a call had no known price, so that the cost is more than `cost`."""
        return self.below_unpriced or any(sums.unpriced for sums in self._sums)

    @cached_property
    def steps(self) -> int:
        """Calls of the model, over all turns; further attempts at the same one not counted."""
        own = (entry.event for trace in self.traces for entry in own_entries(trace))
        return sum(isinstance(event, ModelCalled) and event.attempt == 1 for event in own)

    @property
    def failure(self) -> FailureClass | None:
        """The class of what the last run failed of; a limit that ended it is one too."""
        if not self.rows:
            return None
        return "limit" if self.rows[-1].status == "limited" else self.rows[-1].failure

    @cached_property
    def _sums(self) -> tuple[Totals, ...]:
        return tuple(map(totals, self.traces))

    def _made(self) -> Iterator[MadeCall]:
        before = 0
        for trace in self.traces:
            steps = trajectory(trace)
            for step in steps:
                for call in step.calls:
                    status = call.result.status if call.result else None
                    yield MadeCall(call.name, call.arguments, status, before + step.number)
            before += len(steps)


def final_answer(entries: Sequence[Entry]) -> str:
    """The text of the last answer that calls no tool, empty where the run gave none."""
    said = (entry.event.message for entry in reversed(entries) if isinstance(entry.event, MessageAdded))
    return next((one.text for one in said if one.role == "assistant" and not one.tool_calls), "")
