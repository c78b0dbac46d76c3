"""Live text on disk: what was new at each checkpoint, put together again after the run was cut off."""

from collections.abc import Iterable

from app.domain.streaming import CallDelta, Draft, DraftCall, ReasoningDelta, TextDelta
from app.store.journal.frames import Document


def snapshot(draft: Draft) -> Draft:
    """The draft as it is now; the live one goes on growing."""
    calls = [DraftCall(call.call_id, call.name, call.arguments) for call in draft.calls.values()]
    return Draft(draft.text, draft.reasoning, calls)


def goes_on(stored: Draft, draft: Draft) -> bool:
    """Whether `stored` is the beginning of `draft`."""
    return (
        draft.text.startswith(stored.text)
        and draft.reasoning.startswith(stored.reasoning)
        and all(
            call_id in draft.calls and draft.calls[call_id].arguments.startswith(call.arguments)
            for call_id, call in stored.calls.items()
        )
    )


def piece(stored: Draft, draft: Draft) -> Document:
    """What `draft` has more than its beginning `stored`; empty when that is nothing."""
    grown: Document = {}
    if text := draft.text[len(stored.text) :]:
        grown["text"] = text
    if reasoning := draft.reasoning[len(stored.reasoning) :]:
        grown["reasoning"] = reasoning
    for call_id, call in draft.calls.items():
        known = stored.calls.get(call_id)
        if known is None or len(known.arguments) < len(call.arguments):
            arguments = call.arguments[len(known.arguments) if known else 0 :]
            grown[f"call {call_id}"] = {"name": call.name, "arguments": arguments}
    return grown


def joined(pieces: Iterable[Document]) -> Draft:
    """The draft out of its pieces, oldest first."""
    draft = Draft()
    for grown in pieces:
        draft.take(TextDelta(_text(grown, "text")))
        draft.take(ReasoningDelta(_text(grown, "reasoning")))
        for key, value in grown.items():
            if key.startswith("call ") and isinstance(value, dict):
                call_id = key.removeprefix("call ")
                draft.take(CallDelta(call_id, _text(value, "name"), _text(value, "arguments")))
    return draft


def _text(document: Document, field: str) -> str:
    value = document.get(field)
    return value if isinstance(value, str) else ""
