"""The turns of a session: its latest, those asked for, and the one that goes on."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from nicegui import ui

from app.domain.branches import Branches
from app.domain.errors import NotFound, StorageError
from app.domain.events import Entry, MessageAdded
from app.domain.sessions import Session
from app.domain.trace import RunStatus, StoredTrace, finished
from app.engine.run.run import Run
from app.ui.conversation.answer import SHOWN_STEPS
from app.ui.conversation.figures import Figures
from app.ui.conversation.transcript import Transcript
from app.ui.conversation.turn import Turn
from app.ui.elements.buttons import button
from app.workbench import Workbench

SHOWN_TURNS = 30
SHOWN_ELEMENTS = 360
"""About as many elements of turns as a page bears before every update of it gets slow."""
FIRST_TURNS = 3
"""That fill a window. The ones before them come once these are seen."""
SENT_TOGETHER = 4
"""Turns between two pauses for others on the event loop, the one who sends them among these: it takes the browser as
long to draw one as several."""
MOST_EARLIER = 4
"""How often earlier turns are put in by themselves: the page bears no more."""
STEP_BY_ARROWS = """(event) => {
  const step = { ArrowLeft: 0, ArrowRight: 1 }[event.key], group = event.target.closest(".branches");
  if (step === undefined || !group) return;
  event.preventDefault();
  group.querySelectorAll("button")[step].click();
}"""
Found = list[tuple[str, StoredTrace]]
GONE = "Its run is not stored any more: it was deleted, or its file was moved away."


class Conversation(Transcript):
    """Shows the runs it is told."""

    def __init__(self, workbench: Workbench, new_turn: Callable[[str], Turn]) -> None:
        """`new_turn` puts an empty turn for a run into the page."""
        super().__init__("Conversation")
        self.turns: list[Turn] = []
        self._runs: tuple[str, ...] = ()
        self._filled_up = False
        """Turns before the newest came since somebody asked."""
        self._used: dict[str, Figures] = {}
        """By run: what turns used that are not shown."""
        self._branches: Branches | None = None
        self._session: Session | None = None
        self._workbench = workbench
        self._new_turn = new_turn
        with self:
            self._earlier = button("Show earlier", self._ask_earlier, testid="show-earlier").classes("show-earlier")
            self._place = ui.element("div").classes("turns").on("keydown", js_handler=STEP_BY_ARROWS)
        self._earlier.visible = False

    @property
    def running(self) -> bool:
        """True while the last turn is not over."""
        return bool(self.turns) and not self.turns[-1].over

    @property
    def status(self) -> RunStatus | None:
        """How the last turn stands."""
        return self.turns[-1].status if self.turns else None

    @property
    def hidden(self) -> tuple[str, ...]:
        """The earlier runs that are not shown."""
        return self._runs[: len(self._runs) - len(self.turns)]

    @property
    def figures(self) -> list[Figures]:
        """What each turn used, those that are not shown included."""
        hidden = (self._figures_of(run_id) for run_id in self.hidden)
        return [*(one for one in hidden if one is not None), *(turn.figures for turn in self.turns)]

    async def show(self, runs: tuple[str, ...]) -> bool:
        """Show these runs, or the latest of them: drop the turns that left, add the new ones. True when any was."""
        if runs == self._runs and (self.turns or not runs):
            filled_up, self._filled_up = self._filled_up, False
            return filled_up
        first = not self._runs
        if runs[: len(self.hidden)] != self.hidden:
            self._drop(0)  # another branch, that begins before what is shown
        hidden = len(self.hidden)
        same = _common(runs[hidden:], [turn.run_id for turn in self.turns])
        self._drop(same)
        new = runs[hidden + same :] if self.turns else runs
        found = await self._latest(new, turns=FIRST_TURNS if first else SHOWN_TURNS)
        if len(found) < len(new):
            self._drop(0)
        kept = len(self.turns)
        if earlier := first and len(found) < len(runs):
            self._place.classes("from-below")  # before any is seen: they stay there when those before them come
        for run_id, trace in reversed(found):  # the newest is what one opens a session for
            await self._add(run_id, trace, kept)
        self._runs = runs
        if first:
            self.to_latest()
        if earlier:
            with self:  # a timer, for it ends with a page that is left
                ui.timer(0, partial(self._fill_up, _elements(found)), once=True)
        else:
            self._count_hidden()
        return True

    async def _fill_up(self, elements: int) -> None:
        """Put in the turns before the newest, which take that many elements, once the newest are seen."""
        oldest = self.turns[:1]

        async def put_in() -> None:
            if self.turns[:1] == oldest:  # not, where another branch came or earlier turns were asked for meanwhile
                room = max(0, SHOWN_TURNS - len(self.turns))
                for run_id, trace in reversed(await self._latest(self.hidden, turns=room, beside=elements)):
                    await self._add(run_id, trace, 0)
                self._filled_up = True
            self._count_hidden()

        await self.update_by(put_in, always=True)

    async def show_session(self, session: Session | None) -> bool:
        """Show its runs, and at each which of the branches that begin there it is. True when a turn came or went."""
        changed = await self.show(session.runs if session else ())
        if session is not None and (changed or session is not self._session):
            self._session = session
            self._branches = self._workbench.runs.branches(session)
            for turn in self.turns:
                turn.stand(self._branches.beside(turn.run_id))
        return changed

    async def follow(self) -> tuple[bool, Run | None]:
        """Show what is new of the turn that goes on: whether an entry was, and its run.

        The turn before it may not have been seen to its end yet: a queued message begins the next one at once.
        """
        grown = await self._take_up()
        live = None
        for turn in [turn for turn in self.turns if not turn.over]:
            if (live := self._workbench.runs.recent(turn.run_id)) is not None:
                grown = await turn.follow(live) or grown
        return grown, live

    async def _take_up(self) -> bool:
        """Show the last turn anew where its run was left, and is so no more; whether that was done."""
        if not self.turns or not is_taken_up(self._workbench, self.turns[-1]):
            return False
        run_id = self.turns[-1].run_id
        trace = await trace_of(self._workbench, run_id)
        self._drop(len(self.turns) - 1)
        await self._add(run_id, trace, len(self.turns))
        return True

    def _drop(self, kept: int) -> None:
        """Take all turns but the first ones off the page."""
        for turn in self.turns[kept:]:
            turn.delete()
        del self.turns[kept:]

    async def bring(self, run_id: str) -> None:
        """Let the reader see that run's turn from its beginning; one too far up is named with the way there."""
        for _ in range(MOST_EARLIER):
            if run_id in self.hidden:
                await self._show_earlier()
        turn = next((turn for turn in self.turns if turn.run_id == run_id), None)
        if turn is not None:
            self.run_method("bring", turn.html_id)
        elif run_id in self.hidden:
            ui.notify("What was found is further up. Press “Show earlier” until it is there.", timeout=6000)

    async def _ask_earlier(self) -> None:
        await self.update_by(self._show_earlier, always=True)

    async def _show_earlier(self) -> None:
        self.keep_place()
        earlier = await self._latest(self.hidden)
        for run_id, trace in reversed(earlier):
            await self._add(run_id, trace, 0)
        self._count_hidden()

    def _figures_of(self, run_id: str) -> Figures | None:
        """Of a turn that is not shown; `None` where nothing is kept of it. Read once where its run is over."""
        rows = self._workbench.rows
        if (known := self._used.get(run_id)) is None and (row := rows.get(run_id)) is not None:
            known = Figures.of_rows([row, *(() if row.model else rows.below(run_id))])
            if row.finished_at is not None:
                self._used[run_id] = known
        return known

    async def _latest(self, runs: Sequence[str], *, turns: int = SHOWN_TURNS, beside: int = 0) -> Found:
        """The last of these runs in their order, so many at most: as many as a page bears `beside` so many elements.

        One at least where the page is empty.
        """
        found: Found = []
        for run_id in reversed(runs[max(0, len(runs) - turns) :]):
            one = (run_id, await trace_of(self._workbench, run_id))
            if (found or beside) and beside + _elements([one, *found]) > SHOWN_ELEMENTS:
                break
            found.insert(0, one)
        return found

    async def _add(self, run_id: str, trace: StoredTrace, index: int) -> None:
        edits = await self._workbench.forks.edits(trace.entries)
        with self._place:
            turn = self._new_turn(run_id)
        if index < len(self.turns):
            turn.move(self._place, target_index=index)
        turn.edits = edits
        self.turns.insert(index, turn)
        if self._branches is not None and run_id in self._branches.follows:
            turn.stand(self._branches.beside(run_id))
        if self._workbench.runs.live(run_id) is None:
            await show_stored(self._workbench, turn, trace)
        if len(self.turns) % SENT_TOGETHER == 0:
            await asyncio.sleep(0)

    def _count_hidden(self) -> None:
        self._earlier.visible = bool(self.hidden)
        self._earlier.text = f"Show earlier ({len(self.hidden)})"


async def trace_of(workbench: Workbench, run_id: str) -> StoredTrace:
    """The run's trace; of a run that cannot be read an empty one that says why."""
    try:
        return await workbench.runs.trace(run_id)
    except NotFound:
        return StoredTrace([], damaged=(GONE,))
    except StorageError as problem:
        return StoredTrace([], damaged=(str(problem),))


def is_taken_up(workbench: Workbench, turn: Turn) -> bool:
    """Whether the turn shows a run as left that has gone on or been given up since, perhaps to its end already."""
    live = workbench.runs.recent(turn.run_id) if turn.left else None
    return live is not None and (live.alive or finished(live.entries) is not None)


async def show_stored(workbench: Workbench, turn: Turn, trace: StoredTrace) -> None:
    """Show a turn that does not go on in this process."""
    await turn.take(trace.entries, alive=False)
    if not turn.over:
        paused = workbench.runs.status(turn.run_id, trace.entries) == "paused"
        await turn.cut_off(trace.draft, paused=paused)
    if trace.damaged:
        turn.damaged(trace.damaged)


def elements_of(entries: Sequence[Entry]) -> int:
    """About how many elements a turn of these entries takes on the page."""
    messages = [entry.event.message for entry in entries if isinstance(entry.event, MessageAdded)]
    return 8 + sum(1 + 2 * len(message.tool_calls) for message in messages[-SHOWN_STEPS:])


def _elements(found: Found) -> int:
    return sum(elements_of(trace.entries) for _, trace in found)


def _common(wanted: Sequence[str], shown: Sequence[str]) -> int:
    """How many of the first runs are the same."""
    same = 0
    while same < min(len(wanted), len(shown)) and wanted[same] == shown[same]:
        same += 1
    return same
