"""Answering a message of a comparison once more, in one of its columns."""

from app.domain.comparisons import ComparedTurn, Comparison
from app.domain.errors import Conflict
from app.workbench import Workbench


async def answer_again(workbench: Workbench, comparison: Comparison, session_id: str, run_id: str) -> None:
    """Start the column's newest run anew.

    Raises `Conflict` for an earlier one: the column would lose what it said after it, and with it the others' company.
    """
    if not comparison.turns or comparison.turns[-1].runs.get(session_id) != run_id:
        raise Conflict("Only the newest message can be answered again here. Open the column as a session of its own.")
    live = await workbench.chat.regenerate(session_id, run_id)
    await workbench.comparisons.change(
        comparison.id, lambda newest: _with_run(newest, len(comparison.turns) - 1, session_id, live.run_id)
    )


def _with_run(comparison: Comparison, number: int, session_id: str, run_id: str) -> Comparison:
    turn = comparison.turns[number]
    again = ComparedTurn(text=turn.text, runs={**turn.runs, session_id: run_id}, refusals=turn.refusals)
    turns = (*comparison.turns[:number], again, *comparison.turns[number + 1 :])
    return comparison.model_copy(update={"turns": turns})
