"""Models that answer again what was recorded of them: nobody is asked, and nothing is paid."""

from collections import deque
from collections.abc import AsyncGenerator, Iterable

from app.domain.errors import ModelFailure
from app.domain.models import Price
from app.domain.streaming import Delta, Model, ModelRequest, ReasoningDelta, Reply, TextDelta
from app.domain.trace.recorded import RecordedAnswer
from app.engine.ports import Models

NO_MORE = "No further answer of the model is recorded."
FREE = Price(input=0, output=0)


class RecordedModels:
    """A directory whose models give the recorded answers, one for each request, whatever is asked."""

    def __init__(self, answers: Iterable[RecordedAnswer], models: Models, *, then_live: bool) -> None:
        """`models` counts tokens and knows prices; with `then_live` it also answers when no record is left.

        What is recorded costs nothing then. Else it costs what it did, so that ceilings hold as they did.
        """
        self._answers = deque(answers)
        self._models = models
        self._then_live = then_live
        self._answering = False
        self.rehearsing = True
        """False from the first request on that goes to a model."""

    async def open(self, name: str) -> Model:
        if self._answers:
            return self
        if not self._then_live:
            raise ModelFailure("internal", NO_MORE)
        self.rehearsing = False
        return await self._models.open(name)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:  # noqa: ARG002  see class
        answer = self._answers.popleft()
        self._answering = True
        try:
            if answer.message is not None and answer.message.partial:
                yield ReasoningDelta(answer.message.reasoning)
                yield TextDelta(answer.message.text)
            yield answer.reply()
        finally:
            self._answering = False

    async def check(self, name: str) -> None:
        await self._models.check(name)

    def price(self, name: str) -> Price | None:
        if self._then_live and (self._answering or self._answers):
            return FREE
        return self._models.price(name)

    async def window(self, name: str) -> int | None:
        return await self._models.window(name)

    def sends_bills(self, name: str) -> bool:
        return self._models.sends_bills(name)

    async def count_tokens(self, request: ModelRequest) -> int:
        return await self._models.count_tokens(request)
