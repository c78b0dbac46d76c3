"""REST for runs that are looked at: listed, shown step by step, deleted; and the entries of their traces."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, Field, JsonValue

from app.api.door.access import agent_of_runs, run_for, runs_of
from app.api.door.dependencies import Asking, Here, Paging, resource
from app.api.door.envelopes import Envelope, ListEnvelope
from app.api.following.replies import Deleted
from app.api.following.run_replies import RunDetail, RunSummary, run_detail
from app.api.following.running import beginning_of, pauses_now, runs_below
from app.domain.errors import Conflict, FailureClass
from app.domain.evals.scores import LONGEST_LABEL, Rating
from app.domain.events import Entry
from app.domain.provenance import Purpose
from app.domain.trace import RunFilter, RunPage, RunStatus
from app.domain.values import Text

LONG = 200
"""Entries of a trace that is looked through off the event loop."""
AT_ONCE = 200
"""Entries that are written to an answer at once: a few milliseconds of work."""

_ENTRY: dict[str, JsonValue] = {
    "run_id": "r2k4m6p8r0t2v4x6",
    "seq": 6,
    "at": "2026-03-01T09:30:01Z",
    "event": {"type": "tool_called", "call_id": "c1", "name": "calculator", "arguments": {"x": 5}, "tool": ""},
}
_ENTRIES: dict[str, Any] = {
    "description": "The entries, in their order.",
    "content": {"application/json": {"example": {"success": True, "data": [_ENTRY], "count": 14}}},
}

Seq = Annotated[int, Query(ge=0, le=1_000_000_000, description="The number of the first entry that is wanted.")]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _with_zone(moment: datetime) -> datetime:
    """Without a time zone it is UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_with_zone)]


class Which(Paging):
    """Which runs are wanted; what is left out lets all through."""

    status: RunStatus | None = None
    agent: Text = Field("", max_length=200, description="An agent's slug.")
    q: Text = Field("", max_length=1000, description="Words that are all said in the run; in quotes as they stand.")
    variant: int | None = Field(None, ge=1, le=1_000_000_000)
    model: Text = Field("", max_length=200, description="As `provider/model`; also of runs in which it was called.")
    provider: Text = Field("", max_length=200, description="Of a model that was called.")
    tool: Text = Field("", max_length=200, description="One that was called.")
    purpose: Purpose | None = Field(None, description="What they were for.")
    unpriced: bool = Field(False, description="Only runs with a call of which nobody said what it costs.")
    session: Text = Field("", max_length=64, description="A session's id.")
    failure: FailureClass | None = Field(None, description="The class of the error that ended it.")
    since: Moment | None = Field(None, description="Started then or later; UTC where no time zone is named.")
    until: Moment | None = Field(None, description="Started then or before.")
    min_cost: Amount | None = Field(None, description="US dollars.")
    max_cost: Amount | None = Field(None, description="US dollars.")
    min_ms: Amount | None = Field(None, description="How long it took.")
    max_ms: Amount | None = Field(None, description="How long it took.")
    rating: Rating | None = Field(None, description="The latest rating that a person gave.")
    tag: Text = Field("", max_length=LONGEST_LABEL, description="One of its tags.")
    noted: bool = Field(False, description="Only runs with a note.")
    voted: bool = Field(False, description="Only runs that were voted for in a comparison.")
    behind: bool = Field(False, description="Also runs of experiments, judges, simulated users and tries.")

    def filter(self) -> RunFilter:
        same = self.model_dump(exclude={"q", "session", "limit", "offset"})
        return RunFilter.model_validate({**same, "text": self.q, "session_id": self.session})


router = resource("/runs", "Runs")
of_agent = resource("/agents/{agent}/runs", "Runs")


@router.get("")
async def list_runs(workbench: Here, caller: Asking, which: Annotated[Which, Query()]) -> ListEnvelope[RunSummary]:
    """Runs, the newest first; with a key for certain agents those that were started with it."""
    wanted = which.filter().model_copy(update={"of_key": runs_of(workbench, caller)})
    return _listed(await workbench.runs.lists.page(wanted, offset=which.offset, limit=which.limit))


@of_agent.get("")
async def list_runs_of_agent(
    agent: str, workbench: Here, caller: Asking, paging: Annotated[Paging, Query()]
) -> ListEnvelope[RunSummary]:
    """The runs of an agent, the newest first; also of one that was deleted."""
    wanted = RunFilter(agent=agent_of_runs(workbench, caller, agent).slug, of_key=runs_of(workbench, caller))
    return _listed(await workbench.runs.lists.page(wanted, offset=paging.offset, limit=paging.limit))


@router.get("/{run_id}")
async def get_run(run_id: str, workbench: Here, caller: Asking) -> Envelope[RunDetail]:
    """A run with its answer, its steps as a person reads them, and its tool calls."""
    run_for(workbench, caller, run_id)
    alive = workbench.runs.is_taken(run_id)
    entries = tuple((await workbench.runs.trace(run_id)).entries)
    beginning_of(run_id, entries)
    below = runs_below(workbench, run_id, entries)
    told = partial(run_detail, entries, alive=alive, below=below)
    detail = told() if len(entries) < LONG else await asyncio.to_thread(told)
    return Envelope(data=detail.waiting_for(pauses_now(workbench, run_id)))


@router.delete("/{run_id}")
async def delete_run(run_id: str, workbench: Here, caller: Asking) -> Envelope[Deleted]:
    """Take it out of the lists. A run that goes on has to be stopped before."""
    run_for(workbench, caller, run_id)
    if workbench.runs.live(run_id) is not None:
        raise Conflict(f"The run goes on. POST /api/v1/runs/{run_id}/stop ends it.")
    await workbench.rows.delete([run_id])
    return Envelope(data=Deleted(id=run_id))


@router.get("/{run_id}/events", response_model=ListEnvelope[Entry], responses={200: _ENTRIES})
async def list_events(run_id: str, workbench: Here, caller: Asking, since: Seq = 0) -> StreamingResponse:
    """The entries of its trace from number `since` on; `count` is how many it has in all, and the next `since`."""
    run_for(workbench, caller, run_id)
    entries = (await workbench.runs.trace(run_id)).entries
    return StreamingResponse(_written(entries[since:], len(entries)), media_type="application/json")


async def _written(entries: Sequence[Entry], count: int) -> AsyncIterator[str]:
    """The envelope in pieces, so that a long trace takes nobody's time."""
    yield '{"success":true,"data":['
    for start in range(0, len(entries), AT_ONCE):
        piece = ",".join([entry.model_dump_json() for entry in entries[start : start + AT_ONCE]])
        yield f",{piece}" if start else piece
        await asyncio.sleep(0)
    yield f'],"count":{count}}}'


def _listed(page: RunPage) -> ListEnvelope[RunSummary]:
    return ListEnvelope(data=[RunSummary.of(row) for row in page.rows], count=page.total)
