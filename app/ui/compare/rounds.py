"""The rounds of a comparison: what became of each message in each column."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.comparisons import Comparison


@dataclass(frozen=True, slots=True)
class Reply:
    """A column's part in a round: the run that answers, or why there is none."""

    run_id: str = ""
    refusal: str = ""


Round = tuple[Reply, ...]
"""One reply for each column."""


def rounds(comparison: Comparison) -> list[Round]:
    """The replies side by side, message by message."""
    return [
        tuple(Reply(turn.runs.get(column, ""), turn.refusals.get(column, "")) for column in comparison.sessions)
        for turn in comparison.turns
    ]


def votes(comparison: Comparison) -> dict[int, int]:
    """By round: the column that was voted for."""
    columns = {session_id: place for place, session_id in enumerate(comparison.sessions)}
    return {number: columns[voted] for number, voted in comparison.votes.items() if voted in columns}


def tally(voted: dict[int, int], columns: int) -> Sequence[int]:
    """How many votes each column has."""
    return [sum(place == column for place in voted.values()) for column in range(columns)]
