"""What the cards of one run have in common."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.store.contents.contents import Contents
from app.ui.conversation.call_cards import ShowView
from app.ui.conversation.task_line import TaskOf, no_task
from app.ui.run.trace_growth import RunSoFar


def no_apps(_call_id: str) -> Iterable[str]:
    """No app called anything."""
    return ()


@dataclass(frozen=True, slots=True)
class CardContext:
    run: RunSoFar
    contents: Contents
    task_of: TaskOf = no_task
    child_run: Callable[[str], object] | None = None
    """Builds the steps of a run that one of its calls started."""
    apps_of: Callable[[str], Iterable[str]] = no_apps
    """The runs that hold what the app of that call called."""
    nested: bool = False
    """The cards stand within those of another run: what is done from a step is done on the run's own page."""
    show_view: ShowView | None = None
    """Shows the view that a call brought along."""
