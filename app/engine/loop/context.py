"""What fills a model's context in the next call, counted before it is sent."""

from dataclasses import dataclass, replace

from app.domain.streaming import ModelRequest
from app.engine.loop.fitting import room_in
from app.engine.ports import Models


@dataclass(frozen=True, slots=True)
class ContextParts:
    """Tokens of each part of a request, all of them about."""

    system: int
    """The system prompt and the output schema."""
    tools: int
    history: int
    """What was said before."""
    message: int
    """The message that is being typed; 0 while there is none."""
    window: int | None
    """Tokens that the model takes at most; `None` where nobody said."""
    input_cost: float | None
    """US dollars for sending it once, without a cache; `None`: unpriced."""
    longest_answer: int = 0
    """Tokens of an answer at most."""

    @property
    def total(self) -> int:
        return self.system + self.tools + self.history + self.message

    @property
    def is_trimmed(self) -> bool:
        """Whether some of the history is left out when it is sent."""
        return self.window is not None and self.total > room_in(self.window, self.longest_answer)

    @property
    def is_too_long(self) -> bool:
        """Whether it cannot be sent, even without all that was said before."""
        return self.window is not None and self.total - self.history > self.window


async def context_of(request: ModelRequest, models: Models, *, typed: bool = False) -> ContextParts:
    """How the request's tokens are shared out, and what they cost by the catalog; no provider is asked.

    `typed` says that the request ends with a message that was not sent yet: else all of it is history.
    """
    window = await models.window(request.model)
    empty = replace(request, system=None, tools=(), messages=(), output_schema=None)
    none = await models.count_tokens(empty)
    system = (
        await models.count_tokens(replace(empty, system=request.system, output_schema=request.output_schema)) - none
    )
    tools = await models.count_tokens(replace(empty, tools=request.tools)) - none
    end = len(request.messages) - typed
    message = await models.count_tokens(replace(empty, messages=request.messages[end:])) - none
    history = await models.count_tokens(replace(empty, messages=request.messages[:end])) - none
    price = models.price(request.model)
    total = system + tools + history + message
    return ContextParts(
        system,
        tools,
        history,
        message,
        window=window,
        input_cost=total * price.input if price else None,
        longest_answer=request.parameters.max_tokens,
    )
