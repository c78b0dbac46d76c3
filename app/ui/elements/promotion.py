"""A variant that became the active one on a page, and the way back."""

from dataclasses import dataclass
from functools import partial

from app.domain.agents import Agent, unpromoted
from app.ui.elements.notices import notify, problems_shown
from app.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Promotion:
    before: Agent
    """As it was right before: a person may have looked at its gate for minutes."""
    after: Agent


async def undo_promotion(workbench: Workbench, promotion: Promotion) -> None:
    """Let the variant before it be the active one again, unless one was promoted since; then say so."""
    before, after = promotion.before, promotion.after
    with problems_shown():
        stored = await workbench.agents.change(after.id, partial(unpromoted, before=before, after=after))
        if stored.active != before.active:
            notify(f"Nothing was taken back: variant {stored.active} was promoted since.")
