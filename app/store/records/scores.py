"""The one table of scores: found by their run, and runs by what was said of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from app.domain.evals.scores import UNMARKED, RunMarks, Score, marks_of
from app.domain.trace import RunKind
from app.domain.values import alphabetical
from app.late import late_part
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Removable
from app.store.journal.frames import Document


class Scores(Removable[Score]):
    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "scores", Score, noun="score"), lambda score: score.id)
        self.revision = 0
        """Goes up with every change."""

    async def warm(self) -> None:
        """Read them off the event loop, so that the first look at them does not take the loop's time."""
        await self._documents.warm()

    def of(self, run_id: str) -> list[Score]:
        """The run's scores, the oldest first; those that cannot be read are left out."""
        return self._kept(self._by_run[run_id]) if run_id in self._by_run else []

    def _kept(self, known: "_OfRun") -> list[Score]:
        stored = (self._documents.stored(key) for key in known.ids)
        found = self._documents.values(document for document in stored if document is not None)
        return sorted(found, key=lambda score: score.at)

    def named(self, *names: str) -> list[Score]:
        """All scores by people under these names, the oldest first; looks at all there are, so for a thread."""
        found = [one for one in self._documents.documents() if _name_of(one) in names]
        said = (score for score in self._documents.values(found) if score.source == "person")
        return sorted(said, key=lambda score: score.at)

    def marks(self, run_id: str) -> RunMarks:
        """What people said of the run."""
        if (known := self._by_run.get(run_id)) is None:
            return UNMARKED
        if known.marks is None:
            known.marks = marks_of(self._kept(known))
        return known.marks

    async def give(self, score: Score) -> Score:
        """Store it in place of what it replaces; returns what was stored, which holds no secret."""
        replaced = [other for other in self.of(score.run_id) if score.replaces(other)]
        kept = await self.save(score)
        for other in replaced:
            if other.id != kept.id:
                await self.delete(other.id)
        return kept

    async def save(self, value: Score) -> Score:
        with self._changed(value.run_id, value.id):  # whoever gives another one meanwhile replaces it
            return await super().save(value)

    async def delete(self, key: str) -> None:
        """Forget it for good; nothing happens where there is none."""
        if (document := self._documents.stored(key)) is None:
            return
        with self._changed(run_id := _run_of(document)):
            await super().delete(key)
        self._by_run[run_id] = _OfRun(self._by_run[run_id].ids - {key})

    async def forget(self, run_ids: Iterable[str]) -> None:
        """Forget for good what was said of these runs."""
        for run_id in run_ids:
            for key in self._by_run.pop(run_id, _OfRun()).ids:
                await super().delete(key)

    def tags(self) -> list[str]:
        """Every tag that a run has, once, sorted."""
        return sorted({tag for run_id in self._by_run for tag in self.marks(run_id).tags}, key=alphabetical)

    def runs_with(self, wanted: RunKind) -> set[str] | None:
        """The runs of which was said what is wanted; `None` where nothing of that kind is."""
        if not (wanted.rating or wanted.tag or wanted.noted or wanted.voted):
            return None
        return {run_id for run_id in list(self._by_run) if _fits(self.marks(run_id), wanted)}

    @contextmanager
    def _changed(self, run_id: str, *more: str) -> Iterator[None]:
        """What people said of the run is read anew from now on, and once more where the disk refuses the change."""
        self._by_run[run_id] = _OfRun(self._by_run[run_id].ids | {*more})
        try:
            yield
        finally:
            self._by_run[run_id] = _OfRun(self._by_run[run_id].ids)
            self.revision += 1

    @late_part
    def _by_run(self) -> "defaultdict[str, _OfRun]":
        """Made when it is first needed."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for document in self._documents.documents():
            found[_run_of(document)].add(str(document.get("id")))
        return defaultdict(_OfRun, {run_id: _OfRun(frozenset(ids)) for run_id, ids in found.items()})


class _OfRun:
    """The ids of a run's scores, and what people said, once somebody asked.

    Another one takes its place with each change, so that who reads it in a thread meanwhile keeps nothing that is old.
    """

    def __init__(self, ids: frozenset[str] = frozenset()) -> None:
        self.ids = ids
        self.marks: RunMarks | None = None


def _run_of(document: Document) -> str:
    value = document.get("value")
    return str(value.get("run_id")) if isinstance(value, dict) else ""


def _name_of(document: Document) -> str:
    value = document.get("value")
    return str(value.get("name")) if isinstance(value, dict) else ""


def _fits(marks: RunMarks, wanted: RunKind) -> bool:
    return (
        (wanted.rating is None or marks.rating == wanted.rating)
        and (not wanted.tag or wanted.tag.casefold() in map(str.casefold, marks.tags))
        and (not wanted.noted or bool(marks.notes))
        and (not wanted.voted or bool(marks.votes))
    )
