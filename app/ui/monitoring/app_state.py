"""How the app itself fares: figures of now, charts of the last hour, its processes, and what was slow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.values import size
from app.tools.mcp.states import ServerState
from app.tools.user_tools.user_file import UserFile
from app.ui.charts.chart import Chart, Series, Slot
from app.ui.charts.tables import plain_table
from app.ui.elements.addresses import mcp_server_address, run_address, tool_file_address
from app.ui.elements.format import duration, plural, short_moment
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.status_pill import SERVER_WORDS
from app.ui.elements.visible import visible
from app.workbench import Workbench
from app.workbench.vitals.process_facts import ProcessFacts, process_facts
from app.workbench.vitals.vitals import Facts, Sample, Slow

UNKNOWN = "not said here"
"""For what this operating system does not say."""
MOST_SLOW = 20
NO_FACTS = ProcessFacts()
_STATES = {
    "ready": "Ready",
    "empty": "Has no tools",
    "broken": "Broken",
    "loading": "Loading…",
    "untrusted": "Waits for you to allow it",
}


@dataclass(frozen=True)
class Process:
    """A tool file or an MCP server, with its process where it has one."""

    key: str
    """`file:` or `server:`, and its name."""
    name: str
    kind: str
    state: str
    address: str
    tools: frozenset[str]
    restarts: bool
    """Whether it may be started again from here."""
    pid: int | None = None
    facts: ProcessFacts = NO_FACTS


def processes(workbench: Workbench) -> list[Process]:
    """All there are; reads of the system, so call it off the event loop."""
    found = [*map(_of_file, workbench.user_tools.files()), *map(_of_server, workbench.mcp.states())]
    return [one if one.pid is None else replace(one, facts=process_facts(one.pid)) for one in found]


def _of_file(file: UserFile) -> Process:
    names = frozenset(spec.name for spec in file.tools)
    allowed = file.status != "untrusted"
    state, address = _STATES[file.status], tool_file_address(file.name)
    return Process(f"file:{file.name}", file.name, "Tool file", state, address, names, allowed, file.pid)


def _of_server(state: ServerState) -> Process:
    name, names = state.server.name, frozenset(spec.name for spec in state.tools)
    connected = state.status in ("ready", "changed")
    restarts = state.status not in ("off", "consent")
    pid = state.pid if connected else None
    words, address = SERVER_WORDS[state.status][0], mcp_server_address(name)
    return Process(f"server:{name}", name, "MCP server", words, address, names, restarts, pid)


def now_view(sample: Sample | None, facts: Facts | None) -> Html:
    """What the newest sample says, and all that is asked for while somebody looks."""
    if sample is None or facts is None:
        return tag("p", "The first figures come within some seconds.", cls="muted")
    files = UNKNOWN if facts.files is None else f"{facts.files:,}, of which {plural(facts.sockets or 0, 'socket')}"
    told = {
        "Memory": UNKNOWN if sample.memory is None else size(sample.memory),
        "Event loop stood still": f"{sample.stopped_ms:.0f} ms at most",
        "Threads": f"{facts.threads:,}",
        "Open files": files,
        "Waits to be written": plural(facts.backlog, "line"),
        "Disk free": UNKNOWN if facts.disk_free is None else size(facts.disk_free),
    }
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", said)) for name, said in told.items()), cls="vitals")


def vital_charts(samples: Sequence[Sample]) -> tuple[Chart, Chart]:
    """The event loop and the memory of the last hour."""
    slots = [Slot(f"{one.at.astimezone():%H:%M:%S}") for one in samples]
    stops = Series("Longest", [one.stopped_ms for one in samples])
    memory = Series("Memory", [one.memory for one in samples])
    return (
        Chart("monitoring-loop", "Event loop stood still", "ms", slots, (stops,), "lines", "Time"),
        Chart("monitoring-memory", "Memory", "bytes", slots, (memory,), "lines", "Time"),
    )


def processes_view(found: Sequence[Process]) -> Html:
    if not found:
        return tag("p", "No tool files and no MCP servers. What you add on the Tools page shows up here.", cls="muted")
    heads = ("Name", "Kind", "State", "Process", "Memory", "Up for", "")
    return plain_table("Processes of tools", heads, map(_process_row, found), testid="processes")


def slow_view(slow: Sequence[Slow], moment: datetime) -> Html:
    """The newest first."""
    if not slow:
        words = "Nothing was slow since the app began. Stops of the event loop, slow answers and pages show up here."
        return tag("p", words, cls="muted")
    newest = list(slow)[::-1]
    rows = (_slow_row(one, moment) for one in newest[:MOST_SLOW])
    table = plain_table("What was slow", ("When", "What", "Took"), rows, testid="slow-things")
    more = len(newest) - MOST_SLOW
    return joined(table, tag("p", f"And {more:,} before.", cls="muted") if more > 0 else "")


def _process_row(one: Process) -> Iterator[Html]:
    name, facts = visible(one.name), one.facts
    yield tag("a", name, href=one.address, data_key=f"open-{one.key}")
    yield joined(one.kind)
    yield joined(one.state)
    yield joined("–" if one.pid is None else str(one.pid))
    yield joined("–" if facts.memory is None else size(facts.memory))
    yield joined("–" if facts.seconds is None else duration(facts.seconds * 1000))
    said = {"data_restart": one.key, "data_key": one.key, "data_testid": "restart-process", "cls": "text-button"}
    yield tag("button", "Restart", aria_label=f"Restart {name}", **said) if one.restarts else Html("")


def _slow_row(slow: Slow, moment: datetime) -> Iterator[Html]:
    yield joined(short_moment(slow.at, moment))
    match slow.kind:
        case "loop":
            yield joined("The app stood still")
        case "model":
            yield joined("Answer of ", tag("a", visible(slow.what), href=run_address(slow.run_id)))
        case "request":
            yield joined("Opening ", tag("code", visible(slow.what[:120])))
    yield joined(duration(slow.ms))
