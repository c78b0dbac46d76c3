"""REST for experiments: what they would cost, planned and started, looked at, and told to pause, go on or stop."""

import asyncio
from collections.abc import Coroutine
from contextlib import closing, suppress
from typing import Annotated, Literal

from fastapi import Query
from fastapi.responses import Response

from app.api.door.access import managers_only, owner_only
from app.api.door.caller import Caller
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, ListEnvelope
from app.api.following.replies import Deleted
from app.api.routes.experiment_bodies import (
    CellReply,
    ExperimentDetail,
    ExperimentReply,
    ExperimentRequest,
    WhichCells,
    WhichExperiments,
)
from app.api.routes.exports import as_file
from app.domain.errors import NotFound
from app.domain.evals.drafts import Estimate
from app.domain.evals.experiments import Experiment
from app.late import late
from app.workbench import Workbench

with late():
    from app.export import experiments as exported

router = resource("/experiments", "Experiments")


def _allowed(caller: Caller) -> None:
    managers_only(caller, "work with experiments, which run all that a dataset holds")


@router.post("/estimate")
async def estimate_experiment(body: ExperimentRequest, workbench: Here, caller: Asking) -> Envelope[Estimate]:
    """What it may cost and what so many cases can show, and which tools would be called for real; nothing runs."""
    _allowed(caller)
    return Envelope(data=await workbench.experimenting.estimate(body))


@router.get("")
async def list_experiments(
    workbench: Here, caller: Asking, which: Annotated[WhichExperiments, Query()]
) -> ListEnvelope[ExperimentReply]:
    """Experiments, the newest first."""
    _allowed(caller)
    dataset = workbench.datasets.by_slug(which.dataset).id if which.dataset else ""
    agent = workbench.agents.by_slug(which.agent).id if which.agent else ""
    found = workbench.experiments.recent(dataset_id=dataset, agent_id=agent, offset=which.offset, limit=which.limit)
    shown = []
    for one in found:
        with suppress(NotFound):  # it was deleted since
            shown.append(await ExperimentReply.seen(workbench, one))
    return ListEnvelope(data=shown, count=workbench.experiments.count(dataset_id=dataset, agent_id=agent))


@router.post("", status_code=202)
async def start_experiment(body: ExperimentRequest, workbench: Here, caller: Asking) -> Envelope[ExperimentReply]:
    """Plan an experiment and start it; answers while it goes on. GET /experiments/{id} tells how far it is."""
    _allowed(caller)
    if body.workers:
        owner_only(caller, "hand cells to other machines")
    planned = await workbench.experimenting.plan(body, caller.trigger)
    return Envelope(data=await ExperimentReply.seen(workbench, await workbench.experimenting.start(planned.id)))


@router.get("/{experiment_id}")
async def get_experiment(experiment_id: str, workbench: Here, caller: Asking) -> Envelope[ExperimentDetail]:
    """An experiment with its columns, and a verdict on each once all its cells are done."""
    _allowed(caller)
    return Envelope(data=await ExperimentDetail.seen(workbench, workbench.experimenting.get(experiment_id)))


@router.get("/{experiment_id}/cells")
async def list_cells(
    experiment_id: str, workbench: Here, caller: Asking, which: Annotated[WhichCells, Query()]
) -> ListEnvelope[CellReply]:
    """Its cells that were begun, in the order of the plan."""
    _allowed(caller)
    experimenting, paging = workbench.experimenting, {"offset": which.offset, "limit": which.limit}
    cells, count = await experimenting.cells(experiment_id, only=which.only, **paging)
    return ListEnvelope(data=[CellReply.of(cell) for cell in cells], count=count)


@router.get("/{experiment_id}/export", response_class=Response)
async def export_experiment(
    experiment_id: str, workbench: Here, caller: Asking, format: Literal["csv", "jsonl", "junit"] = "csv"
) -> Response:
    """Its cells as a file, without keys and passwords; `junit` for build servers."""
    _allowed(caller)
    experiment = workbench.experimenting.get(experiment_id)
    cells, _ = await workbench.experimenting.cells(experiment_id)
    cases = await workbench.collecting.cases_of(experiment.plan.cases)
    parts, secrets = (experiment, cells, cases, format), workbench.known.exported()
    file = await asyncio.to_thread(exported.exported_experiment, *parts, secrets=secrets)
    return as_file(file)


@router.post("/{experiment_id}/pause", status_code=202)
async def pause_experiment(experiment_id: str, workbench: Here, caller: Asking) -> Envelope[ExperimentReply]:
    """Begin no further cell; those that go on come to their end."""
    return await _told(workbench, caller, workbench.experimenting.pause(experiment_id))


@router.post("/{experiment_id}/resume", status_code=202)
async def resume_experiment(experiment_id: str, workbench: Here, caller: Asking) -> Envelope[ExperimentReply]:
    """Let it go on with what has no end yet."""
    return await _told(workbench, caller, workbench.experimenting.resume(experiment_id))


@router.post("/{experiment_id}/cancel", status_code=202)
async def cancel_experiment(experiment_id: str, workbench: Here, caller: Asking) -> Envelope[ExperimentReply]:
    """Stop what goes on, and begin nothing more."""
    return await _told(workbench, caller, workbench.experimenting.cancel(experiment_id))


@router.post("/{experiment_id}/retry-errors", status_code=202)
async def retry_errors(experiment_id: str, workbench: Here, caller: Asking) -> Envelope[ExperimentReply]:
    """Try again what ended in an error; nothing that was scored."""
    return await _told(workbench, caller, workbench.experimenting.retry_errors(experiment_id))


@router.post("/{experiment_id}/score-again", status_code=202)
async def score_again(experiment_id: str, workbench: Here, caller: Asking) -> Envelope[ExperimentReply]:
    """Ask the scorers once more of what was answered; nothing is run."""
    return await _told(workbench, caller, workbench.experimenting.score_again(experiment_id))


async def _told(
    workbench: Workbench, caller: Caller, telling: Coroutine[object, object, Experiment]
) -> Envelope[ExperimentReply]:
    with closing(telling):  # what is refused was never begun
        _allowed(caller)
        return Envelope(data=await ExperimentReply.seen(workbench, await telling))


@router.delete("/{experiment_id}")
async def delete_experiment(experiment_id: str, workbench: Here, caller: Asking) -> Envelope[Deleted]:
    """Delete it with all its cells. One that goes on has to be cancelled before."""
    _allowed(caller)
    await workbench.experimenting.delete(experiment_id)
    return Envelope(data=Deleted(id=experiment_id))
