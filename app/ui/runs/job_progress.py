"""How far a run that goes on has come, in words."""

from collections.abc import Sequence

from app.domain.events import ModelCalled
from app.engine.run.live_run import LiveRun
from app.ui.conversation.phase import Phase


class JobWords:
    """Follows one run; each look costs only what is new of it."""

    def __init__(self, live: LiveRun) -> None:
        self._live = live
        self._seen = 0
        self._step = 0
        titles = {tool.spec.name: tool.spec.title for tool in live.started.tools}
        self._phase = Phase(live.entries[0].at, titles)

    def words(self) -> str:
        """`Step 2: Calling Calculator…`."""
        for entry in self._live.since(self._seen):
            self._seen = entry.seq + 1
            self._phase.take(entry)
            if isinstance(entry.event, ModelCalled) and entry.event.attempt == 1:
                self._step += 1
        doing = self._phase.words(self._live.draft, steered=self._live.steered)
        return f"Step {self._step}: {doing}" if self._step else doing


class JobsProgress:
    """That of all runs of a list."""

    def __init__(self) -> None:
        self._followed: dict[str, JobWords] = {}

    def words(self, live_runs: Sequence[LiveRun]) -> dict[str, str]:
        """By run id."""
        before, self._followed = self._followed, {}
        for live in live_runs:
            self._followed[live.run_id] = before.get(live.run_id) or JobWords(live)
        return {run_id: words.words() for run_id, words in self._followed.items()}
