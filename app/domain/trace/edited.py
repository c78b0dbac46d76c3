"""What a person edited before a fork went on from it, and what stood there in the run that it comes from."""

import json
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from app.domain.edits import Edit, EditedArguments, EditedMessage, EditedResult
from app.domain.events import Entry, Forked, MessageAdded, RunStarted, ToolReturned
from app.domain.messages import Message, ToolResult

Arguments = dict[str, JsonValue] | str
What = Literal["prompt", "message", "arguments", "result"]
MOST_ORIGINS = 8
"""Runs that are read for the old values: a fork of a fork of a fork has three."""
HEAD = 80
"""Characters of the old value in a mark."""


@dataclass(frozen=True, slots=True)
class Edited:
    seq: int
    """The entry whose value is a person's; of one that is asked or acted out again, that one."""
    what: What
    call_id: str = ""
    """For arguments and results: whose."""
    was: str | None = None
    """All that stood there; `None` where the run that it comes from is not there any more."""

    @property
    def words(self) -> str:
        """`Edited by you, was 84`, with the beginning of a long old value."""
        if self.was is None:
            return "Edited by you; what was there is not stored any more"
        line = " ".join(self.was[: HEAD * 4].split())
        if not line:
            return "Edited by you; there was nothing before"
        return f"Edited by you, was {line if len(line) <= HEAD else line[: HEAD - 1].rstrip() + '…'}"

    @property
    def is_long(self) -> bool:
        """Whether the old value is more than the words say."""
        return self.was is not None and bool(self.was.strip()) and not self.words.endswith(f", was {self.was}")


class Edits:
    """The edits of one run."""

    def __init__(self, found: Iterable[Edited] = ()) -> None:
        self.all = tuple(found)
        self._found = {(one.what, one.call_id or one.seq): one for one in self.all}

    def prompt(self) -> Edited | None:
        return self._found.get(("prompt", 0))

    def message(self, seq: int) -> Edited | None:
        """What became of the words of the message in that entry."""
        return self._found.get(("message", seq))

    def arguments(self, call_id: str) -> Edited | None:
        return self._found.get(("arguments", call_id))

    def result(self, call_id: str) -> Edited | None:
        return self._found.get(("result", call_id))

    def at(self, seq: int) -> list[Edited]:
        """All that was edited in that entry."""
        return [one for one in self.all if one.seq == seq]


NONE_EDITED = Edits()


async def origins_of(
    entries: Sequence[Entry], read: Callable[[str], Awaitable[Sequence[Entry]]]
) -> dict[str, Sequence[Entry]]:
    """The runs in which the old values stand, by id: those that it comes from, and the ones that these come from.

    `read` gives nothing for a run that is not there. Of a run of another copy of the app there are none: its names
    mean nothing here.
    """
    found: dict[str, Sequence[Entry]] = {}
    wanted = _named(entries)
    while wanted and len(found) < MOST_ORIGINS:
        run_id = wanted.pop()
        if run_id not in found:
            found[run_id] = await read(run_id)
            wanted += _named(found[run_id])
    return found


def edits_of(entries: Sequence[Entry], origins: Mapping[str, Sequence[Entry]]) -> Edits:
    """The edits of a fork, and of the forks that it comes from; `origins` are what `origins_of` gave."""
    found: dict[tuple[What, str | int], Edited] = {}
    forks = _forks(entries)
    here = _Here(entries if forks else ())
    for seq, forked in forks:
        edits = forked.acted_out.edits if forked.acted_out else ()
        if not (edits or forked.edited or origins.get(forked.run_id)):
            continue  # of many forks of a run from outside each would look through all of it
        before = _Values(origins.get(forked.run_id, ()))
        others = {run_id: other for run_id, other in origins.items() if run_id != forked.run_id}
        earlier = edits_of(origins.get(forked.run_id, ()), others)
        copied, own = _split(entries, seq)
        taken_over = _taken_over(_Values(copied), earlier, before) if earlier.all else ()
        said = _copied(copied, forked, before) if before.known else _unknown(here, forked, seq)
        for one in (*taken_over, *said, *_acted_out(own, edits, before)):
            found[one.what, one.call_id or one.seq] = one
    return Edits(sorted(found.values(), key=lambda one: one.seq))


def said_anew(entries: Sequence[Entry], edits: Edits) -> list[tuple[Message, Edited]]:
    """The messages whose words a person edited, as they are now."""
    edited = {one.seq: one for one in edits.all if one.what == "message"}
    return [
        (entry.event.message, edited[entry.seq])
        for entry in entries
        if entry.seq in edited and isinstance(entry.event, MessageAdded)
    ]


def without_secrets(edits: Edits, cleaned: Iterable[str]) -> Edits:
    """The same with these old values, in the order of those that are there."""
    texts = iter(cleaned)
    return Edits(one if one.was is None else replace(one, was=next(texts)) for one in edits.all)


def _named(entries: Sequence[Entry]) -> list[str]:
    started = entries[0].event if entries else None
    if isinstance(started, RunStarted) and started.imported:
        return []
    return [forked.run_id for _, forked in _forks(entries)]


def _forks(entries: Sequence[Entry]) -> list[tuple[int, Forked]]:
    """The ends of the copied prefixes, the oldest first."""
    return [(entry.seq, entry.event) for entry in entries if isinstance(entry.event, Forked)]


def _split(entries: Sequence[Entry], seq: int) -> tuple[Sequence[Entry], Sequence[Entry]]:
    """What stands before that entry and behind it."""
    place = bisect_left(entries, seq, key=lambda entry: entry.seq)
    return entries[:place], entries[place + 1 :]


class _Here:
    """What stands in the fork itself."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = {entry.seq: entry for entry in entries}
        self.answered: dict[str, int] = {}
        """By call: where it was answered first."""
        for entry in entries:
            if isinstance(entry.event, ToolReturned):
                self.answered.setdefault(entry.event.call_id, entry.seq)


class _Values:
    """What stood in a run: copies of its entries may have other places, but no message is left out of them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.known = bool(entries)
        self.prompt = ""
        self.messages: list[Message] = []
        self.places: list[int] = []
        """Of the messages."""
        self.arguments: dict[str, Arguments] = {}
        self.results: dict[str, str] = {}
        self.asked: dict[str, int] = {}
        """Where the call was asked for."""
        self.returned: dict[str, int] = {}
        for entry in entries:
            match entry.event:
                case RunStarted(system=system):
                    self.prompt = system.text if system else ""
                case MessageAdded(message=message):
                    self.messages.append(message)
                    self.places.append(entry.seq)
                    self.arguments |= _arguments(message)
                    self.asked |= dict.fromkeys((call.call_id for call in message.tool_calls), entry.seq)
                case ToolReturned(call_id=call_id, result=result):
                    self.results[call_id] = _said(result)
                    self.returned[call_id] = entry.seq
                case _:
                    pass


def _taken_over(now: _Values, earlier: Edits, before: _Values) -> Iterator[Edited]:
    """What was edited already in the run that it comes from, where that was copied."""
    for one in earlier.all:
        match one.what:
            case "prompt" if now.prompt == before.prompt:
                yield one
            case "message":
                number = before.places.index(one.seq)
                yield from (replace(one, seq=seq) for seq in now.places[number : number + 1])
            case "arguments" if one.call_id in now.asked:
                yield replace(one, seq=now.asked[one.call_id])
            case "result" if one.call_id in now.returned:
                yield replace(one, seq=now.returned[one.call_id])
            case _:
                pass


def _copied(entries: Sequence[Entry], forked: Forked, before: _Values) -> Iterator[Edited]:
    if forked.edited:
        now = _Values(entries)
        if 0 in forked.edited and now.prompt != before.prompt:
            yield Edited(0, "prompt", was=before.prompt)
        messages = (entry for entry in entries if isinstance(entry.event, MessageAdded))
        for entry, then in zip(messages, before.messages, strict=False):
            yield from _changes(entry, then)
        for entry in entries:
            if isinstance(entry.event, ToolReturned):
                was, call_id = before.results.get(entry.event.call_id, ""), entry.event.call_id
                if was != _said(entry.event.result):
                    yield Edited(entry.seq, "result", call_id, was)


def _changes(entry: Entry, then: Message) -> Iterator[Edited]:
    if not isinstance(entry.event, MessageAdded):
        return
    if entry.event.message.text != then.text:
        yield Edited(entry.seq, "message", was=then.text)
    were = _arguments(then)
    for call_id, arguments in _arguments(entry.event.message).items():
        if call_id in were and arguments != were[call_id]:
            yield Edited(entry.seq, "arguments", call_id, _differing(were[call_id], arguments))


def _unknown(here: _Here, forked: Forked, end: int) -> Iterator[Edited]:
    """The same from the places alone; a call whose arguments are edited is made again, so it has no result yet."""
    for seq in forked.edited:
        match here.entries[seq].event if seq in here.entries and seq < end else None:
            case RunStarted():
                yield Edited(0, "prompt")
            case MessageAdded(message=message):
                again = [one.call_id for one in message.tool_calls if here.answered.get(one.call_id, end) >= end]
                yield from (Edited(seq, "arguments", call_id) for call_id in again)
                if not again:
                    yield Edited(seq, "message")
            case ToolReturned(call_id=call_id):
                yield Edited(seq, "result", call_id)
            case _:
                pass


def _acted_out(entries: Sequence[Entry], edits: Sequence[Edit], before: _Values) -> Iterator[Edited]:
    """What was edited in steps that the fork took once more."""
    texts = {edit.text for edit in edits if isinstance(edit, EditedMessage)}
    arguments = {edit.call_id for edit in edits if isinstance(edit, EditedArguments)}
    results = {edit.call_id: edit.text for edit in edits if isinstance(edit, EditedResult)}
    for entry in entries:
        match entry.event:
            case MessageAdded(message=message, origin="model"):
                if message.text in texts:
                    texts.discard(message.text)
                    yield Edited(entry.seq, "message", was=_words_before(message, before))
                for call_id, now in _arguments(message).items():
                    if call_id in arguments:
                        was = before.arguments.get(call_id)
                        yield Edited(entry.seq, "arguments", call_id, None if was is None else _differing(was, now))
            case ToolReturned(call_id=call_id, result=result) if results.get(call_id) == result.text:
                yield Edited(entry.seq, "result", call_id, before.results.get(call_id, "" if before.known else None))
            case _:
                pass


def _words_before(message: Message, before: _Values) -> str | None:
    """The words of the message with the same calls."""
    calls = [call.call_id for call in message.tool_calls]
    found = (one.text for one in before.messages if calls and [call.call_id for call in one.tool_calls] == calls)
    return next(found, None)


def _arguments(message: Message) -> dict[str, Arguments]:
    """By call; those that are no JSON object as the model wrote them."""
    return {call.call_id: call.malformed or call.arguments for call in message.tool_calls}


def _differing(was: Arguments, now: Arguments) -> str:
    """The old values of the arguments that are others now: `x: 5`."""
    if isinstance(was, str) or isinstance(now, str):
        return was if isinstance(was, str) else json.dumps(was, ensure_ascii=False)
    changed = ((name, value) for name, value in was.items() if name not in now or now[name] != value)
    return ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in changed)


def _said(result: ToolResult) -> str:
    return result.text if not result.failed else f"{result.status}: {result.text}"
