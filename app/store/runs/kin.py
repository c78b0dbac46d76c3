"""Which runs belong to an agent, a session or the run that started them, without a look at all heads for each."""

from array import array
from bisect import bisect_left
from collections import defaultdict
from typing import Self

from app.domain.trace import RunRow
from app.late import late_part
from app.store.runs.heads import NOBODY, Heads


def _positions() -> "array[int]":
    return array("i")


class Kin:
    """Each of these holds positions of runs, and is made when it is first asked for."""

    def __init__(self, heads: Heads) -> None:
        self.heads = heads

    @late_part
    def by_agent(self) -> "defaultdict[str, array[int]]":
        """By agent: its runs, as they started."""
        found: defaultdict[str, array[int]] = defaultdict(_positions)
        for position in self.heads.sorted(self.heads.those(lambda _: True)):
            found[self.heads.kind_of(position).agent].append(position)
        return found

    @late_part
    def by_session(self) -> "defaultdict[str, array[int]]":
        """By session: its runs, also those that left it."""
        found: defaultdict[str, array[int]] = defaultdict(_positions)
        for position in self.heads.those(lambda _: True):
            found[self.heads.session_of(position)].append(position)
        return found

    @late_part
    def by_parent(self) -> "defaultdict[str, array[int]]":
        """By run: those that it started."""
        found: defaultdict[str, array[int]] = defaultdict(_positions)
        for position in self.heads.those(lambda _: True):
            if (parent := self.heads.parent[position]) != NOBODY:
                found[self.heads.names[parent]].append(position)
        return found

    def made(self) -> Self:
        """With all of these made, for a thread."""
        _ = self.by_agent, self.by_session, self.by_parent
        return self

    def begun(self, agent: str, since: float) -> "array[int]":
        """The agent's runs that started since then, as they started."""
        runs = self.by_agent.get(agent, _positions())
        return runs[bisect_left(runs, since, key=self.heads.started.__getitem__) :]

    def add(self, row: RunRow, *, moved: bool) -> None:
        """Know the run, be it for the second time; `moved` where it began at another time then."""
        position = self.heads.position(row.run_id)
        if position is None:
            return
        if position not in self.by_session[row.session_id]:
            self.by_session[row.session_id].append(position)
        if row.parent is not None and position not in self.by_parent[row.parent.run_id]:
            self.by_parent[row.parent.run_id].append(position)
        runs, started = self.by_agent[row.agent.id], self.heads.started
        if moved and position in runs:
            runs.remove(position)
        place = bisect_left(runs, started[position], key=started.__getitem__)
        while runs[place : place + 1] != array("i", (position,)):
            if place == len(runs) or started[runs[place]] > started[position]:
                runs.insert(place, position)
                return
            place += 1
