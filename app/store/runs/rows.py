"""The rows of all runs: filtered, sorted and paged as they are stored; only the page that is shown is parsed."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from itertools import chain

from app.domain.branches import Turn
from app.domain.errors import StorageError
from app.domain.trace import KeyRuns, RunFilter, RunPage, RunRow, SortKey, ToolStats, Week
from app.domain.values import now
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Marks, number
from app.store.journal.frames import Document
from app.store.journal.packed import Packed
from app.store.records.scores import Scores
from app.store.runs.heads import Heads
from app.store.runs.kin import Kin
from app.store.runs.row_filter import found, is_of_key, may_be_of_key, providers_of
from app.store.runs.spent_since import SpentSince
from app.store.runs.stored_row import row_field, stamp
from app.store.runs.tool_figures import ToolFigures
from app.store.runs.usage_figures import UsageFigures


class Rows:
    def __init__(self, database: JournalDB, scores: Scores | None = None) -> None:
        self._documents = Documents(database, "runs", RunRow, noun="run", marks=_marks)
        self._documents.made_of_clean = self._documents.leave_out_defaults = True
        self._journal = database.journal
        self._journal.pack("runs", Heads)
        self._documents.find_place = self._place
        self._scores = scores or Scores(database)
        self._known_kin = Kin(Heads())
        self._known_tool_figures: ToolFigures | None = None
        self._warming = asyncio.Lock()
        self.usage_figures = UsageFigures(database)

    def get(self, run_id: str) -> RunRow | None:
        """The row, `None` for a run that is not there or deleted."""
        document = self._documents.stored(run_id)
        return None if document is None or document.get("deleted") else self._documents.parsed(document)

    def find(
        self,
        wanted: RunFilter,
        *,
        sort: SortKey = "started_at",
        descending: bool = True,
        offset: int = 0,
        limit: int = 50,
        matching: Container[str] = (),
    ) -> RunPage:
        """The rows that the filter lets through, sorted, `limit` of them from `offset` on.

        `matching`: runs whose trace says the filter's text; of all others it is looked for in the row itself.
        """
        heads, rows = self._heads, self._packed
        positions = found(heads, rows, wanted, matching)
        if (scored := self._scores.runs_with(wanted)) is not None:
            positions = [position for position in positions if heads.names[heads.run[position]] in scored]
        positions = heads.sorted(positions, sort, descending=descending)
        page = map(rows.at, positions[offset : offset + limit])
        return RunPage(list(self._documents.values(page)), len(positions))

    def is_of_key(self, run_id: str, wanted: KeyRuns) -> bool:
        """Whether the run, be it deleted, is one of these."""
        position = self._heads.position(run_id)
        return position is not None and is_of_key(self._heads, position, wanted)

    def is_session_of_key(self, session_id: str, wanted: KeyRuns) -> bool:
        """Whether the session has runs, and all it ever had are of these: what was said in it is nobody else's."""
        runs = self._of_session(session_id)
        return bool(runs) and all(is_of_key(self._heads, position, wanted) for position in runs)

    def sessions_of_key(self, wanted: KeyRuns) -> set[str]:
        """The ids of all such sessions."""
        own = self._heads.those(lambda kind: may_be_of_key(kind, wanted))
        sessions = {self._heads.session_of(position) for position in own}
        return {session_id for session_id in sessions if self.is_session_of_key(session_id, wanted)}

    def stamps(self) -> Iterator[tuple[str, str]]:
        """The id of each run and what tells its state from any other one's, the newest run first; for a thread.

        One after the other: a list of them would take tens of megabytes where there are very many.
        """
        heads, rows = self._heads, self._packed
        for position in self._newest_first():
            yield heads.names[heads.run[position]], stamp(rows.at(position))

    def stamp(self, run_id: str) -> str | None:
        """What tells the run's state from any other one; `None` for a run that is not there or deleted."""
        document = self._documents.stored(run_id)
        return None if document is None or document.get("deleted") else stamp(document)

    def knows(self, run_id: str) -> bool:
        """Whether there is or was a row of that run: also of a deleted one."""
        return self._heads.position(run_id) is not None

    def deleted(self, before: datetime) -> list[tuple[str, Turn]]:
        """The runs that were deleted before that, and of which more than what they cost is still kept.

        Each with the session it is of.
        """
        heads, rows, moment = self._heads, self._packed, before.timestamp()
        gone = heads.those(lambda kind: kind.deleted and not kind.emptied)
        old = [position for position in gone if number(rows.at(position).get("deleted_at")) < moment]
        return [(heads.session_of(position), heads.turn(position)) for position in old]

    async def empty(self, run_id: str) -> None:
        """Forget for good what was asked and answered in a deleted run; what it cost stays known."""
        document = self._documents.stored(run_id)
        if document is None or not document.get("deleted"):
            return
        for row in self._documents.values([document]):
            await self.save(row.model_copy(update={"request": "", "answer": ""}))
        await self._documents.mark([run_id], {"emptied": True})

    def by_age(self) -> list[tuple[str, Turn]]:
        """All runs that are not deleted, each with the session it is of, the newest first."""
        heads = self._heads
        return [(heads.session_of(position), heads.turn(position)) for position in self._newest_first()]

    def variants(self, agent: str) -> list[int]:
        """The variants of the agent with that slug that have runs, the newest first."""
        variants = {kind.variant for kind in self._heads.kinds_listed() if kind.slug == agent}
        return sorted((int(variant) for variant in variants if variant.isdecimal()), reverse=True)

    def agents(self) -> list[str]:
        """The slugs of the agents that have runs, sorted."""
        return sorted({kind.slug for kind in self._heads.kinds_listed()})

    def models(self) -> list[str]:
        """The models that runs were made with, sorted."""
        return sorted({kind.model for kind in self._heads.kinds_listed()})

    def providers(self) -> list[str]:
        """Those of the models that runs called, sorted."""
        return sorted({one for kind in self._heads.kinds_listed() for one in providers_of(kind) if one})

    def tools(self) -> list[str]:
        """The names of the tools that runs called, sorted."""
        return sorted({tool for kind in self._heads.kinds_listed() for tool in kind.tools})

    @property
    def spent(self) -> SpentSince:
        """What the runs have cost."""
        return self._heads.spent

    def cost_since(self, moment: datetime) -> float:
        """US dollars of the runs that started since then, deleted ones included: the money is spent."""
        return self.spent.dollars(moment)

    def dearest(self, since: datetime, until: datetime, *, limit: int) -> list[RunRow]:
        """The runs of that time that cost most here, the dearest first; looks at no others."""
        heads, end = self._heads, until.timestamp()
        begun = (at for at in self._begun(since.timestamp()) if heads.started[at] < end)
        shown = (at for at in begun if heads.paid(at) and not heads.kind_of(at).deleted)
        return list(self._documents.values(map(self._packed.at, nlargest(limit, shown, key=heads.paid))))

    def cost_of_session(self, session_id: str) -> float:
        """US dollars of the session's runs and of those that they started.

        Deleted and replaced ones included: the money is spent.
        """
        heads, by_parent = self._heads, self._kin.by_parent
        found = set(self._of_session(session_id))
        left = list(found)
        while left:
            below = by_parent.get(heads.names[heads.run[left.pop()]], ())
            more = [position for position in heads.there(below) if position not in found]
            found.update(more)
            left += more
        return sum(map(heads.paid, found))

    def below(self, run_id: str) -> list[RunRow]:
        """The runs that it started, the oldest first, each before those that it started; deleted ones left out."""
        below = (at for at in self._below(run_id, {run_id}) if not self._heads.kind_of(at).deleted)
        return list(self._documents.values(map(self._packed.at, below)))

    def cost_below(self, run_id: str) -> float:
        """US dollars of the runs below it, deleted ones included: the money is spent."""
        return sum(map(self._heads.paid, self._below(run_id, {run_id}))) if run_id in self._kin.by_parent else 0.0

    def _below(self, run_id: str, met: set[str]) -> Iterator[int]:
        """`met`: the runs that are not told again, should one say that it is its own ancestor."""
        heads = self._heads
        for position in heads.sorted(heads.there(self._kin.by_parent.get(run_id, ()))):
            if (child := heads.names[heads.run[position]]) not in met:
                met.add(child)
                yield position
                yield from self._below(child, met)

    def turns(self, session_id: str) -> list[Turn]:
        """The runs that were ever started in the session, deleted ones included, in no order."""
        return list(map(self._heads.turn, self._of_session(session_id)))

    def is_emptied(self, session_id: str) -> bool:
        """Whether the session had runs, and of all it ever had no more is kept than what they cost."""
        runs = self._of_session(session_id)
        return bool(runs) and all(self._heads.kind_of(position).emptied for position in runs)

    def by_session(self, run_ids: Iterable[str]) -> dict[str, list[Turn]]:
        """Those of the runs that are not deleted, by their session, the newest first."""
        turns: defaultdict[str, list[Turn]] = defaultdict(list)
        for position in map(self._heads.position, run_ids):
            if position is not None and not self._heads.kind_of(position).deleted:
                turns[self._heads.session_of(position)].append(self._heads.turn(position))
        return {session_id: sorted(found, key=lambda turn: -turn.started) for session_id, found in turns.items()}

    def week_of(self, agent_id: str) -> Week:
        """The agent's runs and their cost in the last seven days, and its last run; looks at no more than those.

        Without experiments, those in which somebody tried what is no variant, and calls of apps.
        """
        since = (now() - timedelta(days=7)).timestamp()
        runs, cost, last, unpriced = 0, 0.0, 0.0, False
        heads = self._heads
        for position in reversed(self._kin.by_agent.get(agent_id, ())):
            kind, started = heads.kind_of(position), heads.started[position]
            if started < since and last:
                break
            if not heads.there([position]) or kind.deleted or kind.behind or kind.of_app:
                continue
            last = last or started
            if started >= since:
                runs, cost, unpriced = runs + 1, cost + heads.paid(position), unpriced or kind.unpriced
        return Week(runs, cost, datetime.fromtimestamp(last, UTC) if last else None, unpriced)

    def begun_since(self, moment: datetime) -> list[Document]:
        """The rows of runs that began since then, as they are stored, deleted ones included; looks at no others."""
        return list(map(self._packed.at, self._begun(moment.timestamp())))

    def first_begun(self) -> datetime | None:
        """When the first run of all began."""
        first = min((self._heads.started[runs[0]] for runs in list(self._kin.by_agent.values()) if runs), default=None)
        return None if first is None else datetime.fromtimestamp(first, UTC)

    def tool_stats(self) -> Mapping[str, ToolStats]:
        """By name of each tool that was ever called in a run: how often, how often in vain, how long it took.

        Calls in deleted runs count, they happened. Takes as long as there are tools, however many runs.
        """
        return self._tool_figures.stats()

    async def warm(self) -> None:
        """Read the rows and scores off the event loop, so that the first look at them does not take the loop's time."""
        await self._documents.warm()
        await self._scores.warm()
        await self.usage_figures.warm()
        async with self._warming:
            if self._known_tool_figures is None:
                figures = await asyncio.to_thread(self._tool_figures_now())
                if self._known_tool_figures is None:  # else somebody was faster, and saved runs since
                    self._known_tool_figures = figures
            if self._known_kin.heads is not (heads := self._heads):
                kin = await asyncio.to_thread(Kin(heads).made)
                if self._known_kin.heads is not heads:
                    self._known_kin = kin

    async def settle_usage(self, *, anew: bool = False) -> None:
        """Return when the daily figures are right: after a start they are compared with all rows, or made `anew`."""
        if anew or not self.usage_figures.settled:
            await self._documents.warm()
            await self.usage_figures.settle(lambda: self._heads.moments(self._packed.frozen()), anew=anew)

    async def to_tell(self, *, all_runs: bool) -> list[str]:
        """The runs, the newest first; without `all_runs` those whose row, of an earlier version, lacks something."""
        await self._documents.warm()
        kept = self._heads.those(lambda kind: not kind.deleted and (all_runs or not kind.told))
        return [self._heads.names[self._heads.run[at]] for at in self._heads.sorted(kept, descending=True)]

    async def save(self, row: RunRow) -> None:
        """Insert or replace; a deleted row stays deleted, one of another app stays one."""
        if self._known_tool_figures is None:
            await self.warm()  # nothing is saved while they are made in a thread
        before = self._documents.stored(row.run_id)
        if before is not None and row_field(before, "imported"):
            row = row.model_copy(update={"imported": True})
        self._documents.put(row.run_id, row)
        stored, revision = self._documents.stored(row.run_id), self._documents.revision(row.run_id)
        self._count(stored, before)
        self._kin.add(row, moved=before is not None and before.get("started") != row.started_at.timestamp())
        try:
            await self._documents.durable()
        except StorageError:
            if self._documents.revision(row.run_id) < revision:  # it was taken back
                self._count(before, stored)
            raise

    def _count(self, stored: Document | None, before: Document | None) -> None:
        """At once, not when it is on the disk: whoever adds up all rows meanwhile finds it there."""
        for figures in (self._tool_figures, self.usage_figures):
            figures.take(stored, before=before)

    async def delete(self, run_ids: Iterable[str]) -> None:
        """Take the runs out of the lists; `restore` brings them back."""
        await self._documents.mark(run_ids, {"deleted": True, "deleted_at": now().timestamp()})

    async def restore(self, run_ids: Iterable[str]) -> None:
        await self._documents.mark(run_ids, {"deleted": False})

    @property
    def _tool_figures(self) -> ToolFigures:
        """Of all stored rows; made when it is first needed."""
        if self._known_tool_figures is None:
            self._known_tool_figures = self._tool_figures_now()()
        return self._known_tool_figures

    def _tool_figures_now(self) -> Callable[[], ToolFigures]:
        """Makes those of all rows as they are stored now, the newest first, in whatever thread.

        Rows of runs that called no tool are not unpacked.
        """
        rows, positions = self._packed.frozen(), self._heads.those(lambda kind: bool(kind.tools))
        return lambda: ToolFigures(map(rows.at, reversed(positions)))

    @property
    def _packed(self) -> Packed:
        return self._journal.packed("runs")

    @property
    def _heads(self) -> Heads:
        heads = self._packed.columns
        return heads if isinstance(heads, Heads) else Heads()

    @property
    def _kin(self) -> Kin:
        if self._known_kin.heads is not (heads := self._heads):
            self._known_kin = Kin(heads)
        return self._known_kin

    def _place(self, run_id: str) -> int | None:
        """The document id of the run's row."""
        position = self._heads.position(run_id)
        return None if position is None else self._packed.id_at(position)

    def _begun(self, since: float) -> list[int]:
        """The runs that began since then."""
        begun = [self._kin.begun(agent, since) for agent in list(self._kin.by_agent)]
        return self._heads.there(chain(*begun))

    def _of_session(self, session_id: str) -> list[int]:
        return self._heads.there(self._kin.by_session.get(session_id, ()))

    def _newest_first(self) -> list[int]:
        """Those that are not deleted."""
        return self._heads.sorted(self._heads.those(lambda kind: not kind.deleted), descending=True)


def _marks(row: RunRow) -> Marks:
    return {
        "started": row.started_at.timestamp(),
        "text": f"{row.request} {row.agent.name} {row.model}".casefold(),
    }
