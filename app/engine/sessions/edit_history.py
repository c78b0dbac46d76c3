"""Undo and redo of a workflow that is being edited: one step for each gesture, and for each burst of typing."""

from time import monotonic

from app.domain.workflows.document import Workflow

MOST = 200
BURST = 1.0  # seconds


class EditHistory:
    """Documents are frozen and share what is the same, so two hundred of them cost little more than one."""

    def __init__(self) -> None:
        self._before: list[Workflow] = []
        self._after: list[Workflow] = []
        self._burst = ("", 0.0)

    @property
    def can_undo(self) -> bool:
        return bool(self._before)

    @property
    def can_redo(self) -> bool:
        return bool(self._after)

    def copy(self) -> "EditHistory":
        """The same steps, to go on from without those here."""
        copied = EditHistory()
        copied._before, copied._after = [*self._before], [*self._after]
        return copied

    def keep(self, before: Workflow, burst: str = "") -> None:
        """What was there before a change; changes of one `burst` within a second of each other are one step."""
        name, last = self._burst
        self._burst = (burst, monotonic())
        self._after.clear()
        if burst and burst == name and monotonic() - last < BURST and self._before:
            return
        self._before.append(before)
        del self._before[:-MOST]

    def undo(self, now: Workflow) -> Workflow:
        """What was there before the last step that changed something; `now` where nothing was."""
        return self._step(self._before, self._after, now)

    def redo(self, now: Workflow) -> Workflow:
        return self._step(self._after, self._before, now)

    def _step(self, taken: list[Workflow], kept: list[Workflow], now: Workflow) -> Workflow:
        self._burst = ("", 0.0)
        while taken:
            if (found := taken.pop()) != now:
                kept.append(now)
                return found
        return now
