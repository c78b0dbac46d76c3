"""Files that one node of a workflow wrote and another used: where only the other is kept, its value is of no use."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from app.domain.errors import WorkbenchError
from app.domain.events import ChildStarted, Entry, Event, FileChanged, ToolCalled
from app.domain.workflows.document import Workflow, titled

LONGEST_PATH = 600
"""Characters; what is longer names no file."""


def check_files(
    placed: Iterable[tuple[Entry, str | None]],
    kept: set[str],
    workflow: Workflow,
    below: Mapping[str, Sequence[Entry]],
) -> None:
    """Raises `WorkbenchError` where a kept node used what a node wrote before that is not.

    `placed` are the entries of the run, each with its node, `below` those of the runs that its nodes have started.
    """
    written: dict[str, str] = {}
    """By path: who wrote it last, where that one is not kept."""
    for entry, node in placed:
        if node in kept and written:
            for path in _used([entry.event], below):
                if path in written:
                    _refuse(workflow, path, by=written[path], user=node)
        if node is not None and isinstance(entry.event, FileChanged):
            written.pop(entry.event.path, None)
            written |= {} if node in kept else {entry.event.path: node}


def _used(events: Iterable[Event], below: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    """The paths that calls name, there and in the runs that are started there."""
    for event in events:
        if isinstance(event, ToolCalled):
            for text in _texts(event.arguments):
                yield "/" + "/".join(step for step in text.split("/") if step not in ("", "."))
        elif isinstance(event, ChildStarted):
            yield from _used((entry.event for entry in below.get(event.child_run_id, ())), below)


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str() if len(value) <= LONGEST_PATH:
            yield value
        case dict():
            for one in value.values():
                yield from _texts(one)
        case list():
            for one in value:
                yield from _texts(one)
        case _:
            pass


def _refuse(workflow: Workflow, path: str, *, by: str, user: str | None) -> None:
    nodes = workflow.by_id()
    writer, reader = (titled(nodes[id_]) if id_ in nodes else id_ for id_ in (by, user or ""))
    raise WorkbenchError(
        f"{reader} would stand as it is recorded, and it used {path}, which {writer} had written and would not keep. "
        f"Connect {writer} to {reader}, so that both run anew, or run from {reader}."
    )
