"""Datasets taken in from files and taken along as files, in the formats that this app knows."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from pydantic import JsonValue

from app.domain.errors import NotFound, StorageError, TooLarge, WorkbenchError
from app.domain.evals.cases import Case, CaseContent, Dataset, DatasetChanges, new_cases
from app.domain.evals.scorers import Scorer
from app.domain.events import Entry
from app.domain.garbage import no_collection
from app.export.datasets import adk, csv_table, inspect_log, json_lines, openai_evals, promptfoo
from app.export.datasets.received import Received, ReceivedCase
from app.export.exports import Exported
from app.export.limits import LARGEST_DATASET
from app.export.ports import ArtifactStore, Secrets
from app.export.redacting import Redactor
from app.export.review import artifacts_of, artifacts_of_parts
from app.export.words import file_stem, one_line

InFormat = Literal["jsonl", "csv", "promptfoo", "adk", "openai", "inspect"]
OutFormat = Literal["jsonl", "csv", "promptfoo", "adk", "openai"]
IN_FORMATS: tuple[InFormat, ...] = get_args(InFormat)
OUT_FORMATS: tuple[OutFormat, ...] = get_args(OutFormat)
_READERS = {
    "jsonl": json_lines.read_cases,
    "csv": csv_table.read_cases,
    "promptfoo": promptfoo.read_cases,
    "adk": adk.read_cases,
    "openai": openai_evals.read_cases,
    "inspect": inspect_log.read_cases,
}
_ENDINGS: dict[OutFormat, tuple[str, str]] = {
    "jsonl": ("jsonl", "application/x-ndjson"),
    "csv": ("csv", "text/csv; charset=utf-8"),
    "promptfoo": ("promptfoo.yaml", "application/yaml"),
    "adk": ("evalset.json", "application/json"),
    "openai": ("openai.jsonl", "application/x-ndjson"),
}
_MOST = f"{LARGEST_DATASET // 1024**2} MiB"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class CaseKeeper(Protocol):
    """Where cases are kept; raises `WorkbenchError` in words."""

    async def add_all(self, dataset_id: str, cases: Sequence[Case]) -> list[Case]: ...

    async def change_dataset(self, dataset_id: str, changes: DatasetChanges) -> Dataset: ...

    async def keep_record(self, entries: Iterable[Entry]) -> str: ...

    async def record_of(self, case: Case) -> tuple[Entry, ...]: ...

    async def snapshot(self, dataset_id: str) -> tuple[str, tuple[Case, ...]]: ...

    def dataset(self, dataset_id: str) -> Dataset: ...


@dataclass(frozen=True, slots=True)
class TakenIn:
    cases: int
    scorers: tuple[str, ...]
    """The names of those that came with them."""
    notes: tuple[str, ...]
    """A sentence for each kind of thing that was not taken, and for what one has to know."""


@dataclass
class DatasetFiles:
    keeper: CaseKeeper
    artifacts: ArtifactStore
    secrets: Secrets
    judge: Callable[[], str] = str
    """The model that is asked where a file has questions to a model; empty for none."""

    async def take_in(self, dataset_id: str, content: bytes, format: InFormat, name: str = "") -> TakenIn:
        """Add the cases of the file of that name to the dataset, all or none; nothing that it contains is run.

        Raises `WorkbenchError` that names the line or the place that cannot be read, `TooLarge`, `StorageError`.
        """
        if len(content) > LARGEST_DATASET:
            raise TooLarge(f"This file has {len(content) / 1024**2:.0f} MiB; {_MOST} can be taken in.")
        called = one_line(name, 80) or "The file"
        received = await asyncio.to_thread(self._read, content, called, format)
        if not received.cases:
            raise WorkbenchError(" ".join((f"{called}: there is no case in it.", *received.notes[:5])))
        notes = received.notes + await self._keep_artifacts(received)
        said = [case.content for case in received.cases]
        with no_collection(len(said)):
            cases = await asyncio.to_thread(new_cases, dataset_id, said)
        records = [await self.keeper.keep_record(case.record) if case.record else "" for case in received.cases]
        told = [case.model_copy(update={"record": record}) for case, record in zip(cases, records, strict=True)]
        await self.keeper.add_all(dataset_id, told)
        return TakenIn(len(told), await self._keep_scorers(dataset_id, received), notes)

    async def export(self, dataset_id: str, format: OutFormat, *, files: bool = True) -> Exported:
        """The dataset as a file, without secrets. All of it is in `jsonl` only, there with its files if wanted.

        Raises `NotFound`, `StorageError`, `TooLarge`.
        """
        dataset = self.keeper.dataset(dataset_id)
        _, cases = await self.keeper.snapshot(dataset_id)
        redactor = Redactor("", self.secrets())
        if format == "jsonl":
            records = {case.id: await self.keeper.record_of(case) for case in cases}
            found = await self._contents(cases, records) if files else {}
            content = await asyncio.to_thread(
                json_lines.write_cases, dataset, cases, records=records, artifacts=found, redactor=redactor
            )
        else:
            content = await asyncio.to_thread(_written, format, cases, dataset.slug, redactor)
        if len(content) > LARGEST_DATASET:
            raise TooLarge(f"This dataset is too much for one file of {_MOST}. Leave its files out.")
        ending, media_type = _ENDINGS[format]
        return Exported(f"{file_stem(dataset.slug, 'dataset')}.{ending}", media_type, content)

    def _read(self, content: bytes, called: str, format: InFormat) -> Received:
        with no_collection(content.count(b"\n")):
            return _READERS[format](content, called, judge=self.judge())

    async def _keep_artifacts(self, received: Received) -> tuple[str, ...]:
        """Store what came along, and have the cases name it as it is stored; says what is missing."""
        renamed = {digest: await self.artifacts.put(content) for digest, content in received.artifacts.items()}
        changed = {digest: other for digest, other in renamed.items() if digest != other}
        if changed:
            received.cases = [await asyncio.to_thread(_renamed, case, changed) for case in received.cases]
        named = await asyncio.to_thread(_named_in, received.cases)
        missing = 0
        for digest in named - set(renamed.values()):
            missing += not await self._is_there(digest)
        return (f"Missing: {missing} files that the cases name are not in the file.",) if missing else ()

    async def _is_there(self, digest: str) -> bool:
        try:
            await self.artifacts.get(digest)
        except (NotFound, StorageError):
            return False
        return True

    async def _keep_scorers(self, dataset_id: str, received: Received) -> tuple[str, ...]:
        """Add those whose names the dataset does not have yet."""
        dataset = self.keeper.dataset(dataset_id)
        known = {scorer.name for scorer in dataset.scorers}
        new: dict[str, Scorer] = {one.name: one for one in received.scorers if one.name not in known}
        if new:
            scorers = (*dataset.scorers, *new.values())
            primary = received.primary if received.primary in new and not dataset.primary else dataset.primary
            await self.keeper.change_dataset(dataset_id, DatasetChanges(scorers=scorers, primary=primary))
        return tuple(new)

    async def _contents(self, cases: Sequence[Case], records: dict[str, tuple[Entry, ...]]) -> dict[str, bytes]:
        """The files that the cases name, as far as they are there; raises `TooLarge`."""
        found: dict[str, bytes] = {}
        for digest in dict.fromkeys(one for case in cases for one in _named(case, records[case.id])):
            try:
                found[digest] = await self.artifacts.get(digest)
            except (NotFound, StorageError):
                continue  # who reads the file is told which are missing
            if sum(map(len, found.values())) > LARGEST_DATASET:
                raise TooLarge(f"The files of these cases have more than {_MOST}. Leave them out.")
        return found


def _written(format: OutFormat, cases: Sequence[Case], slug: str, redactor: Redactor) -> bytes:
    clean = [Case.model_validate(redactor.value(case.model_dump(mode="json"))) for case in cases]
    match format:
        case "csv":
            return csv_table.write_cases(clean)
        case "promptfoo":
            return promptfoo.write_cases(clean)
        case "adk":
            return adk.write_cases(clean, name=slug)
        case _:
            return openai_evals.write_cases(clean)


def _named(content: CaseContent, record: Sequence[Entry]) -> list[str]:
    """The sha256 of all that it refers to."""
    own = [*(part.artifact for part in content.attachments), *content.files.values()]
    before = (digest for message in content.history for digest in artifacts_of_parts(message.parts))
    return [digest for digest in (*own, *before, *artifacts_of(record)) if _DIGEST.fullmatch(digest)]


def _named_in(cases: Sequence[ReceivedCase]) -> set[str]:
    return {digest for case in cases for digest in _named(case.content, case.record)}


def _renamed(case: ReceivedCase, changed: dict[str, str]) -> ReceivedCase:
    """The same with other names for its files, in which secrets were found."""

    def named(value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return changed.get(value, value)
        if isinstance(value, dict):
            return {key: named(inner) for key, inner in value.items()}
        return [named(inner) for inner in value] if isinstance(value, list) else value

    content = CaseContent.model_validate(named(case.content.model_dump(mode="json")))
    record = tuple(Entry.model_validate(named(entry.model_dump(mode="json"))) for entry in case.record)
    return ReceivedCase(content, record)
