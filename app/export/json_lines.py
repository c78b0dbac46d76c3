"""A trace as JSON Lines: a header, then one entry a line, each with all that it refers to.

Line 1: `{"format": "agent-playground/trace", "version": 1, "trace_format": …, "app": …, "run_id": …, "status": …,
"entries": …, "redactions": …, "notes": […]}`. Every other line is an entry `{"run_id", "seq", "at", "event"}`; events
are told apart by `event.type`, messages and the schemas of tools stand in them in full. Artifacts are named by sha256.
"""

from collections.abc import Iterator, Sequence

import orjson
from pydantic import ValidationError

from app.domain.errors import WorkbenchError
from app.domain.events import FORMAT as TRACE_FORMAT
from app.domain.events import Entry, RunFinished, RunStarted
from app.domain.trace import status

FORMAT = "agent-playground/trace"
VERSION = 1
MOST_ENTRIES = 200_000


def json_lines(
    entries: Sequence[Entry], *, app: str, alive: bool = False, redactions: int = 0, notes: Sequence[str] = ()
) -> bytes:
    """The trace for `read_json_lines` and for programs. `app` is the version that writes it."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "trace_format": TRACE_FORMAT,
        "app": app,
        "run_id": entries[0].run_id,
        "status": status(entries, alive=alive),
        "entries": len(entries),
        "redactions": redactions,
        "notes": list(notes),
    }
    lines = (orjson.dumps(header), *(entry.model_dump_json().encode() for entry in entries))
    return b"\n".join(lines) + b"\n"


def read_json_lines(content: bytes) -> list[Entry]:
    """The entries of one run, in order from 0. Raises `WorkbenchError` in words for what is no whole trace."""
    lines = content.splitlines()
    check_header(lines[0] if lines else b"", FORMAT, VERSION, noun="trace")
    if len(lines) - 1 > MOST_ENTRIES:
        raise WorkbenchError(f"This trace has {len(lines) - 1:,} entries; {MOST_ENTRIES:,} can be read.")
    entries = list(_entries(lines[1:]))
    _check_order(entries)
    return entries


def check_header(line: bytes, format: str, version: int, *, noun: str) -> dict[str, object]:
    """What a header says. Raises `WorkbenchError` for one of another kind, or of a newer app."""
    try:
        header = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise WorkbenchError(f"This is no {noun}: its header is not JSON.") from error
    if not isinstance(header, dict) or header.get("format") != format:
        raise WorkbenchError(f"This is no {noun}: its header does not say {format!r}.")
    for number, known in ((header.get("version"), version), (header.get("trace_format"), TRACE_FORMAT)):
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise WorkbenchError(f"This {noun} has no version number, so it cannot be read.")
        if number > known:
            raise WorkbenchError(
                f"This {noun} was written by a newer Agent Playground (format {number}, this one reads up to {known}). "
                "Update the app and import it again."
            )
    return header


def _entries(lines: Sequence[bytes]) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=2):
        try:
            yield Entry.model_validate_json(line)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(map(str, fault["loc"])) or "entry"
            raise WorkbenchError(f"Line {number} of the trace is damaged: {place}: {fault['msg']}.") from error


def _check_order(entries: Sequence[Entry]) -> None:
    """Refuse what no run could have written."""
    if not entries or not isinstance(entries[0].event, RunStarted):
        raise WorkbenchError("This trace does not begin with the start of a run.")
    if entries[0].event.format > TRACE_FORMAT:
        raise WorkbenchError("This trace was written by a newer Agent Playground. Update the app and import it again.")
    for place, entry in enumerate(entries):
        if entry.seq != place or entry.run_id != entries[0].run_id:
            raise WorkbenchError(f"This trace is not whole: where entry {place} belongs, there is entry {entry.seq}.")
        if isinstance(entry.event, RunStarted) and place:
            raise WorkbenchError(f"This trace is not one run: it starts again at entry {place}.")
        if isinstance(entry.event, RunFinished) and place < len(entries) - 1:
            raise WorkbenchError(f"This trace goes on after its end at entry {place}.")
