"""The tools that the model was told of: all of the run's, or those that were found since where not all fit."""

from collections.abc import Sequence

from app.domain.events import Entry, RunStarted, ToolReturned
from app.domain.tools import ToolSpec


def sent_tools(entries: Sequence[Entry]) -> tuple[ToolSpec, ...]:
    """Whose schemas are sent with the next call of the model: those from the start, then those that were loaded."""
    started = entries[0].event if entries else None
    if not isinstance(started, RunStarted):
        return ()
    if not started.unsent:
        return tuple(tool.spec for tool in started.tools)
    later = {name: None for entry in entries if isinstance(entry.event, ToolReturned) for name in entry.event.loaded}
    specs = {tool.spec.name: tool.spec for tool in started.tools}
    unsent = set(started.unsent)
    return (
        *(spec for name, spec in specs.items() if name not in unsent),
        *(specs[name] for name in later if name in specs and name in unsent),
    )


def unsent_tools(entries: Sequence[Entry]) -> tuple[ToolSpec, ...]:
    """The run's tools that the model was not told of yet."""
    started = entries[0].event if entries else None
    if not isinstance(started, RunStarted) or not started.unsent:
        return ()
    sent = {spec.name for spec in sent_tools(entries)}
    return tuple(tool.spec for tool in started.tools if tool.spec.name not in sent)
