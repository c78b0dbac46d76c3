"""What one run adds to the daily figures, told from its row as it is stored, for there are many."""

from collections.abc import Iterator

from pydantic import JsonValue

from app.domain.histograms import bucket_of
from app.domain.trace.model_tallies import NANO, provider_of
from app.domain.trace.tallies import ms_of
from app.domain.usage.days import local_day
from app.domain.usage.figures import Cell, Figures, UsageKey
from app.store.journal.documents import number
from app.store.journal.frames import Document
from app.store.runs.stored_row import agent_field, is_of_app, listed, row_field, tally_of


def shares(document: Document) -> Iterator[Cell]:
    """Nothing for an imported run: it was made, and paid for, elsewhere."""
    if row_field(document, "imported"):
        return
    variant = agent_field(document, "variant")
    model = str(row_field(document, "model"))
    key = UsageKey(
        day=local_day(number(document.get("started"))),
        agent=agent_field(document, "id"),
        variant=int(variant) if variant.isdecimal() else 0,
        model=model,
        provider=provider_of(model),
        purpose=str(row_field(document, "purpose")),
        background=bool(row_field(document, "background")),
        tool="",
    )
    models = row_field(document, "models")
    tallies = list(map(tally_of, models)) if isinstance(models, list) else [_older(document)]
    own = [tally for tally in tallies if tally.get("model") == model]
    if own and (provider := own[0].get("provider")):
        key = key._replace(provider=str(provider))
    yield key, _of_run(document)
    for tally in tallies:
        yield key._replace(model=str(tally.get("model")), provider=str(tally.get("provider", ""))), _of_model(tally)
    for tally in listed(row_field(document, "tools")):
        yield key._replace(tool=str(tally.get("name"))), _of_tool(tally)


def _of_run(document: Document) -> Figures:
    status, failure, duration = (row_field(document, name) for name in ("status", "failure", "duration_ms"))
    is_run = not is_of_app(document)
    return Figures(
        runs=int(is_run),
        endings={str(status): 1} if is_run else {},
        failures={str(failure): 1} if is_run and failure else {},
        durations={bucket_of(number(duration)): 1} if is_run and duration is not None else {},
        unpriced_runs=int(bool(row_field(document, "unpriced"))),
        queued=_whole(row_field(document, "queued")),
        waits=_buckets(row_field(document, "waits")),
    )


def _older(document: Document) -> Document:
    """All calls as if they had been of the run's model: rows of an earlier version say no more."""
    model = str(row_field(document, "model"))
    return {
        "model": model,
        "provider": provider_of(model),
        "calls": row_field(document, "model_calls"),
        "input_tokens": row_field(document, "input_tokens"),
        "output_tokens": row_field(document, "output_tokens"),
        "cost": round(number(row_field(document, "cost")) * NANO),
        "unpriced": int(bool(row_field(document, "unpriced"))),
    }


def _of_model(tally: Document) -> Figures:
    return Figures(
        calls=_whole(tally.get("calls")),
        retries=_whole(tally.get("retries")),
        call_failures=_counts(tally.get("failures")),
        times=_buckets(tally.get("times")),
        first_token_times=_buckets(tally.get("first_token_times")),
        input_tokens=_whole(tally.get("input_tokens")),
        cached_tokens=_whole(tally.get("cached_tokens")),
        cache_write_tokens=_whole(tally.get("cache_write_tokens")),
        output_tokens=_whole(tally.get("output_tokens")),
        reasoning_tokens=_whole(tally.get("reasoning_tokens")),
        cost=_whole(tally.get("cost")),
        unpriced=_whole(tally.get("unpriced")),
    )


def _of_tool(tally: Document) -> Figures:
    times: dict[int, int] = {}
    for step, count in _buckets(tally.get("times")).items():
        bucket = bucket_of(ms_of(step))
        times[bucket] = times.get(bucket, 0) + count
    return Figures(tool_calls=_whole(tally.get("calls")), tool_failures=_whole(tally.get("failures")), tool_times=times)


def _whole(value: JsonValue | None) -> int:
    return int(number(value))


def _counts(value: JsonValue | None) -> dict[str, int]:
    return {name: _whole(count) for name, count in value.items()} if isinstance(value, dict) else {}


def _buckets(value: JsonValue | None) -> dict[int, int]:
    return {int(bucket): count for bucket, count in _counts(value).items()}
