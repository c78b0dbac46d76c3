"""A run as a response: https://platform.openai.com/docs/api-reference/responses/object

The tools are called within the run, so a client sees messages only.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from app.api.following.live_text import Below
from app.api.following.replies import answer_of
from app.api.openai.errors import OpenAiError
from app.api.openai.replies import finish_reason, used
from app.api.openai.response_request import PREFIX, ResponseRequest
from app.domain.errors import FailureClass
from app.domain.events import Entry
from app.domain.reading.answers import unfenced
from app.domain.trace import RunRow, error_of

Json = dict[str, JsonValue]
ItemStatus = Literal["in_progress", "completed", "incomplete"]
Phase = Literal["commentary", "final_answer"]

_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""By why an answer was cut off, OpenAI's word for it."""
_CODES: dict[FailureClass, str] = {
    "rate_limit": "rate_limit_exceeded",
    "quota": "rate_limit_exceeded",
    "context_overflow": "invalid_prompt",
    "bad_request": "invalid_prompt",
    "safety_filter": "invalid_prompt",
}
"""A response may say only some words for why it failed; `server_error` is the one for the others."""


@dataclass(frozen=True, slots=True)
class Answering:
    """What all that is told of one response has in common."""

    run_id: str
    wanted: ResponseRequest
    created_at: int
    """Seconds since 1970."""
    below: Callable[[], Sequence[RunRow]]
    """The runs whose tokens are told with its own, as they stand by then."""
    waits: Below

    @property
    def formed(self) -> bool:
        """Whether the client counts on JSON."""
        return self.wanted.schema_wanted is not None

    def whole(self, entries: Sequence[Entry]) -> Json:
        """The response of a run that has ended, or waits. Raises `OpenAiError` where it has no answer."""
        text = unfenced(answer_of(entries)) if self.formed else answer_of(entries)
        reason = finish_reason(entries, self.run_id)
        item_status: ItemStatus = "incomplete" if reason in _REASONS else "completed"
        return self.ended([message(self.item_id(0), text, item_status, "final_answer")], entries)

    def item_id(self, number: int) -> str:
        return f"msg_{self.run_id}_{number}"

    def begun(self) -> Json:
        return self._object("in_progress", [])

    def ended(self, output: list[JsonValue], entries: Sequence[Entry]) -> Json:
        """The response with all of its output. Raises `OpenAiError` where the run has no answer."""
        reason = _REASONS.get(finish_reason(entries, self.run_id))
        details: Json = {"incomplete_details": {"reason": reason}} if reason else {"completed_at": int(time.time())}
        return self._object("incomplete" if reason else "completed", output) | {"usage": self._usage(entries)} | details

    def failed(self, output: list[JsonValue], entries: Sequence[Entry], why: OpenAiError) -> Json:
        known = error_of(entries)
        error: Json = {
            "code": _CODES.get(known.failure, "server_error") if known else "server_error",
            "message": why.message,
        }
        return self._object("failed", output) | {"usage": self._usage(entries), "error": error}

    def _usage(self, entries: Sequence[Entry]) -> Json:
        told = used(entries, self.below())
        return {
            "input_tokens": told.input_tokens,
            "input_tokens_details": {
                "cached_tokens": told.cached_tokens,
                "cache_write_tokens": told.cache_write_tokens,
            },
            "output_tokens": told.output_tokens,
            "output_tokens_details": {"reasoning_tokens": told.reasoning_tokens},
            "total_tokens": told.total_tokens,
        }

    def _object(self, status: str, output: list[JsonValue]) -> Json:
        return {
            "id": f"{PREFIX}{self.run_id}",
            "object": "response",
            "created_at": self.created_at,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "store": True,
            "truncation": "disabled",
            "usage": None,
            **self.wanted.echoed,
        }


def message(item_id: str, text: str, status: ItemStatus, phase: Phase | None = None) -> Json:
    """An item of the output; `phase` once it is known whether the agent's answer stands in it."""
    content: list[JsonValue] = [] if status == "in_progress" else [text_part(text)]
    item: Json = {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": content}
    return item | ({"phase": phase} if phase else {})


def text_part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
