"""A case out of what happened: of a whole run, up to one of its steps, or of several turns of a conversation.

It copies all that is needed, so that the runs may go: messages, files by their sha256, and what the tools gave.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from app.domain.errors import NotFound, TooLarge, WorkbenchError
from app.domain.evals.cases import LONGEST_INPUT, MOST_TURNS, CaseContent, ExpectedCall
from app.domain.events import (
    ChildFinished,
    ChildStarted,
    Entry,
    FileChanged,
    MessageAdded,
    PauseRequested,
    PauseResolved,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import Message
from app.domain.trace import call_views, conversation, files_after, trajectory
from app.domain.values import json_in

_RECORDED = (ToolCalled, ToolReturned, FileChanged, ChildStarted, ChildFinished, PauseRequested, PauseResolved)


class Saved(NamedTuple):
    """What a case says, and the recorded calls of tools that answer in it."""

    content: CaseContent
    record: tuple[Entry, ...]


def saved_step(entries: Sequence[Entry], step: int, *, note: str = "") -> Saved:
    """The last message before that step, 1 for the first, which expects what the agent did as of that step.

    All calls that the run made later are recorded too. Raises `NotFound` for a step that is not there.
    """
    found = trajectory(entries)
    if not 1 <= step <= len(found):
        raise NotFound(f"The run has no step {step}: it has {len(found)}.")
    decision = found[step - 1].decision
    asked = [place for place in _asked(entries) if place < decision.seq]
    if not asked:
        raise WorkbenchError("Nobody said anything before this step, so there is nothing to ask an agent again.")
    place = asked[-1]
    until = entries[: decision.seq + 1]
    answer = decision.text if decision.kind == "respond" else ""
    content = _content(entries, place, (), answer, _calls(until, entries, place), note=note)
    return Saved(content, _record([entries[place:]]))


def saved_turns(traces: Sequence[Sequence[Entry]], *, note: str = "") -> Saved:
    """A run, or several of a conversation, as one case of as many messages; the answer to the last one is expected.

    Raises `WorkbenchError` where nothing was asked, or too often for one case.
    """
    places = [(entries, place) for entries in traces for place in _asked(entries)]
    if not places:
        raise WorkbenchError("Nobody said anything in this run, so there is nothing to ask an agent again.")
    if len(places) > MOST_TURNS:
        raise TooLarge(
            f"A case has at most {MOST_TURNS} messages of the user; here are {len(places)}. Save fewer turns."
        )
    (entries, place), *later = places
    messages = [_message(*found) for found in later]
    if left := sum(len(message.attachments) for message in messages):
        note = "\n".join(
            filter(None, (note, f"Not in this case: {left} files that were sent after the first message."))
        )
    calls = [call for entries in traces for call in _calls(entries, entries, 0)]
    turns = tuple(message.text for message in messages)
    content = _content(entries, place, turns, _answer(traces[-1]), calls, note=note)
    return Saved(content, _record([entries[place:], *traces[1:]]))


def _content(
    entries: Sequence[Entry],
    place: int,
    turns: tuple[str, ...],
    answer: str,
    calls: Sequence[ExpectedCall],
    *,
    note: str,
) -> CaseContent:
    started, message = entries[0].event, _message(entries, place)
    if not isinstance(started, RunStarted):
        raise WorkbenchError("The beginning of this run cannot be read, so no case can be made of it.")
    if max(map(len, (message.text, *turns))) > LONGEST_INPUT:
        raise TooLarge(f"A message of a case has at most {LONGEST_INPUT:,} characters; one of this run has more.")
    return CaseContent(
        input=message.text,
        turns=turns,
        variables=started.variables,
        attachments=message.attachments,
        history=tuple(conversation(entries[:place])),
        files=files_after(entries[:place]),
        reference=_reference(answer, structured=started.output_schema is not None),
        expected_calls=tuple(calls) if answer or calls else None,
        note=note,
    )


def _asked(entries: Sequence[Entry]) -> list[int]:
    """The places of what a person said; what views of apps let the model know is no message of theirs."""
    return [
        place
        for place, entry in enumerate(entries)
        if isinstance(entry.event, MessageAdded) and entry.event.message.role == "user" and entry.event.origin != "app"
    ]


def _message(entries: Sequence[Entry], place: int) -> Message:
    event = entries[place].event
    assert isinstance(event, MessageAdded)  # noqa: S101  what `_asked` found
    return event.message


def _answer(entries: Sequence[Entry]) -> str:
    """What the agent said last, to its end; empty where it did not come to that."""
    said = [found.decision for found in trajectory(entries)]
    whole = said and said[-1].kind == "respond" and not _message(entries, said[-1].seq).partial
    return said[-1].text if whole else ""


def _reference(answer: str, *, structured: bool) -> JsonValue:
    """The answer, as what it says where the agent was to answer in JSON."""
    if not answer.strip():
        return None
    if structured:
        try:
            return json_in(answer)
        except (ValueError, RecursionError):
            return answer
    return answer


def _calls(asking: Sequence[Entry], entries: Sequence[Entry], first: int) -> list[ExpectedCall]:
    """The calls that the model asked for among `asking`, from that place on, as they were made; not those that failed.

    How they went is looked for in all `entries`.
    """
    views = call_views(entries)
    wanted = [
        views[call.call_id]
        for entry in asking[first:]
        if isinstance(entry.event, MessageAdded) and entry.event.message.role == "assistant"
        for call in entry.event.message.tool_calls
    ]
    return [ExpectedCall(name=view.name, arguments=view.arguments) for view in wanted if view.state == "done"]


def _record(traces: Sequence[Sequence[Entry]]) -> tuple[Entry, ...]:
    """What is recorded of calls of tools, the ids of calls told apart; empty where none came to its end."""
    found = [entry for number, entries in enumerate(traces) for entry in _of_calls(entries, number)]
    return tuple(found) if any(isinstance(entry.event, ToolReturned) for entry in found) else ()


def _of_calls(entries: Sequence[Entry], turn: int) -> Iterator[Entry]:
    for entry in entries:
        if isinstance(entry.event, _RECORDED):
            yield _renamed(entry, f"{turn}.") if turn else entry


def _renamed(entry: Entry, prefix: str) -> Entry:
    """The entry with other ids: each turn may count its calls from 1 anew."""
    event = entry.event
    changes: dict[str, object] = {
        name: prefix + getattr(event, name)
        for name in ("call_id", "pause_id")
        if name in type(event).model_fields and getattr(event, name)
    }
    if isinstance(event, ToolReturned):
        changes["result"] = event.result.model_copy(update={"call_id": prefix + event.call_id})
    return entry.model_copy(update={"event": event.model_copy(update=changes)})
