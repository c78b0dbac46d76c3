"""How an entry is stored: its messages, tools and workflow by their digest, each once in its session's own database.

The next run of a session repeats the whole history and all tools; stored this way it adds only what is new.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar, get_args

from pydantic import JsonValue, ValidationError
from pydantic_core import to_json

from app.domain.errors import StorageError
from app.domain.events import FORMAT, Entry, Event, MessageAdded, RunStarted, ToolReturned
from app.domain.messages import Message, ToolResult
from app.domain.tools import ToolSpec
from app.domain.values import Value
from app.domain.workflows.document import Workflow
from app.store.journal.frames import Document

V = TypeVar("V", bound=Value)


_KINDS = frozenset(
    str(kind) for event in get_args(get_args(Event)[0]) for kind in get_args(event.model_fields["type"].annotation)
)
"""The types of all events there are."""


class DamagedEntry(Exception):
    """An entry that cannot be read; the message is a sentence for a person."""


@dataclass(slots=True)
class Packed:
    """An entry as it is stored, and the values it refers to."""

    entry: bytes = b""
    """JSON."""
    messages: dict[str, bytes] = field(default_factory=dict)
    """JSON by digest."""
    tools: dict[str, bytes] = field(default_factory=dict)
    workflows: dict[str, bytes] = field(default_factory=dict)

    def message(self, message: Message) -> str:
        """Refer to the message; returns its digest."""
        return _kept(message, self.messages)

    def tool(self, spec: ToolSpec) -> str:
        return _kept(spec, self.tools)

    def workflow(self, workflow: Workflow) -> str:
        return _kept(workflow, self.workflows)


@dataclass(frozen=True, slots=True)
class PackedHistory:
    """What a run knows when it begins, as it is stored."""

    history: tuple[Message, ...] = ()
    digests: Sequence[str] = ()
    messages: Mapping[str, bytes] = field(default_factory=dict)
    """JSON by digest."""


def pack_history(history: tuple[Message, ...]) -> PackedHistory:
    """The history as it is stored. Takes as long as all that was said, so a long one is no work for the event loop."""
    kept: dict[str, bytes] = {}
    return PackedHistory(history, [_kept(message, kept) for message in history], kept)


def pack(entry: Entry, packed_before: PackedHistory | None = None) -> Packed:
    """The entry as it is stored. Takes as long as the messages it carries itself, whatever came before.

    The history that a run begins with is not packed again where that was done before.
    """
    packed = Packed()
    references = _references(entry, packed, packed_before or PackedHistory())
    if not references:
        packed.entry = entry.model_dump_json().encode()
        return packed
    stored = entry.model_dump(mode="json", exclude={"event": set(references)})
    stored["event"] |= references
    packed.entry = to_json(stored, inf_nan_mode="null")
    return packed


def _references(entry: Entry, packed: Packed, packed_before: PackedHistory) -> dict[str, JsonValue]:
    """The fields of the event that are stored as digests."""
    match entry.event:
        case RunStarted(history=history) as started:
            known = packed_before if packed_before.history is history else pack_history(history)
            packed.messages.update(known.messages)
            return {
                "system": packed.message(started.system) if started.system else None,
                "history": list(known.digests),
                "tools": [{"spec": packed.tool(tool.spec), "policy": tool.policy} for tool in started.tools],
                "workflow": packed.workflow(started.workflow) if started.workflow else None,
            }
        case MessageAdded(message=message):
            return {"message": packed.message(message)}
        case ToolReturned(result=returned):
            return {"result": packed.message(Message.of_result(returned))}
        case _:
            return {}


def _kept(value: Value, kept: dict[str, bytes]) -> str:
    content = value.model_dump_json().encode()
    digest = hashlib.sha256(content).hexdigest()
    kept[digest] = content
    return digest


class Unpacker:
    """Makes entries of what is stored, with the values of the run's session."""

    def __init__(self, stored: Mapping[str, Mapping[str, bytes]]) -> None:
        """JSON by digest, by the table it is in; each is parsed when the first entry refers to it."""
        self._messages = _Shelf(stored.get("messages", {}), Message, "message")
        self._tools = _Shelf(stored.get("tools", {}), ToolSpec, "tool")
        self._workflows = _Shelf(stored.get("workflows", {}), Workflow, "workflow")

    def entry(self, stored: Document) -> tuple[Entry, list[str]]:
        """The entry and a sentence for each part that had to be left out.

        Raises `DamagedEntry` where there is no entry without that part.
        """
        event = stored.get("event")
        if not isinstance(event, dict):
            raise DamagedEntry("it holds no event")
        if (kind := event.get("type")) not in _KINDS:
            raise DamagedEntry(f"it is a step of a kind that this version does not know ({str(kind)[:80]!r})")
        missing: list[str] = []
        try:
            return Entry.model_validate({**stored, "event": {**event, **self._fields(event, missing)}}), missing
        except ValidationError as error:
            raise DamagedEntry(_first_line(error)) from error

    def _fields(self, event: Document, missing: list[str]) -> dict[str, object]:
        """The fields that were stored as digests, as values."""
        match event.get("type"):
            case "run_started":
                return self._started(event, missing)
            case "message_added":
                return {"message": self._messages.value(event.get("message"))}
            case "tool_returned":
                return {"result": self._tool_result(event.get("result"))}
            case _:
                return {}

    def _started(self, event: Document, missing: list[str]) -> dict[str, object]:
        system, workflow = event.get("system"), event.get("workflow")
        return {
            "system": next(iter(self._messages.values([system] if system else [], missing)), None),
            "history": self._messages.values(event.get("history"), missing),
            "tools": self._granted(event.get("tools"), missing),
            "workflow": next(iter(self._workflows.values([workflow] if workflow else [], missing)), None),
        }

    def _granted(self, tools: JsonValue, missing: list[str]) -> list[dict[str, object]]:
        granted = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        specs = [(self._tools.values([tool.get("spec")], missing), tool) for tool in granted]
        return [{**tool, "spec": found[0]} for found, tool in specs if found]

    def _tool_result(self, digest: JsonValue) -> ToolResult:
        for part in self._messages.value(digest).parts:
            if isinstance(part, ToolResult):
                return part
        raise DamagedEntry("its result is no tool result")


class _Shelf(Generic[V]):
    """Values by digest, parsed when they are asked for, once."""

    def __init__(self, stored: Mapping[str, bytes], kind: type[V], noun: str) -> None:
        self._stored = stored
        self._kind = kind
        self._noun = noun
        self._parsed: dict[str, V] = {}

    def value(self, digest: JsonValue) -> V:
        """Raises `DamagedEntry` where there is none or it cannot be read."""
        name = str(digest)
        if name not in self._parsed:
            if name not in self._stored:
                raise DamagedEntry(f"the {self._noun} {name[:12]} that it refers to is missing")
            try:
                self._parsed[name] = self._kind.model_validate_json(self._stored[name])
            except ValidationError as error:
                raise DamagedEntry(f"the {self._noun} {name[:12]} cannot be read ({_first_line(error)})") from error
        return self._parsed[name]

    def values(self, digests: JsonValue, missing: list[str]) -> list[V]:
        """Those that can be read; why not is added to `missing` for each other one."""
        found = []
        for digest in digests if isinstance(digests, list) else []:
            try:
                found.append(self.value(digest))
            except DamagedEntry as error:
                missing.append(str(error))
        return found


def check_format(number: JsonValue) -> None:
    """Raises `StorageError` for a trace of a newer app."""
    if isinstance(number, int) and number > FORMAT:
        raise StorageError(
            f"This run was recorded by a newer Agent Playground (trace format {number}, this one reads up to "
            f"{FORMAT}). Update the app to go on with it."
        )


def told_of_format(number: JsonValue) -> tuple[str, ...]:
    """A sentence for whoever looks at a trace of a newer app; none for one of a known format."""
    try:
        check_format(number)
    except StorageError as newer:
        return (f"{newer} What this version does not know of it is left out.",)
    return ()


def _first_line(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}"
