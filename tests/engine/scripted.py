"""A model that does what it was told to: each call takes the next script, a list of things to yield, raise or await."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

from app.domain.errors import NotFound
from app.domain.messages import FinishReason, Message, Part, ReasoningPart, TextPart, ToolCall, Usage
from app.domain.models import Price
from app.domain.streaming import Delta, ModelRequest, ReasoningDelta, Reply, TextDelta

ScriptLine = Delta | Reply | Exception | Callable[[], Awaitable[object]]


def reply(text: str = "", *calls: ToolCall, finish: FinishReason | None = None, tokens: int = 10) -> Reply:
    parts: tuple[Part, ...] = (*((TextPart(text=text),) if text else ()), *calls)
    message = Message(role="assistant", parts=parts, model="scripted/model")
    usage = Usage(input_tokens=tokens, output_tokens=tokens)
    return Reply(message, usage, finish or ("tool_calls" if calls else "stop"))


@dataclass
class ScriptedModels:
    """A directory with one model in it, which is also the directory."""

    scripts: list[list[ScriptLine]] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    closed: int = 0
    """Streams that were closed before their end."""
    priced: Price | None = None
    holds: int | None = None
    """Its context window, in tokens."""
    bills: bool = False
    """Whether it may cost something where it is unpriced."""

    def say(self, *lines: ScriptLine | str) -> None:
        """The script of the next call that has none yet."""
        self.scripts.append([reply(line) if isinstance(line, str) else line for line in lines])

    async def open(self, name: str) -> "ScriptedModels":
        return self

    async def check(self, name: str) -> None:
        if name.startswith("unknown/"):
            raise NotFound(f"There is no provider {name.partition('/')[0]!r}.")

    def price(self, name: str) -> Price | None:
        return self.priced

    async def window(self, name: str) -> int | None:
        return self.holds

    def sends_bills(self, name: str) -> bool:
        return self.bills

    async def count_tokens(self, request: ModelRequest) -> int:
        return sum(len(message.text) for message in request.messages)

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        return request

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        await request.stored()
        self.requests.append(request)
        script = self.scripts.pop(0)
        ended = False
        try:
            for line in script:
                if isinstance(line, Exception):
                    raise line
                if callable(line):
                    await line()
                    continue
                if (
                    isinstance(line, Reply)
                    and line.message.text
                    and not isinstance(line.message.parts[0], ReasoningPart)
                ):
                    yield TextDelta(line.message.text)
                yield line
            ended = True
        finally:
            self.closed += not ended


async def forever() -> None:
    """Wait for something that never comes."""
    await asyncio.Event().wait()


__all__ = ["ReasoningDelta", "ScriptedModels", "TextDelta", "forever", "reply"]
