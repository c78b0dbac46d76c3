"""A response as it is written: https://platform.openai.com/docs/api-reference/responses-streaming

Each message that the agent writes is an item of the output: what it says on its way is commentary, the last is its
answer. Events are numbered from 0.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from app.api.following.event_stream import KEEP_ALIVE, sse
from app.api.following.followed import FollowedRun, waits_at
from app.api.following.live_text import Quiet, TextPiece, WaitsBelow
from app.api.openai.errors import OpenAiError, waiting
from app.api.openai.response_object import Answering, Json, Phase, message, text_part
from app.api.openai.texts import shown
from app.domain.events import Entry, MessageAdded


async def response_events(live: FollowedRun, answering: Answering) -> AsyncIterator[str]:
    """The run as server-sent events until it has ended or waits for a person; why it failed comes as the last one."""
    writing = _Writing(answering)
    yield writing.event("response.created", response=answering.begun())
    yield writing.event("response.in_progress", response=answering.begun())
    async for piece in shown(live, answering.waits, formed=answering.formed):
        match piece:
            case TextPiece(kind="text", text=text):
                for event in writing.more(text):
                    yield event
            case Entry(event=MessageAdded(message=said, origin="model")):
                for event in writing.end("commentary" if said.tool_calls or said.partial else "final_answer"):
                    yield event
            case Quiet():
                yield KEEP_ALIVE
            case WaitsBelow():
                break
            case Entry() as entry if waits_at(live, entry):
                break
            case _:
                pass
    for event in (*writing.end("commentary"), writing.last(live)):
        yield event


@dataclass
class _Writing:
    """What of the response was told."""

    answering: Answering
    output: list[JsonValue] = field(default_factory=list)
    """The items that are finished."""
    _told: int = 0
    _text: str | None = None
    """Of the item that is being written, `None` between two."""

    def event(self, kind: str, **facts: JsonValue) -> str:
        self._told += 1
        return sse({"type": kind, "sequence_number": self._told - 1, **facts})

    def more(self, text: str) -> Iterator[str]:
        """Further text of the item, which begins with its first."""
        if self._text is None:
            self._text = ""
            yield self._of_item("response.output_item.added", item=message(self._id, "", "in_progress"))
            yield self._of_part("response.content_part.added", part=text_part(""))
        self._text += text
        yield self._of_part("response.output_text.delta", delta=text, logprobs=[])

    def end(self, phase: Phase) -> Iterator[str]:
        """The end of the item, if one is being written."""
        if (text := self._text) is None:
            return
        item = message(self._id, text, "completed", phase)
        yield self._of_part("response.output_text.done", text=text, logprobs=[])
        yield self._of_part("response.content_part.done", part=text_part(text))
        yield self._of_item("response.output_item.done", item=item)
        self.output.append(item)
        self._text = None

    def last(self, live: FollowedRun) -> str:
        """How it ended."""
        try:
            for below in self.answering.waits():
                raise waiting(below.pause.name, below.run_id)
            response = self.answering.ended(self.output, live.entries)
        except OpenAiError as why:
            response = self.answering.failed(self.output, live.entries, why)
        return self.event(f"response.{response['status']}", response=response)

    def _of_item(self, kind: str, *, item: Json) -> str:
        return self.event(kind, output_index=len(self.output), item=item)

    def _of_part(self, kind: str, **facts: JsonValue) -> str:
        return self.event(kind, item_id=self._id, output_index=len(self.output), content_index=0, **facts)

    @property
    def _id(self) -> str:
        return self.answering.item_id(len(self.output))
