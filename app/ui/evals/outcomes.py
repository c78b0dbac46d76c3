"""What came of experiments, in words, for lists: read beside the page, and again only when it has changed."""

from collections.abc import Iterable

from app.domain.errors import WorkbenchError
from app.domain.evals.experiments import Experiment
from app.workbench import Workbench

Stamp = tuple[str, int, str, str]


class Outcomes:
    """Of the experiments that were asked for; `read` looks up those that are not known yet."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._known: dict[str, tuple[Stamp, str]] = {}
        self._wanted: dict[str, Stamp] = {}

    def words(self, experiment: Experiment) -> str:
        """Empty while they are not known."""
        stamp = self._stamp(experiment)
        known = self._known.get(experiment.id)
        if known is None or known[0] != stamp:
            self._wanted[experiment.id] = stamp
        return known[1] if known else ""

    def stamps(self, experiments: Iterable[Experiment]) -> list[Stamp]:
        """Change when something of these does."""
        return [self._stamp(one) for one in experiments]

    async def read(self) -> bool:
        """Look up what was asked for; whether there was anything."""
        wanted, self._wanted = self._wanted, {}
        for experiment_id, stamp in wanted.items():
            try:
                self._known[experiment_id] = stamp, await self._read(experiment_id)
            except WorkbenchError as problem:  # it was deleted meanwhile, or cannot be read
                self._known[experiment_id] = stamp, str(problem)
        return bool(wanted)

    async def _read(self, experiment_id: str) -> str:
        experimenting = self._workbench.experimenting
        if experimenting.is_live(experiment_id):
            progress = await experimenting.progress(experiment_id)
            return f"{progress.ended:,} of {progress.total:,} done"
        return (await experimenting.results(experiment_id)).outcome

    def _stamp(self, experiment: Experiment) -> Stamp:
        revision = self._workbench.cells.revision(experiment.id)
        return experiment.id, revision, experiment.status, experiment.updated_at.isoformat()
