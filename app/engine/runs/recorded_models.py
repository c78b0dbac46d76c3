"""Models that answer again what was recorded of them: nobody is asked, and nothing is paid."""

from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

from app.domain.errors import ModelFailure
from app.domain.events import Entry, MessageAdded
from app.domain.models import Price
from app.domain.streaming import Delta, Model, ModelRequest, ReasoningDelta, Reply, TextDelta
from app.domain.trace.recorded import RecordedAnswer, recorded_answers
from app.engine.ports import Models

NO_MORE = "No further answer of the model is recorded."
FREE = Price(input=0, output=0)


class _Directory:
    """What `models` knows of them, whoever answers."""

    def __init__(self, models: Models) -> None:
        self._models = models

    async def check(self, name: str) -> None:
        await self._models.check(name)

    def price(self, name: str) -> Price | None:
        return self._models.price(name)

    async def window(self, name: str) -> int | None:
        return await self._models.window(name)

    def sends_bills(self, name: str) -> bool:
        return self._models.sends_bills(name)

    async def count_tokens(self, request: ModelRequest) -> int:
        return await self._models.count_tokens(request)

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        return request


class RecordedModels(_Directory):
    """A directory whose models give the recorded answers, one for each request, whatever is asked.

    They cost what they did, so that ceilings hold as they did.
    """

    def __init__(self, answers: Iterable[RecordedAnswer], models: Models) -> None:
        super().__init__(models)
        self._answers = deque(answers)

    async def open(self, name: str) -> Model:  # noqa: ARG002  see class
        if not self._answers:
            raise ModelFailure("internal", NO_MORE)
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        await request.stored()
        answer = self._answers.popleft()
        if answer.message is not None and answer.message.partial:
            yield ReasoningDelta(answer.message.reasoning)
            yield TextDelta(answer.message.text)
        yield answer.reply()


class RehearsedModels(_Directory):
    """A directory whose models give the recorded answers for nothing, one a step, and then answer by themselves.

    How many were given is read from the trace, so that after a restart the rest of them comes. A person who breaks in
    ends it: nothing recorded answers what was said just now.
    """

    def __init__(
        self, answers: Sequence[RecordedAnswer], models: Models, own_entries: Callable[[], Sequence[Entry]]
    ) -> None:
        """`own_entries` are those of the run behind its copied prefix."""
        super().__init__(models)
        self._answers = answers
        self._own_entries = own_entries
        self._over = False

    @property
    def rehearsing(self) -> bool:
        """Whether the run has not come further than to the calls of the last recorded answer."""
        return (given := self._given()) is not None and given <= len(self._answers)

    async def open(self, name: str) -> Model:
        return await self._models.open(name) if self._next() is None else self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        await request.stored()
        if (answer := self._next()) is None:
            raise ModelFailure("internal", NO_MORE)
        yield answer.reply()

    async def prepared(self, request: ModelRequest) -> ModelRequest:
        return await self._models.prepared(request) if self._next() is None else request

    def price(self, name: str) -> Price | None:
        return self._models.price(name) if self._next() is None else FREE

    def _next(self) -> RecordedAnswer | None:
        given = self._given()
        return None if given is None or given >= len(self._answers) else self._answers[given]

    def _given(self) -> int | None:
        """How many answers the run had after its prefix; `None` once it is on its own."""
        given = None if self._over else answers_given(self._own_entries(), len(self._answers))
        self._over = given is None
        return given


def answers_given(own: Sequence[Entry], answers: int) -> int | None:
    """How many of so many recorded answers a fork was given, `own` being its entries; `None` once it is on its own."""
    given = given_whole(own)
    return None if given > answers or any(map(_broke_in, own)) else given


def given_whole(own: Sequence[Entry]) -> int:
    """How many answers of the model are among the entries, from their first to their last word."""
    return sum(answer.whole for answer in recorded_answers(own))


def _broke_in(entry: Entry) -> bool:
    return isinstance(entry.event, MessageAdded) and entry.event.origin == "steer"
