"""What stands between a variant and being the active one: a dataset that it has to do well on, or a person's reason."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from app.domain.errors import WorkbenchError
from app.domain.values import Text, Value

LONGEST_REASON = 2_000  # characters
Rule = Literal["fresh", "must_pass", "harm", "margin", "cost", "latency", "judge"]
GateState = Literal["green", "amber", "red"]
"""Amber: nobody can tell yet. Red and amber both hold a variant back."""
Share = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class GateRules(Value):
    """What a gate asks of a variant. Cases that must pass, and no sign of harm, are always asked."""

    primary: str = Field(default="", max_length=60)
    """The name of the scorer that decides; empty for the dataset's own choice."""
    repeats: int = Field(default=3, ge=1, le=20)
    """Tries of each case. A case that must pass has to pass in all of them."""
    margin: float | None = Field(default=None, gt=0, lt=1)
    """In shares of 1: no worse than the active variant by that much has to be shown; `None` asks no proof."""
    most_cost: Share | None = None
    """How much more the median answer may cost, as a share of the active variant's: 0.2 for 20 %."""
    most_latency: Share | None = None
    """The same for the time within which 95 % of the answers came."""
    tools: Literal["recorded", "live"] = "recorded"
    """Whether tools answer from what the cases have recorded."""
    live: Annotated[tuple[str, ...], Field(max_length=500)] = ()
    """Tools that are called for real although the others answer from the record."""
    ceiling_usd: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """US dollars of one experiment for it; 0 for no ceiling."""


class Gate(GateRules):
    """An agent's dataset that guards which variant is active, and what it asks."""

    dataset_id: str


class Activation(Value):
    """A variant that became the active one."""

    variant: int
    at: datetime
    by: str = ""
    """As an agent's `created_by`."""
    override: Text = ""
    """Why a person let it past a gate that held it back; empty where none did."""
    reasons: tuple[str, ...] = ()
    """Why the gate held it back then."""


class GateLine(Value):
    """What one rule says."""

    rule: Rule
    state: GateState
    words: str


class GateOutcome(Value):
    """Whether a variant may become the active one."""

    variant: int
    against: int
    """The variant that is active."""
    lines: tuple[GateLine, ...]
    experiment_id: str = ""
    """The experiment that it is told from; empty where there is none."""
    running: bool = False
    """Whether that experiment is not over yet; it may wait to be resumed."""

    @property
    def state(self) -> GateState:
        return worst(line.state for line in self.lines)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What holds it back, in words."""
        return tuple(line.words for line in self.lines if line.state != "green")


class GateClosed(WorkbenchError):
    """The variant was saved, and is not the active one: the gate of its agent holds it back."""

    code = "gate"

    def __init__(self, outcome: GateOutcome) -> None:
        reasons = " ".join(outcome.reasons)
        super().__init__(
            f"Variant {outcome.variant} is saved and not active: the gate of this agent holds it back. {reasons} Run "
            "the gate, or give a reason to go past it."
        )
        self.outcome = outcome


def worst(states: Iterable[GateState]) -> GateState:
    found = set(states)
    return "red" if "red" in found else "amber" if "amber" in found else "green"
