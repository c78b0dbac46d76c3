"""A cell as it goes to another machine and comes back: what is to be tried, without a key, and what came of it."""

import hashlib

from app.domain.agents import Agent
from app.domain.evals.cases import Case
from app.domain.evals.experiments import Cell, Experiment
from app.domain.values import Value


class CellOrder(Value):
    """Says all that a machine needs which has the same app and keys of its own."""

    app: str
    """The version of the app that sent it; others read traces and tools another way."""
    secret: str
    """Known to who sent it and to who was given it; it counts once."""
    experiment: Experiment
    """With this column and this case alone, and without its scorers: those are asked where it was started."""
    case: Case
    agent: Agent
    """With the variant of the column alone, whose session may cost the cell's share of the ceiling."""
    tools: dict[str, str]
    """The tools that the variant has where the experiment was started: the digest of the spec of each."""
    repeat: int = 0


class CellReturn(Value):
    """What came of it. Its runs come beside it, each as a bundle."""

    secret: str
    order: str
    """The sha256 of the order, as it was received."""
    worker: str = ""
    """The machine."""
    problem: str = ""
    """Why it was not tried at all, in words."""
    cell: Cell | None = None
    bundles: tuple[str, ...] = ()
    """The sha256 of the bundles of the cell's `runs` and then of those that are `spoken`, in their order."""


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
