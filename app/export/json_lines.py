"""A trace as JSON Lines: a header, then one entry a line, each with all that it refers to.

Line 1: `{"format": "agent-playground/trace", "version": 1, "trace_format": …, "app": …, "run_id": …, "status": …,
"entries": …, "redactions": …, "notes": […]}`. Every other line is an entry `{"run_id", "seq", "at", "event"}`; events
are told apart by `event.type`, messages and the schemas of tools stand in them in full. Artifacts are named by sha256.
"""

import io
from collections.abc import Iterator, Sequence
from typing import IO

import orjson
from pydantic import ValidationError

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.events import FORMAT as TRACE_FORMAT
from app.domain.events import (
    Entry,
    Event,
    Forked,
    MessageAdded,
    ModelReturned,
    RunFinished,
    RunStarted,
    ToolReturned,
)
from app.domain.garbage import no_collection
from app.domain.trace import status
from app.domain.unpacked import values_in
from app.domain.values import is_of_a_clock
from app.export.limits import MOST_AMOUNT, MOST_COST

FORMAT = "agent-playground/trace"
VERSION = 1
MOST_ENTRIES = 50_000
MOST_FORKS = 1_000
"""One behind another, as of a run that was edited so often; each is looked at with all that stands before it."""
LARGEST_TRACE = 32 * 1024 * 1024
LARGEST_LINE = 8 * 1024 * 1024
MOST_VALUES = 2_000_000
MOST_VALUES_OF_ENTRY = 100_000
"""It is parsed in one go, and nothing else is done meanwhile."""


def json_lines(
    entries: Sequence[Entry], *, app: str, alive: bool = False, redactions: int = 0, notes: Sequence[str] = ()
) -> bytes:
    """The trace for `read_json_lines` and for programs. `app` is the version that writes it."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "trace_format": trace_format(entries),
        "app": app,
        "run_id": entries[0].run_id,
        "status": status(entries, alive=alive),
        "entries": len(entries),
        "redactions": redactions,
        "notes": list(notes),
    }
    lines = (orjson.dumps(header), *(entry.model_dump_json().encode() for entry in entries))
    return b"\n".join(lines) + b"\n"


def trace_format(entries: Sequence[Entry]) -> int:
    """What a reader of these has to know: of an ordinary run no more than apps before this one did."""
    return entries[0].event.format if isinstance(entries[0].event, RunStarted) else TRACE_FORMAT


def read_json_lines(source: bytes | IO[bytes]) -> list[Entry]:
    """The entries of one run, in order from 0. Raises `WorkbenchError` in words for what is no whole trace.

    Read line by line, so that no more of a file from outside is in memory than its entries.
    """
    lines = _lines(io.BytesIO(source) if isinstance(source, bytes) else source)
    check_header(next(lines, b""), FORMAT, VERSION, noun="trace")
    with no_collection(MOST_ENTRIES):
        entries = list(_entries(lines))
    _check_order(entries)
    return entries


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Raises `TooLarge` as soon as there is more than a run may have."""
    size = values = 0
    while line := file.readline(LARGEST_LINE + 1):
        found = values_in(line, MOST_VALUES_OF_ENTRY)
        size, values = size + len(line), values + found
        if len(line) > LARGEST_LINE or found == MOST_VALUES_OF_ENTRY or size > LARGEST_TRACE or values > MOST_VALUES:
            raise TooLarge(
                f"This trace is too large: it may have {LARGEST_TRACE // 1024**2} MiB and {MOST_VALUES:,} values, each "
                f"entry of it {LARGEST_LINE // 1024**2} MiB and {MOST_VALUES_OF_ENTRY:,} values."
            )
        yield line.rstrip(b"\r\n")


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


def _entries(lines: Iterator[bytes]) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=2):
        if number - 1 > MOST_ENTRIES:
            raise TooLarge(f"This trace has more than {MOST_ENTRIES:,} entries, the most that can be read.")
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
    forks = sum(isinstance(entry.event, Forked) for entry in entries)
    if forks > MOST_FORKS:
        raise TooLarge(f"This trace has {forks:,} forks in it; {MOST_FORKS:,} can be taken in.")
    for place, entry in enumerate(entries):
        if entry.seq != place or entry.run_id != entries[0].run_id:
            raise WorkbenchError(f"This trace is not whole: where entry {place} belongs, there is entry {entry.seq}.")
        if not is_of_a_clock(entry.at):
            raise WorkbenchError(f"This is damaged: entry {place} is of {entry.at.isoformat()}, which is no time.")
        if not _is_measured(entry.event):
            raise WorkbenchError(f"This is damaged: a figure in entry {place} is none that a run can have.")
        if isinstance(entry.event, RunStarted) and place:
            raise WorkbenchError(f"This trace is not one run: it starts again at entry {place}.")
        if isinstance(entry.event, RunFinished) and place < len(entries) - 1:
            raise WorkbenchError(f"This trace goes on after its end at entry {place}.")


def _is_measured(event: Event) -> bool:
    """Whether what it says of tokens, money and time can be added up."""
    match event:
        case ModelReturned(usage=usage, cost=cost, first_token_ms=first, total_ms=whole):
            tokens = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cache_write_tokens)
            amounts = (*tokens, usage.reasoning_tokens, first or 0, whole)
            return abs(cost or 0) <= MOST_COST and all(abs(amount) <= MOST_AMOUNT for amount in amounts)
        case ToolReturned(ms=ms) | MessageAdded(waited_ms=ms):
            return abs(ms or 0) <= MOST_AMOUNT
        case _:
            return True
