"""How the nodes of a run stand on a canvas: kept up entry by entry, and only what differs is shown."""

from collections.abc import Callable, Iterable, Sequence

from app.domain.events import Entry, Forked, RunFinished, RunStarted
from app.domain.trace import NodeRun, NodeRuns
from app.ui.graph.canvas import NodeState, edge_id
from app.ui.graph.node_words import state_words

Show = Callable[[list[NodeState], list[tuple[str, str]]], None]
"""Gets the nodes and the edges that differ from what was shown."""
PIECE = 1000
"""Entries that are folded at once: they take about as long as the event loop may wait."""


class RunStates:
    def __init__(self, show: Show) -> None:
        self.runs = NodeRuns()
        self.run_id = ""
        """The run that is shown; empty for none."""
        self.taken = 0
        """How many of its entries are."""
        self._show = show
        self._nodes: dict[str, tuple[str, str]] = {}
        self._edges: dict[str, str] = {}

    def follow(self, run_id: str, entries: Sequence[Entry]) -> bool:
        """Show what came since the last time, at most a piece of it; of another run from its beginning on.

        True where there was something.
        """
        if run_id != self.run_id or len(entries) < self.taken:
            self.runs, self.run_id, self.taken = NodeRuns(), run_id, 0
        new = entries[self.taken : self.taken + PIECE]
        if not new:
            return False
        anew = not self.taken
        touched = self._take(new)
        self.taken += len(new)
        self._tell(self._nodes.keys() | self.runs.counts.keys() if anew else touched)
        return True

    def show(self, run_id: str, runs: NodeRuns, taken: int = 0) -> None:
        """Show how the nodes stood at some place of a run, after that many of its entries."""
        known = self._nodes.keys() | runs.counts.keys()
        self.runs, self.run_id, self.taken = runs, run_id, taken
        self._tell(known)

    def clear(self) -> None:
        """Show no run."""
        self.show("", NodeRuns())

    def _take(self, entries: Iterable[Entry]) -> set[str]:
        """The ids of the nodes of which they tell something."""
        touched: set[str] = set()
        for entry in entries:
            run = self.runs.take(entry)
            if run is not None:
                touched |= {run.node, *_around(run)}
            elif isinstance(entry.event, RunFinished | RunStarted | Forked):
                touched |= self.runs.counts.keys()
        return touched

    def _tell(self, ids: Iterable[str]) -> None:
        nodes = {id_: _state(self.runs, id_) for id_ in ids}
        different = [(id_, *told) for id_, told in nodes.items() if self._nodes.get(id_, ("", "")) != told]
        self._nodes |= nodes
        edges = {edge: told for id_ in nodes for edge, told in _edges(self.runs, id_)}
        if not self.runs.by_call:  # no run is shown, or one in which nothing has begun yet
            edges = dict.fromkeys(self._edges, "")
        gone = dict.fromkeys(self._edges.keys() - {edge_id(edge) for edge in self.runs.workflow.edges}, "")
        changed = [(edge, told) for edge, told in (gone | edges).items() if self._edges.get(edge, "") != told]
        self._edges |= dict(changed)
        if different or changed:
            self._show(different, changed)


def _around(run: NodeRun) -> list[str]:
    """The maps and loops that it stands in."""
    return [part.partition("[")[0] for part in run.call_id.split(".")[:-1]]


def _state(runs: NodeRuns, id_: str) -> tuple[str, str]:
    """How all rounds of a node stand together: that of the worst off that goes on, else of the last."""
    counts, latest = runs.counts.get(id_), runs.latest.get(id_)
    if counts is None or latest is None:
        return "", ""
    total, ended = counts.total(), counts.total() - counts["running"]
    if total == 1:
        is_waiting = latest.state == "running" and latest.pauses
        return "waiting" if is_waiting else latest.state, state_words(latest)
    if counts["running"]:
        return "waiting" if latest.pauses else "running", f"{ended:,} of {total:,} done"
    if failed := counts["failed"]:
        return "failed", f"{failed:,} of {total:,} failed"
    done = counts["done"]
    return ("done", f"{done:,} done") if done else (latest.state, state_words(latest))


def _edges(runs: NodeRuns, id_: str) -> Iterable[tuple[str, str]]:
    """The edges that leave a node, as far as it has ended: taken in some round, or dead."""
    counts, latest = runs.counts.get(id_), runs.latest.get(id_)
    ports = runs.ports.get(id_, set())
    for edge in runs.after(id_):
        if edge.port in ports:
            yield edge_id(edge), "taken"
        else:
            over = counts is not None and latest is not None and latest.ended and not counts["running"]
            yield edge_id(edge), "dead" if over else ""
