"""Datasets and how they come about: by hand, from a file, out of runs; and how they stood when a plan names them."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Protocol, TypeVar

from app.domain.agents import free_slug
from app.domain.errors import Conflict, NotFound, StorageError, TooLarge, WorkbenchError
from app.domain.evals.cases import LONGEST_NAME, MOST_CASES, Case, CaseContent, Dataset, DatasetChanges, new_cases
from app.domain.evals.saving import Saved, saved_step, saved_turns
from app.domain.evals.scorers import Scorer
from app.domain.events import Entry
from app.domain.garbage import no_collection
from app.domain.trace import StoredTrace, finished
from app.domain.values import Value, new_id, now
from app.engine.ports import Artifacts, Store

V = TypeVar("V", bound=Value)

AT_ONCE = 25
"""Cases that are written together: they share their way to the disk, and keep the event loop for 10 ms at most."""


class DatasetStore(Store[Dataset], Protocol):
    def put(self, value: Dataset) -> Dataset:
        """Have it stored with the case that is being changed."""
        ...

    def slugs(self) -> Collection[str]:
        """All that are taken."""
        ...

    async def delete(self, key: str) -> Dataset: ...

    async def restore(self, key: str) -> Dataset: ...


class CaseStore(Store[Case], Protocol):
    def of(self, dataset_id: str) -> list[Case]:
        """Those that are not deleted, the oldest first; for many in a thread."""
        ...

    def count(self, dataset_id: str) -> int: ...

    def find(self, key: str) -> Case | None: ...

    async def change(
        self, key: str, change: Callable[[Case], Case], *, beside: Callable[[], object] | None = None
    ) -> Case:
        """Apply `change` to the newest state and store it, with what `beside` puts: both or neither."""
        ...

    async def delete(self, key: str) -> Case: ...


class RunReader(Protocol):
    async def trace(self, run_id: str) -> StoredTrace:
        """As of now, live or stored; raises `NotFound`."""
        ...

    def live(self, run_id: str) -> object | None:
        """The run, if it goes on now."""
        ...


@dataclass
class Collecting:
    datasets: DatasetStore
    cases: CaseStore
    runs: Callable[[], RunReader]
    """Asked for when a case is made of a run: nothing else here needs what runs need."""
    artifacts: Artifacts

    async def new_dataset(
        self, name: str, description: str = "", *, scorers: tuple[Scorer, ...] = (), primary: str = ""
    ) -> Dataset:
        """An empty dataset under a slug of its own. Raises `WorkbenchError` for what cannot be one."""
        began = now()
        made = Dataset(
            id=new_id(),
            slug=free_slug(name, self.datasets.slugs(), nameless="dataset"),
            name=_named(name),
            description=description,
            scorers=scorers,
            primary=primary,
            created_at=began,
            updated_at=began,
        )
        _check_scorers(made)
        return await self.datasets.create(made)

    async def change_dataset(self, dataset_id: str, changes: DatasetChanges) -> Dataset:
        """The dataset with them; its slug stays, and its version while it is scored as before. Raises `NotFound`."""
        fields = {name: getattr(changes, name) for name in changes.model_fields_set}
        if "name" in fields:
            fields["name"] = _named(changes.name)

        def changed(before: Dataset) -> Dataset:
            after = before.model_copy(update=fields | {"updated_at": now()})
            _check_scorers(after)
            same = (before.scorers, before.primary) == (after.scorers, after.primary)
            return after if same else after.model_copy(update={"version": before.version + 1})

        return await self.datasets.change(self.dataset(dataset_id).id, changed)

    def dataset(self, dataset_id: str) -> Dataset:
        """Raises `NotFound` also for a deleted one."""
        found = self.datasets.get(dataset_id)
        if found.deleted_at is not None:
            raise NotFound(f"The dataset {found.name!r} was deleted. Bring it back first.")
        return found

    async def delete(self, dataset_id: str) -> Dataset:
        """Take the dataset out of the lists, and its cases with it; `restore` brings them back."""
        return await self.datasets.delete(dataset_id)

    async def restore(self, dataset_id: str) -> Dataset:
        return await self.datasets.restore(dataset_id)

    # Cases.

    async def add(self, dataset_id: str, case: Case) -> Case:
        """The case as it was stored, in that dataset. Raises `NotFound`, and `TooLarge` where it is full."""
        return (await self.add_all(dataset_id, [case]))[0]

    async def add_all(self, dataset_id: str, cases: Sequence[Case]) -> list[Case]:
        """The cases as they were stored, as one change of the dataset; all or none fit in. Raises like `add`."""
        dataset = self.dataset(dataset_id)
        if (count := self.cases.count(dataset.id) + len(cases)) > MOST_CASES:
            raise TooLarge(f"A dataset has at most {MOST_CASES:,} cases; this one would have {count:,}.")
        kept: list[Case] = []
        try:
            for some in _in_turns(one.model_copy(update={"dataset_id": dataset.id}) for one in cases):
                kept += await asyncio.gather(*map(self.cases.create, some))
            await self._bump(dataset.id)
        except StorageError:
            await self._take_back(cases)
            raise
        except BaseException:
            await self._bump(dataset.id)
            raise
        return kept

    async def _take_back(self, cases: Sequence[Case]) -> None:
        """Delete those of them that are there, as far as the disk takes that."""
        with suppress(StorageError):
            for some in _in_turns(cases):
                found = (one.id for one in some if self.cases.find(one.id) is not None)
                await asyncio.gather(*map(self.cases.delete, found))

    async def change_case(self, case: Case, *, seen: Case | None = None) -> Case:
        """Store another state of it; a new version of the dataset, but for another note. Raises `NotFound`.

        `seen` is what it was made from: what is the same in both stays as somebody may have changed it since.
        """
        before = self.case(case.dataset_id, case.id)
        said = {name: getattr(case, name) for name in CaseContent.model_fields}
        changed = {name: value for name, value in said.items() if seen is None or value != getattr(seen, name)}

        def told(newest: Case) -> Case:
            after = newest.model_copy(update={**changed, "updated_at": now()})
            if after.user is not None and after.turns:
                raise Conflict("Somebody changed who goes on in this case. Open it again, and change it as it is now.")
            return after

        if told(before).content == before.content:
            return await self.cases.change(case.id, told)
        return await self._with_a_bump(before, told)

    def case(self, dataset_id: str, case_id: str) -> Case:
        """Raises `NotFound` also for one that was deleted, or is in another dataset."""
        found = self.cases.get(case_id)
        if found.dataset_id != dataset_id or found.deleted_at is not None:
            raise NotFound(f"There is no case {case_id!r} in this dataset.")
        return found

    async def delete_case(self, case_id: str) -> Case:
        """Take it out of the dataset; `restore_case` brings it back."""
        return await self._with_a_bump(self.cases.get(case_id), _deleted(now()))

    async def restore_case(self, case_id: str) -> Case:
        return await self._with_a_bump(self.cases.get(case_id), _deleted(None))

    async def _with_a_bump(self, case: Case, change: Callable[[Case], Case]) -> Case:
        """Whoever is cancelled meanwhile, and a disk that is full, leaves both or none stored."""

        def bump() -> None:
            self.datasets.put(_bumped(self.datasets.get(case.dataset_id)))

        return await self.cases.change(case.id, change, beside=bump)

    async def _bump(self, dataset_id: str) -> None:
        await self.datasets.change(dataset_id, _bumped)

    # Out of runs.

    async def from_run(self, dataset_id: str, run_id: str, *, step: int | None = None, note: str = "") -> Case:
        """A case out of that run, or of what it did up to one of its steps, 1 for the first.

        It holds all that it needs of the run, which may be deleted. Raises `NotFound`, `TooLarge`, and `Conflict` for
        a run that goes on: only of its steps a case can be made then.
        """
        if step is None:
            return await self.from_turns(dataset_id, [run_id], note=note)
        entries = await self._entries(run_id)
        saved = await asyncio.to_thread(saved_step, entries, step, note=note)
        return await self._kept(dataset_id, saved, run_id=run_id, step=step)

    async def from_turns(self, dataset_id: str, run_ids: Sequence[str], *, note: str = "") -> Case:
        """A case out of runs that followed each other in a session: a message each, the last answer is expected.

        Raises like `from_run`.
        """
        if not run_ids:
            raise WorkbenchError("Nothing was said in this session yet. Say something first.")
        traces = [await self._entries(run_id) for run_id in run_ids]
        if self.runs().live(run_ids[-1]) is not None and not finished(traces[-1]):
            raise Conflict("This run goes on. Wait until it has ended, or make a case of one of its steps.")
        saved = await asyncio.to_thread(saved_turns, traces, note=note)
        return await self._kept(dataset_id, saved, run_id=run_ids[-1])

    async def _entries(self, run_id: str) -> list[Entry]:
        return list((await self.runs().trace(run_id)).entries)  # a live run's list grows

    async def _kept(self, dataset_id: str, saved: Saved, *, run_id: str, step: int | None = None) -> Case:
        record = await self.keep_record(saved.record)
        (case,) = new_cases(dataset_id, [saved.content])
        return await self.add(dataset_id, case.model_copy(update={"run_id": run_id, "step": step, "record": record}))

    async def keep_record(self, entries: Iterable[Entry]) -> str:
        """The sha256 under which recorded calls are kept; empty where there are none."""
        lines = await asyncio.to_thread(_lines, tuple(entries))
        return await self.artifacts.put(lines) if lines else ""

    async def record_of(self, case: Case) -> tuple[Entry, ...]:
        """The recorded calls that answer in the case. Raises `NotFound` and `StorageError` where they are gone."""
        if not case.record:
            return ()
        kept = await self.artifacts.get(case.record)
        return tuple(await asyncio.to_thread(_read, kept, Entry))

    # For experiments.

    async def snapshot(self, dataset_id: str) -> tuple[str, tuple[Case, ...]]:
        """The sha256 of the dataset's cases as they are now, which `cases_of` reads, and these cases."""
        cases = await asyncio.to_thread(self.cases.of, self.dataset(dataset_id).id)
        digest = await self.artifacts.put(await asyncio.to_thread(_lines, cases))
        return digest, tuple((await self.cases_of(digest)).values())

    async def cases_of(self, digest: str) -> dict[str, Case]:
        """By id, in order: the cases of a snapshot. Raises `NotFound` and `StorageError` where it is gone."""
        kept = await self.artifacts.get(digest)
        return {case.id: case for case in await asyncio.to_thread(_read, kept, Case)}


def _bumped(dataset: Dataset) -> Dataset:
    return dataset.model_copy(update={"version": dataset.version + 1, "updated_at": now()})


def _deleted(at: datetime | None) -> Callable[[Case], Case]:
    return lambda case: case.model_copy(update={"deleted_at": at})


def _in_turns(cases: Iterable[Case]) -> Iterator[list[Case]]:
    """So many at once."""
    left = iter(cases)
    while some := list(islice(left, AT_ONCE)):
        yield some


def _lines(values: Iterable[Value]) -> bytes:
    return b"".join(value.model_dump_json().encode() + b"\n" for value in values)


def _read(lines: bytes, kind: type[V]) -> list[V]:
    written = lines.splitlines()
    with no_collection(len(written)):
        return [kind.model_validate_json(line) for line in written]


def _named(name: str) -> str:
    words = name.strip()
    if not words:
        raise WorkbenchError("Give the dataset a name.")
    if len(words) > LONGEST_NAME:
        raise WorkbenchError(f"A name has at most {LONGEST_NAME} characters; this one has {len(words)}.")
    return words


def _check_scorers(dataset: Dataset) -> None:
    names = [scorer.name for scorer in dataset.scorers]
    for name in names:
        if names.count(name) > 1:
            raise WorkbenchError(f"Two scorers are called {name!r}. Give each a name of its own.")
    if dataset.primary and dataset.primary not in names:
        raise WorkbenchError(f"There is no scorer {dataset.primary!r} that could decide. Name one of the dataset's.")
