"""REST for what all runs together did, took and cost: by whatever tells them apart, day by day, and for Prometheus."""

import asyncio
from collections.abc import Callable
from datetime import date
from typing import Annotated, Literal, Self, get_args

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from app.api.door.access import managers_only, owner_only
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, Reply
from app.api.routes.usage_text import CONTENT_TYPE, csv_text, prometheus_text
from app.domain.errors import NotFound
from app.domain.models import Price
from app.domain.usage.figures import Figures
from app.domain.usage.pricing import PricedRow
from app.domain.usage.query import Grouping, UsageQuery
from app.workbench import Workbench

_PERCENTILES: dict[str, JsonValue] = {"p50": 1122.0, "p95": 5012.0, "p99": 7943.0}
_FIGURES: dict[str, JsonValue] = {
    "runs": 42,
    "failed": 2,
    "failures": {"network": 2},
    "unpriced_runs": 0,
    "queued": 4,
    "model_calls": 97,
    "retries": 3,
    "model_failures": {"network": 5},
    "input_tokens": 120_400,
    "cached_tokens": 64_000,
    "cache_write_tokens": 2_000,
    "output_tokens": 18_200,
    "reasoning_tokens": 5_100,
    "cost_usd": 0.4372,
    "unpriced_calls": 0,
    "tool_calls": 31,
    "tool_failures": 1,
    "run_ms": _PERCENTILES,
    "queue_ms": _PERCENTILES,
    "answer_ms": _PERCENTILES,
    "first_token_ms": _PERCENTILES,
    "tool_ms": _PERCENTILES,
}
_ROW: dict[str, JsonValue] = {"of": {"model": "openai/gpt-4o"}, **_FIGURES}
_SPAN: dict[str, JsonValue] = {"since": "2026-11-17", "until": "2026-11-23"}


class Percentiles(Reply):
    """Milliseconds that 50, 95 and 99 of a hundred took at most, give or take 6 %; null where none was timed."""

    p50: float | None
    p95: float | None
    p99: float | None

    @classmethod
    def of(cls, quantile: Callable[[float], float | None]) -> Self:
        p50, p95, p99 = (None if (ms := quantile(share)) is None else round(ms, 1) for share in (0.5, 0.95, 0.99))
        return cls(p50=p50, p95=p95, p99=p99)


class FiguresReply(Reply):
    """Sums over runs, deleted ones included: they happened. What was imported counts where it was made."""

    runs: int
    failed: int
    failures: dict[str, int]
    """Runs that ended by an error, by its class."""
    unpriced_runs: int
    """Runs of which part of the cost is not known."""
    queued: int
    """Messages that had waited for the end of the run before."""
    model_calls: int
    retries: int
    """Of these: further attempts."""
    model_failures: dict[str, int]
    """Model calls that failed, by class, also those that were tried again."""
    input_tokens: int
    cached_tokens: int
    """Of the input: read from the provider's cache."""
    cache_write_tokens: int
    """Of the input: written to it."""
    output_tokens: int
    reasoning_tokens: int
    """Of the output."""
    cost_usd: float
    """To a billionth of a dollar."""
    unpriced_calls: int
    tool_calls: int
    tool_failures: int
    run_ms: Percentiles
    queue_ms: Percentiles
    """Of those messages: how long they had waited."""
    answer_ms: Percentiles
    """From asking the model to the end of its answer."""
    first_token_ms: Percentiles
    tool_ms: Percentiles
    saved_usd: float | None = None
    """What reading from caches saved at today's prices; null where a model that used one has none."""
    at_usd: float | None = None
    """What the same tokens cost at the price of `at`."""

    @classmethod
    def told(cls, figures: Figures, **more: object) -> Self:
        return cls.model_validate(
            {name: getattr(figures, name) for name in _SAME}
            | {
                "failures": dict(figures.failures),
                "model_calls": figures.calls,
                "model_failures": dict(figures.call_failures),
                "cost_usd": figures.dollars,
                "unpriced_calls": figures.unpriced,
                "run_ms": Percentiles.of(figures.duration_ms),
                "queue_ms": Percentiles.of(figures.wait_ms),
                "answer_ms": Percentiles.of(figures.answer_ms),
                "first_token_ms": Percentiles.of(figures.first_token_ms),
                "tool_ms": Percentiles.of(figures.tool_ms),
            }
            | more
        )


_SAME = (
    *("runs", "failed", "unpriced_runs", "queued", "retries", "tool_calls", "tool_failures"),
    *("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens"),
)


class UsageRowReply(FiguresReply):
    """One of what the figures are told apart by."""

    of: dict[Grouping, str]
    """What it is of, by each of `by`; an agent by its slug, a deleted one too."""


class UsageReply(Reply):
    """What was used from one day to another, both included."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**_SPAN, "totals": _FIGURES, "rows": [_ROW]}]})

    since: date
    until: date
    totals: FiguresReply
    rows: list[UsageRowReply]
    """The dearest first; by day, where `by` begins with `day`."""


class DayReply(FiguresReply):
    day: date


class MetricsReply(Reply):
    """How runs, models and tools did from one day to another, and what goes on now."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_SPAN,
                    "live_runs": 1,
                    "waiting_messages": 0,
                    "totals": _FIGURES,
                    "days": [{"day": "2026-11-23", **_FIGURES}],
                    "models": [_ROW],
                    "tools": [{**_ROW, "of": {"tool": "calculator"}}],
                }
            ]
        }
    )

    since: date
    until: date
    live_runs: int
    waiting_messages: int
    """In the queues of all sessions."""
    totals: FiguresReply
    days: list[DayReply]
    """From the first day with runs on; one without any has figures of nought."""
    models: list[UsageRowReply]
    tools: list[UsageRowReply]


class Span(BaseModel):
    """Which days are wanted: of the computer that the app runs on."""

    days: int = Field(30, ge=1, le=3660, description="The last so many, today included.")

    @property
    def query(self) -> UsageQuery:
        return UsageQuery(days=self.days)


class Asked(Span):
    """Which figures are wanted, and told apart by what."""

    since: date | None = Field(None, description="The first day, in place of `days`: `2026-11-01`.")
    until: date | None = Field(None, description="The last day; today, where none is said.")
    at: str = Field("", max_length=200, description="A model at whose price the same tokens are told as well.")
    format: Literal["json", "csv"] = Field("json", description="`csv`: the rows as a table.")
    by: str = Field("", max_length=200, description=f"Any of {', '.join(get_args(Grouping))}, with commas.")
    agent: str = Field("", max_length=200, description="Only of the agent with that slug or id.")
    variant: str = Field("", max_length=200)
    model: str = Field("", max_length=200, description="As runs name it.")
    provider: str = Field("", max_length=200)
    purpose: str = Field("", max_length=200, description="`chat`, `api`, `experiment` and so on.")
    background: str = Field("", pattern="^(true|false)?$")
    tool: str = Field("", max_length=200)

    @field_validator("by")
    @classmethod
    def _known(cls, by: str) -> str:
        if unknown := [name for name in by.split(",") if name and name not in get_args(Grouping)]:
            raise ValueError(f"nothing is told apart by {unknown[0]!r}, but by {', '.join(get_args(Grouping))}")
        return by

    def asked(self, workbench: Workbench) -> UsageQuery:
        """Raises `NotFound` for an agent that there never was."""
        by = tuple(name for name in get_args(Grouping) if name in self.by.split(","))
        names: tuple[Grouping, ...] = ("variant", "model", "provider", "purpose", "background", "tool")
        where: dict[Grouping, tuple[str, ...]] = {name: (value,) for name in names if (value := getattr(self, name))}
        if self.agent:
            slugs = _slugs(workbench)
            ids = tuple(one for one, slug in slugs.items() if self.agent in (one, slug))
            if not ids:
                raise NotFound(f"There is no agent {self.agent!r}. GET /api/v1/agents lists all there are.")
            where["agent"] = ids
        return self.query.model_copy(update={"by": by, "where": where, "since": self.since, "until": self.until})

    async def other(self, workbench: Workbench) -> Price | None:
        """The price of `at`. Raises `NotFound` where nobody said it."""
        if not self.at:
            return None
        await workbench.catalog.ready()
        card = workbench.catalog.card(self.at)
        if card is None or card.price is None:
            raise NotFound(f"Nobody said what {self.at!r} costs. A model is named provider/model.")
        return card.price


router = resource("", "Usage")
scraped = APIRouter()


@router.get("/usage", response_model=Envelope[UsageReply], responses={200: {"content": {"text/csv": {}}}})
async def usage(
    workbench: Here, caller: Asking, asked: Annotated[Asked, Query()]
) -> Envelope[UsageReply] | PlainTextResponse:
    """Tokens, money, runs and failures of the last days, by agent, variant, model, provider, purpose, tool or day."""
    managers_only(caller, "see what all runs together cost")
    query, other = asked.asked(workbench), await asked.other(workbench)
    await workbench.usage.ready()
    since, until = workbench.usage.span(query)
    rows = await _rows(workbench, query, other)
    if asked.format == "csv":
        named = {"Content-Disposition": f'attachment; filename="usage-{since}-{until}.csv"'}
        table = csv_text([row.model_dump(mode="json") for row in rows], query.by)
        return PlainTextResponse(table, media_type="text/csv", headers=named)
    (whole,) = await workbench.usage.priced(query.model_copy(update={"by": ()}), other) or [PricedRow(())]
    totals = FiguresReply.told(whole.figures, **_otherwise(whole))
    return Envelope(data=UsageReply(since=since, until=until, totals=totals, rows=rows))


class AgainReply(Reply):
    """That all figures were made again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"changed": 0}]})

    changed: int
    """How many runs had not been counted as their traces have it."""


@router.post("/usage/again")
async def make_again(workbench: Here, caller: Asking) -> Envelope[AgainReply]:
    """Make all figures again from the traces of all runs, which takes minutes where there are many."""
    owner_only(caller, "make figures again")
    return Envelope(data=AgainReply(changed=await workbench.told_again.all()))


@router.get("/metrics")
async def metrics(workbench: Here, caller: Asking, span: Annotated[Span, Query()]) -> Envelope[MetricsReply]:
    """How many runs there were day by day, how long they, their models and tools took, and what failed."""
    managers_only(caller, "see how all runs together do")
    await workbench.usage.ready()
    (series,) = await workbench.usage.daily(span.query)
    since, until = workbench.usage.span(span.query)
    known = [(day, figures) for day, figures in series.days if figures is not None]
    return Envelope(
        data=MetricsReply(
            since=since,
            until=until,
            live_runs=len(workbench.runs.live_runs()),
            waiting_messages=workbench.sessions.waiting(),
            totals=FiguresReply.told(await workbench.usage.totals(span.query)),
            days=[DayReply.told(figures, day=day) for day, figures in known],
            models=await _rows(workbench, span.query.model_copy(update={"by": ("model",)})),
            tools=await _rows(workbench, span.query.model_copy(update={"by": ("tool",)})),
        )
    )


@scraped.get("/metrics", include_in_schema=False)
async def prometheus(workbench: Here, caller: Asking) -> Response:
    """All figures since the first run, as Prometheus scrapes them."""
    managers_only(caller, "see how all runs together do")
    await workbench.usage.ready()
    live, waiting = len(workbench.runs.live_runs()), workbench.sessions.waiting()
    cells, slugs = await workbench.usage.ever(), _slugs(workbench)
    text = await asyncio.to_thread(prometheus_text, cells, slugs, live=live, waiting=waiting)
    return Response(text, media_type=CONTENT_TYPE)


async def _rows(workbench: Workbench, query: UsageQuery, other: Price | None = None) -> list[UsageRowReply]:
    slugs = _slugs(workbench)
    found = []
    for row in await workbench.usage.priced(query, other):
        of = dict(zip(query.by, row.group, strict=True))
        if "agent" in of:
            of["agent"] = slugs.get(of["agent"], of["agent"])
        found.append(UsageRowReply.told(row.figures, of=of, **_otherwise(row)))
    return found


def _otherwise(row: PricedRow) -> dict[str, float | None]:
    return {"saved_usd": None if row.not_priced else row.saved, "at_usd": row.otherwise}


def _slugs(workbench: Workbench) -> dict[str, str]:
    """By the id of each agent there is or was."""
    return {agent.id: agent.slug for agent in (*workbench.agents.deleted(), *workbench.agents.all())}
