"""A run as a chat completion: https://platform.openai.com/docs/api-reference/chat/object

The tools are called within the run; a client sees the answer only. `content` is the last answer's text, whole; a stream
has all that the agent writes on its way there too, since nobody can know beforehand which text will be the last.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from app.api.following.event_stream import DONE, KEEP_ALIVE
from app.api.following.followed import FollowedRun, waits_at
from app.api.following.live_text import Below, Quiet, TextPiece, WaitsBelow
from app.api.following.replies import answer_of
from app.api.openai.errors import OpenAiError, of_run, waiting
from app.api.openai.texts import shown
from app.domain.events import Entry, ModelReturned
from app.domain.messages import Usage
from app.domain.reading.answers import unfenced
from app.domain.trace import RunRow, status, totals

Json = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Completion:
    """What the answers to one request have in common."""

    run_id: str
    model: str
    """As the client named it."""
    created: int
    """Seconds since 1970."""
    formed: bool
    """Whether the client counts on JSON."""
    below: Callable[[], Sequence[RunRow]]
    """The runs whose tokens are told with its own, as they stand by then."""
    waits: Below

    def whole(self, entries: Sequence[Entry]) -> Json:
        """The answer of a run that has ended, or waits. Raises `OpenAiError` where it has none."""
        text = unfenced(answer_of(entries)) if self.formed else answer_of(entries)
        message: Json = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
        choice: Json = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finish_reason(entries, self.run_id),
        }
        return self._object("chat.completion", [choice]) | {"usage": self._usage(entries)}

    def chunk(self, delta: Json, finish: str | None = None) -> Json:
        choice: Json = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._object("chat.completion.chunk", [choice])

    def last_chunk(self, entries: Sequence[Entry]) -> Json:
        """What the whole run used up, where a client wants to know."""
        return self._object("chat.completion.chunk", []) | {"usage": self._usage(entries)}

    def _usage(self, entries: Sequence[Entry]) -> Json:
        told = used(entries, self.below())
        return {
            "prompt_tokens": told.input_tokens,
            "completion_tokens": told.output_tokens,
            "total_tokens": told.total_tokens,
            "prompt_tokens_details": {"cached_tokens": told.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": told.reasoning_tokens},
        }

    def _object(self, kind: str, choices: list[JsonValue]) -> Json:
        return {
            "id": f"chatcmpl-{self.run_id}",
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }


async def chunks(live: FollowedRun, completion: Completion, *, include_usage: bool) -> AsyncIterator[str]:
    """The run as server-sent events until it has ended or waits for a person; an error comes as one of them."""
    no_usage: Json = {"usage": None} if include_usage else {}
    yield _sse(completion.chunk({"role": "assistant", "content": "", "refusal": None}) | no_usage)
    async for text in _texts(live, completion):
        yield _sse(completion.chunk({"content": text}) | no_usage) if text else KEEP_ALIVE
    try:
        for below in completion.waits():
            raise waiting(below.pause.name, below.run_id)
        yield _sse(completion.chunk({}, finish_reason(live.entries, live.run_id)) | no_usage)
        if include_usage:
            yield _sse(completion.last_chunk(live.entries))
    except OpenAiError as error:
        yield _sse(error.body)
    yield DONE


async def _texts(live: FollowedRun, completion: Completion) -> AsyncIterator[str]:
    """What the agent writes, piece by piece, an empty line between its messages; empty when it is quiet for long."""
    written = False
    async for piece in shown(live, completion.waits, formed=completion.formed):
        match piece:
            case TextPiece(kind="text", offset=offset, text=text):
                yield f"\n\n{text}" if written and offset == 0 else text
                written = True
            case Quiet():
                yield ""
            case WaitsBelow():
                return
            case Entry() as entry if waits_at(live, entry):
                return
            case _:
                pass


def finish_reason(entries: Sequence[Entry], run_id: str) -> str:
    """Why the answer ends where it does. Raises `OpenAiError` where there is none."""
    stands = status(entries, alive=True)
    if stands == "limited" and answer_of(entries):
        return "length"
    if stands != "completed":
        raise of_run(entries, run_id)
    reasons = (entry.event.finish_reason for entry in reversed(entries) if isinstance(entry.event, ModelReturned))
    return next(reasons, None) or "stop"


def used(entries: Sequence[Entry], below: Iterable[RunRow]) -> Usage:
    """The tokens of all model calls of the run, and of those that are told with it."""
    return sum(map(_used_by, below), totals(entries).usage)


def _used_by(row: RunRow) -> Usage:
    models = row.models or ()
    return Usage(
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cached_tokens=sum(one.cached_tokens for one in models),
        cache_write_tokens=sum(one.cache_write_tokens for one in models),
        reasoning_tokens=sum(one.reasoning_tokens for one in models),
    )


def _sse(event: Json) -> str:
    return f"data: {json.dumps(event)}\n\n"
