"""REST for datasets and their cases: kept, changed, made of runs, taken in from files and taken along.

All of it is for who works with the whole app: a dataset belongs to no agent, and its cases may be of anybody's runs.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import Response
from pydantic import ValidationError

from app.api.door.access import managers_only, run_for
from app.api.door.caller import Caller
from app.api.door.dependencies import Asking, Here, Paging, resource
from app.api.door.envelopes import Envelope, ListEnvelope, faults_in_words
from app.api.following.attaching import AttachmentRef, said
from app.api.following.replies import Deleted
from app.api.routes.dataset_bodies import (
    CaseBody,
    CaseFile,
    CaseOfRun,
    CaseReply,
    DatasetBody,
    DatasetReply,
    NewDataset,
    TakenInReply,
)
from app.api.routes.exports import as_file
from app.domain.errors import NotFound, WorkbenchError
from app.domain.evals.cases import Case, CaseContent, Dataset, DatasetChanges, new_cases
from app.domain.messages import Attachment
from app.export.limits import LARGEST_DATASET
from app.workbench import Workbench

router = resource("/datasets", "Datasets")
cases = resource("/datasets/{dataset}/cases", "Datasets")
of_runs = resource("/runs/{run_id}/case", "Datasets")

_BODY = {
    "required": True,
    "description": f"The file, {LARGEST_DATASET // 1024**2} MiB at most.",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}
_TYPES = ("application/x-ndjson", "text/csv", "application/yaml", "application/json")
_FILE: dict[str, object] = {
    "description": "The file, as the header Content-Disposition names it.",
    "content": {media_type: {} for media_type in _TYPES},
}


def dataset_for(workbench: Workbench, caller: Caller, slug: str) -> Dataset:
    """The dataset of that slug. Raises `Forbidden` for who has certain agents only, and `NotFound`."""
    managers_only(caller, "work with datasets")
    return workbench.datasets.by_slug(slug)


@router.get("")
async def list_datasets(workbench: Here, caller: Asking) -> ListEnvelope[DatasetReply]:
    """All datasets, by name."""
    managers_only(caller, "work with datasets")
    found = [_reply(workbench, dataset) for dataset in workbench.datasets.all()]
    return ListEnvelope(data=found, count=len(found))


@router.post("", status_code=201)
async def create_dataset(body: NewDataset, workbench: Here, caller: Asking) -> Envelope[DatasetReply]:
    """Make a dataset without cases."""
    managers_only(caller, "work with datasets")
    made = await workbench.collecting.new_dataset(
        body.name, body.description or "", scorers=body.scorers or (), primary=body.primary or ""
    )
    return Envelope(data=_reply(workbench, made))


@router.get("/{dataset}")
async def get_dataset(dataset: str, workbench: Here, caller: Asking) -> Envelope[DatasetReply]:
    """The dataset of that slug."""
    return Envelope(data=_reply(workbench, dataset_for(workbench, caller, dataset)))


@router.put("/{dataset}")
async def change_dataset(dataset: str, body: DatasetBody, workbench: Here, caller: Asking) -> Envelope[DatasetReply]:
    """Change what the body names. The slug stays."""
    found = dataset_for(workbench, caller, dataset)
    named = {name: getattr(body, name) for name in body.model_fields_set if getattr(body, name) is not None}
    return Envelope(
        data=_reply(workbench, await workbench.collecting.change_dataset(found.id, DatasetChanges(**named)))
    )


@router.delete("/{dataset}")
async def delete_dataset(dataset: str, workbench: Here, caller: Asking) -> Envelope[Deleted]:
    """Take it out of the lists with its cases. The app's pages bring it back."""
    found = dataset_for(workbench, caller, dataset)
    await workbench.collecting.delete(found.id)
    return Envelope(data=Deleted(id=found.id))


@router.post("/{dataset}/import", status_code=201, openapi_extra={"requestBody": _BODY})
async def import_cases(
    dataset: str, request: Request, workbench: Here, caller: Asking, file: Annotated[CaseFile, Query()]
) -> Envelope[TakenInReply]:
    """Add the cases of a file. All or none; nothing in it is run, and `warnings` say what was not taken.

    `jsonl` is our own format; `promptfoo` its YAML or JSON, `adk` an evalset, `openai` JSON Lines of OpenAI evals,
    `inspect` a log of Inspect, packed or as JSON.
    """
    found = dataset_for(workbench, caller, dataset)
    taken = await workbench.dataset_files.take_in(found.id, await request.body(), file.format, file.filename)
    return Envelope(data=TakenInReply(cases=taken.cases, scorers=taken.scorers, warnings=taken.notes))


@router.get("/{dataset}/export", response_class=Response, responses={200: _FILE})
async def export_dataset(
    dataset: str,
    workbench: Here,
    caller: Asking,
    format: Literal["jsonl", "csv", "promptfoo", "adk", "openai"] = "jsonl",
    attachments: bool = Query(True, description="With the files that cases name, which only `jsonl` takes."),
) -> Response:
    """The dataset as a file, without keys and passwords. Only `jsonl` holds all of it, recorded results included."""
    found = dataset_for(workbench, caller, dataset)
    return as_file(await workbench.dataset_files.export(found.id, format, files=attachments))


@cases.get("")
async def list_cases(
    dataset: str, workbench: Here, caller: Asking, paging: Annotated[Paging, Query()]
) -> ListEnvelope[CaseReply]:
    """The cases of a dataset, the oldest first."""
    found = dataset_for(workbench, caller, dataset)
    own = await asyncio.to_thread(workbench.cases.of, found.id)
    shown = own[paging.offset : paging.offset + paging.limit]
    return ListEnvelope(data=[CaseReply.of(case) for case in shown], count=len(own))


@cases.post("", status_code=201)
async def add_case(dataset: str, body: CaseBody, workbench: Here, caller: Asking) -> Envelope[CaseReply]:
    """Add a case."""
    found = dataset_for(workbench, caller, dataset)
    (case,) = new_cases(found.id, [await _content(workbench, caller, body)])
    return Envelope(data=CaseReply.of(await workbench.collecting.add(found.id, case)))


@cases.get("/{case_id}")
async def get_case(dataset: str, case_id: str, workbench: Here, caller: Asking) -> Envelope[CaseReply]:
    """One case."""
    return Envelope(data=CaseReply.of(_case(workbench, caller, dataset, case_id)))


@cases.put("/{case_id}")
async def change_case(
    dataset: str, case_id: str, body: CaseBody, workbench: Here, caller: Asking
) -> Envelope[CaseReply]:
    """Change what the body names. Experiments that ran keep the case as it was."""
    before = _case(workbench, caller, dataset, case_id)
    content = await _content(workbench, caller, body, before)
    changed = before.model_copy(update={name: getattr(content, name) for name in CaseContent.model_fields})
    return Envelope(data=CaseReply.of(await workbench.collecting.change_case(changed, seen=before)))


@cases.delete("/{case_id}")
async def delete_case(dataset: str, case_id: str, workbench: Here, caller: Asking) -> Envelope[Deleted]:
    """Take it out of the dataset. The app's pages bring it back."""
    await workbench.collecting.delete_case(_case(workbench, caller, dataset, case_id).id)
    return Envelope(data=Deleted(id=case_id))


@of_runs.post("", status_code=201)
async def make_case(run_id: str, body: CaseOfRun, workbench: Here, caller: Asking) -> Envelope[CaseReply]:
    """Make a case of a run: its message, files, answer, calls, and what its tools gave. The run itself may go."""
    row, dataset = run_for(workbench, caller, run_id), dataset_for(workbench, caller, body.dataset)
    if not body.conversation:
        made = await workbench.collecting.from_run(dataset.id, run_id, step=body.step, note=body.note)
        return Envelope(data=CaseReply.of(made))
    if body.step is not None:
        raise WorkbenchError("A case is either of a conversation or up to a step. Send one of the two.")
    turns = workbench.runs.branches(workbench.sessions.get(row.session_id)).up_to(run_id)
    return Envelope(data=CaseReply.of(await workbench.collecting.from_turns(dataset.id, turns, note=body.note)))


def _reply(workbench: Workbench, dataset: Dataset) -> DatasetReply:
    return DatasetReply.of(dataset, workbench.cases.count(dataset.id))


def _case(workbench: Workbench, caller: Caller, dataset: str, case_id: str) -> Case:
    found = dataset_for(workbench, caller, dataset)
    try:
        return workbench.collecting.case(found.id, case_id)
    except NotFound:
        listed = f"GET /api/v1/datasets/{found.slug}/cases lists all."
        raise NotFound(f"There is no case {case_id[:80]!r} in this dataset. {listed}") from None


async def _content(
    workbench: Workbench, caller: Caller, body: CaseBody, before: CaseContent | None = None
) -> CaseContent:
    """What the case says then. Raises `WorkbenchError` where that is nothing, or not possible together."""
    named = {name: getattr(body, name) for name in body.model_fields_set - {"attachments"}}
    if "attachments" in body.model_fields_set:
        kept = before.attachments if before else ()
        named["attachments"] = await _attachments(workbench, caller, body.attachments, kept)
    said_before = {name: getattr(before, name) for name in CaseContent.model_fields} if before else {"input": ""}
    try:
        content = CaseContent(**{**said_before, **named})
    except ValidationError as error:
        faults = [dict(fault) for fault in error.errors(include_url=False, include_context=False, include_input=False)]
        raise WorkbenchError(f"This is no case. {faults_in_words(faults)}") from None
    if not content.input.strip() and not content.attachments:
        raise WorkbenchError("A case needs a message, as `input`, or an attachment.")
    return content


async def _attachments(
    workbench: Workbench, caller: Caller, refs: Sequence[AttachmentRef], kept: Sequence[Attachment]
) -> tuple[Attachment, ...]:
    """The files in that order: those that the case has already, and uploads."""
    there = {part.artifact: part for part in kept}
    found: list[Attachment] = []
    for ref in refs:
        if ref.sha256 in there:
            found.append(there[ref.sha256].model_copy(update={"disposition": ref.disposition}))
        else:
            found += (await said(workbench, caller, "", [ref])).attachments
    return tuple(found)
