"""Which of the runs that go on come no further before a person decides something."""

from collections import defaultdict
from collections.abc import Sequence

from app.engine.run.run import Run


def all_wait(runs: Sequence[Run]) -> bool:
    """Whether some go on in this process, and these, which are all, do nothing before a person decides."""
    return bool(runs) and len(waiting(runs)) == len(runs)


def asking(run_id: str, runs: Sequence[Run]) -> list[Run]:
    """The run and those below it that wait for a person; none while a call of it goes on. `runs` are all that go on."""
    if not any(live.run_id == run_id and live.stopwatch.stands_still for live in runs):
        return []  # at once, for all who follow a run ask often
    waits = {live.run_id: live for live in waiting(runs)}
    found = [waits[run_id]] if run_id in waits else []
    for above in found:
        found += [one for one in waits.values() if one.started.parent and one.started.parent.run_id == above.run_id]
    return [live for live in found if live.control.waits]


def waiting(runs: Sequence[Run]) -> list[Run]:
    """Those that wait for a person, or for nothing but a run below them that does; `runs` are all that go on."""
    below: defaultdict[str, list[Run]] = defaultdict(list)
    for live in runs:
        if live.started.parent is not None:
            below[live.started.parent.run_id].append(live)

    def waits(live: Run) -> bool:
        return live.stopwatch.stands_still and (live.control.waits or any(map(waits, below[live.run_id])))

    return [live for live in runs if waits(live)]
