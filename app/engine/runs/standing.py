"""Which of the runs that go on come no further before a person decides something."""

from collections.abc import Sequence

from app.engine.run.run import Run


def all_wait(runs: Sequence[Run]) -> bool:
    """Whether some go on in this process, and these, which are all, do nothing before a person decides."""
    return bool(runs) and all(_waits(live, runs) for live in runs)


def _waits(live: Run, runs: Sequence[Run]) -> bool:
    """Whether it waits for a person, or for nothing but a run below it that does."""
    below = (one for one in runs if one.started.parent is not None and one.started.parent.run_id == live.run_id)
    return live.stopwatch.stands_still and (live.control.waits or any(_waits(one, runs) for one in below))
