"""What each model did in a run: calls, failures, tokens, money and times, in a form that adds up over runs."""

from collections import Counter
from collections.abc import Iterable

from pydantic import JsonValue, model_serializer, model_validator
from pydantic_core import from_json, to_json

from app.domain.errors import FailureClass
from app.domain.events import Entry, MessageAdded, ModelCalled, ModelFailed, ModelReturned
from app.domain.histograms import bucket_of
from app.domain.values import Value

NANO = 10**9
"""Of a US dollar: money is added up in whole numbers of these, so that what is taken out again leaves nothing."""


class ModelTally(Value):
    """One model in one run, by the name that the run has for it."""

    model: str
    provider: str = ""
    """As the answer says; before there is one the first half of the name, empty for an alias."""
    calls: int = 0
    """Further attempts at the same one included."""
    retries: int = 0
    """Of these: further attempts."""
    failures: dict[FailureClass, int] = {}
    """Calls that came to no end, also those that were tried again."""
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    """As in `Usage`: cached ones are part of the input, reasoning is part of the output."""
    cost: int = 0
    """Nano-dollars, a billionth of a US dollar each."""
    unpriced: int = 0
    """Calls of which nobody said what they cost."""
    times: dict[int, int] = {}
    """By bucket of time: how many answers took so long."""
    first_token_times: dict[int, int] = {}
    cache_write_tokens: int = 0
    """Of the input: written to the provider's cache, which has a price of its own."""

    @model_serializer(mode="plain")
    def stored(self) -> str:
        """A line of JSON: rows are many, and all of them are kept in memory as they are stored."""
        return to_json([getattr(self, name) for name in FIELDS]).decode()

    @model_validator(mode="before")
    @classmethod
    def _read(cls, stored: object) -> object:
        return read_tally(stored) if isinstance(stored, str) else stored


FIELDS = tuple(ModelTally.model_fields)
"""In the order in which they are stored: new ones go behind the others."""


def read_tally(stored: str) -> dict[str, JsonValue]:
    """The fields of a stored tally, not looked at any further; raises `ValueError` for what is none."""
    return dict(zip(FIELDS, from_json(stored), strict=False))


class _Tally:
    """One that is being counted."""

    def __init__(self) -> None:
        self.provider = ""
        self.sums: Counter[str] = Counter()
        self.failures: Counter[FailureClass] = Counter()
        self.times: Counter[int] = Counter()
        self.first_token_times: Counter[int] = Counter()

    def returned(self, event: ModelReturned) -> None:
        usage = event.usage
        self.sums["input_tokens"] += usage.input_tokens
        self.sums["cached_tokens"] += usage.cached_tokens
        self.sums["cache_write_tokens"] += usage.cache_write_tokens
        self.sums["output_tokens"] += usage.output_tokens
        self.sums["reasoning_tokens"] += usage.reasoning_tokens
        self.sums["cost"] += round((event.cost or 0.0) * NANO)
        self.sums["unpriced"] += event.cost is None
        self.times[bucket_of(event.total_ms)] += 1
        if event.first_token_ms is not None:
            self.first_token_times[bucket_of(event.first_token_ms)] += 1

    def value(self, model: str) -> ModelTally:
        return ModelTally(
            model=model,
            provider=self.provider or provider_of(model),
            failures=dict(self.failures),
            times=dict(self.times),
            first_token_times=dict(self.first_token_times),
            **self.sums,
        )


def provider_of(model: str) -> str:
    """The first half of `provider/model`, empty for an alias."""
    provider, slash, _ = model.partition("/")
    return provider if slash else ""


def model_tallies(entries: Iterable[Entry]) -> tuple[ModelTally, ...]:
    """One for each model that was called, by name; of a fork, give what came after its copied prefix."""
    found: dict[str, _Tally] = {}
    asked: dict[str, str] = {}
    answered = ""
    for entry in entries:
        match entry.event:
            case ModelCalled() as called:
                asked[called.call_id] = called.model
                tally = found.setdefault(called.model, _Tally())
                tally.sums["calls"] += 1
                tally.sums["retries"] += called.attempt > 1
                answered = ""
            case MessageAdded(origin="model", message=message):
                answered = provider_of(message.model)
            case ModelReturned() as returned if returned.call_id in asked:
                tally = found[asked[returned.call_id]]
                tally.returned(returned)
                tally.provider = answered or tally.provider
            case ModelFailed() as failed if failed.call_id in asked:
                found[asked[failed.call_id]].failures[failed.failure] += 1
            case _:
                pass
    return tuple(found[model].value(model) for model in sorted(found))
