"""The tables of evals: datasets, their cases, experiments and what became of their cells."""

from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import datetime

from app.domain.errors import Conflict, NotFound
from app.domain.evals.cases import Case, Dataset
from app.domain.evals.experiments import Cell, Experiment
from app.domain.values import alphabetical
from app.late import late_part
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Keyed, Marks, Restorable, V, number
from app.store.journal.frames import Document


class Filed(Keyed[V]):
    """Those that belong to one thing are found without a look at all there are."""

    def __init__(self, documents: Documents[V], key: Callable[[V], str], *, owner: str) -> None:
        """`owner`: the mark that says what each belongs to."""
        super().__init__(documents, key)
        self._owner = owner
        self.revisions: defaultdict[str, int] = defaultdict(int)
        """By what they belong to: goes up with every change of one in this process."""

    async def create(self, value: V) -> V:
        return await self._filed(self._key(value), super().create(value))

    async def save(self, value: V) -> V:
        return await self._filed(self._key(value), super().save(value))

    async def change(self, key: str, change: Callable[[V], V]) -> V:
        return await self._filed(key, super().change(key, change))

    async def _filed(self, key: str, stored: Awaitable[V]) -> V:
        """Also where whoever waits for the disk is cancelled: it is there by then."""
        try:
            return await stored
        finally:
            if (document := self._documents.stored(key)) is not None:
                owner = str(document.get(self._owner))
                self._by_owner[owner][key] = None
                self.revisions[owner] += 1

    def _of(self, owner: str) -> list[Document]:
        """In the order they were stored first."""
        own = map(self._documents.stored, tuple(self._by_owner.get(owner, ())))
        return [document for document in own if document is not None]

    @late_part
    def _by_owner(self) -> defaultdict[str, dict[str, None]]:
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for document in self._documents.documents():
            found[str(document.get(self._owner))][str(document.get("id"))] = None
        return found


class Datasets(Restorable[Dataset]):
    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "datasets", Dataset, noun="dataset"), lambda dataset: dataset.id)

    def all(self) -> list[Dataset]:
        """Those that are not deleted, by name."""
        shown = (dataset for dataset in self._documents.values() if dataset.deleted_at is None)
        return sorted(shown, key=lambda dataset: (alphabetical(dataset.name), dataset.slug))

    def by_slug(self, slug: str) -> Dataset:
        """The dataset of that slug that is not deleted; raises `NotFound`, which names those there are."""
        datasets = {dataset.slug: dataset for dataset in self.all()}
        if slug in datasets:
            return datasets[slug]
        raise NotFound(f"There is no dataset {slug!r}. Datasets: {', '.join(sorted(datasets)) or 'none yet'}.")

    def slugs(self) -> set[str]:
        """All slugs that are taken, those of deleted datasets included."""
        return {dataset.slug for dataset in self._documents.values()}

    def put(self, value: Dataset) -> Dataset:
        """Have it stored with the case that is being changed."""
        return self._documents.put(value.id, value)

    async def create(self, value: Dataset) -> Dataset:
        """Store a new dataset; raises `Conflict` where its slug is taken."""
        if value.slug in self.slugs():
            raise Conflict(f"The slug {value.slug!r} is taken by another dataset. Choose another name.")
        return await super().create(value)


class Cases(Filed[Case], Restorable[Case]):
    def __init__(self, database: JournalDB) -> None:
        documents = Documents(database, "cases", Case, noun="case", marks=_marks_of_case)
        super().__init__(documents, lambda case: case.id, owner="dataset")

    async def change(
        self, key: str, change: Callable[[Case], Case], *, beside: Callable[[], object] | None = None
    ) -> Case:
        """Apply `change` to the newest state and store it, with what `beside` puts: both or neither."""
        return await self._filed(key, self._documents.change(key, change, beside=beside))

    def of(self, dataset_id: str) -> list[Case]:
        """The dataset's cases that are not deleted, the oldest first; for many of them in a thread."""
        shown = [document for document in self._of(dataset_id) if not document.get("deleted")]
        shown.sort(key=lambda document: (number(document.get("created")), str(document.get("id"))))
        return list(self._documents.values(shown))

    def count(self, dataset_id: str, *, must_pass: bool = False, recorded: bool = False) -> int:
        """How many cases it has that are not deleted; only those that `must_pass` or hold a record, where asked."""
        wanted = [mark for mark, asked in (("must_pass", must_pass), ("recorded", recorded)) if asked]
        shown = (document for document in self._of(dataset_id) if not document.get("deleted"))
        return sum(all(document.get(mark) is True for mark in wanted) for document in shown)

    def all_recorded(self, dataset_id: str) -> bool:
        """Whether the tools of each of its cases can answer from a record."""
        return self.count(dataset_id, recorded=True) == self.count(dataset_id)


class Experiments(Restorable[Experiment]):
    def __init__(self, database: JournalDB) -> None:
        documents = Documents(database, "experiments", Experiment, noun="experiment", marks=_marks_of_experiment)
        super().__init__(documents, lambda experiment: experiment.id)

    def recent(self, *, dataset_id: str = "", agent_id: str = "", offset: int = 0, limit: int = 50) -> list[Experiment]:
        """The newest first; deleted ones left out."""
        shown = self._shown(dataset_id, agent_id)
        shown.sort(key=lambda document: number(document.get("created")), reverse=True)
        return list(self._documents.values(shown[offset : offset + limit]))

    def count(self, *, dataset_id: str = "", agent_id: str = "") -> int:
        """How many `recent` has in all."""
        return len(self._shown(dataset_id, agent_id))

    def _shown(self, dataset_id: str, agent_id: str) -> list[Document]:
        wanted = [(key, value) for key, value in (("dataset", dataset_id), ("agent", agent_id)) if value]
        shown = (one for one in self._documents.documents() if not one.get("deleted"))
        return [one for one in shown if all(one.get(key) == value for key, value in wanted)]

    def with_status(self, *statuses: str) -> list[Experiment]:
        """Those that stand so and are not deleted."""
        shown = (one for one in self._documents.documents() if not one.get("deleted") and one.get("status") in statuses)
        return list(self._documents.values(shown))

    def deleted(self, before: datetime) -> list[str]:
        """The ids of those that were deleted before that."""
        gone = (one for one in self._documents.values(d for d in self._documents.documents() if d.get("deleted")))
        return [one.id for one in gone if one.deleted_at is not None and one.deleted_at < before]

    def keeps(self, experiment_id: str) -> bool:
        """Whether there is one of that id, which is not deleted."""
        document = self._documents.stored(experiment_id)
        return document is not None and not document.get("deleted")

    async def forget(self, experiment_id: str) -> None:
        await self._documents.remove(experiment_id)


class Cells(Filed[Cell]):
    def __init__(self, database: JournalDB) -> None:
        documents = Documents(database, "cells", Cell, noun="cell", marks=_marks_of_cell)
        super().__init__(documents, lambda cell: cell.id, owner="experiment")

    def revision(self, experiment_id: str) -> int:
        return self.revisions[experiment_id]

    def ids(self, experiment_id: str) -> list[str]:
        return list(self._by_owner.get(experiment_id, ()))

    async def forget(self, cell_id: str) -> None:
        """For good, as its experiment is."""
        await self._documents.remove(cell_id)

    def of(self, experiment_id: str) -> list[Cell]:
        """Every cell of the experiment that was begun or skipped, in no order; for many of them in a thread."""
        return list(self._documents.values(self._of(experiment_id)))


def _marks_of_case(case: Case) -> Marks:
    return {
        "dataset": case.dataset_id,
        "created": case.created_at.timestamp(),
        "deleted": case.deleted_at is not None,
        "must_pass": case.must_pass,
        "recorded": bool(case.record),
    }


def _marks_of_experiment(experiment: Experiment) -> Marks:
    return {
        "dataset": experiment.plan.dataset_id,
        "agent": experiment.plan.agent_id,
        "status": experiment.status,
        "created": experiment.created_at.timestamp(),
        "deleted": experiment.deleted_at is not None,
    }


def _marks_of_cell(cell: Cell) -> Marks:
    return {"experiment": cell.experiment_id}
