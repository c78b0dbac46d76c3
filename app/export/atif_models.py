"""What a trajectory says, as ATIF names it: what is known of it here, and the names of all else."""

from collections import defaultdict, deque
from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.domain.values import Text
from app.export.limits import MOST_AMOUNT, MOST_COST

_OURS = {
    *("app", "status", "slug", "parameters", "origin", "finish_reason", "malformed", "ms", "first_token_ms"),
    *("total_ms", "cache_write_tokens", "reasoning_tokens", "duration_ms", "unpriced", "copied"),
}
"""What this app writes into the free fields, and reads again."""


class Told(BaseModel):
    model_config = ConfigDict(extra="allow")
    extra: dict[str, JsonValue] | None = None


class ToldSource(Told):
    media_type: str = ""
    path: str = ""


class ToldContent(Told):
    type: str
    text: Text | None = None
    source: ToldSource | None = None


Said = str | list[ToldContent] | None


class ToldCall(Told):
    tool_call_id: str
    function_name: str
    arguments: dict[str, JsonValue] = {}


class ToldResult(Told):
    source_call_id: str | None = None
    content: Said = None


class ToldObservation(Told):
    results: list[ToldResult] = []


class ToldMetrics(Told):
    prompt_tokens: int | None = Field(None, ge=0, le=MOST_AMOUNT)
    completion_tokens: int | None = Field(None, ge=0, le=MOST_AMOUNT)
    cached_tokens: int | None = Field(None, ge=0, le=MOST_AMOUNT)
    cost_usd: float | None = Field(None, ge=0, le=MOST_COST, allow_inf_nan=False)


class ToldStep(Told):
    step_id: int
    source: Literal["system", "user", "agent"]
    message: Said = ""
    timestamp: datetime | None = None
    model_name: str | None = None
    reasoning_content: Text | None = None
    tool_calls: list[ToldCall] | None = None
    observation: ToldObservation | None = None
    metrics: ToldMetrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = None

    def results(self) -> tuple[list[list[ToldResult]], list[ToldResult]]:
        """Those of each of its calls, and those of none. Of calls of one id each has one, the last all the rest."""
        calls = self.tool_calls or []
        given: list[list[ToldResult]] = [[] for _ in calls]
        loose: list[ToldResult] = []
        waiting: dict[str | None, deque[list[ToldResult]]] = defaultdict(deque)
        for call, own in zip(calls, given, strict=True):
            waiting[call.tool_call_id].append(own)
        for result in self.observation.results if self.observation else ():
            same_id = waiting.get(result.source_call_id) or deque([loose])
            same_id[0].append(result)
            if len(same_id) > 1:
                same_id.popleft()
        return given, loose


class ToldAgent(Told):
    name: str
    version: str = ""
    model_name: str | None = None
    tool_definitions: list[dict[str, JsonValue]] | None = None


class ToldTrajectory(Told):
    schema_version: str = Field(pattern=r"^ATIF-v1\.\d+$")
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: ToldAgent
    steps: list[ToldStep] = Field(min_length=1)
    notes: Text | None = None
    final_metrics: dict[str, JsonValue] | None = None


def unknown(told: Told, place: str) -> Iterator[str]:
    """The fields that nobody here knows, each once: `steps[].extra.reward`."""
    found = dict.fromkeys(_unknown_in(told, place))
    yield from found


def _unknown_in(told: Told, place: str) -> Iterator[str]:
    yield from (f"{place}{name}" for name in told.model_extra or {})
    yield from (f"{place}extra.{name}" for name in told.extra or {} if name not in _OURS)
    for name in type(told).model_fields:
        value = getattr(told, name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Told):
                yield from _unknown_in(one, f"{place}{name}{'[]' if isinstance(value, list) else ''}.")
