"""One session of a comparison: its head, and its turns in the rows, one for each message, that all columns share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nicegui import ui

from app.domain.comparisons import Comparison
from app.domain.trace import StoredTrace, TrajectoryStep, trajectory
from app.ui.compare.figures import AnswerFigures
from app.ui.conversation.conversation import elements_of, is_taken_up, show_stored, trace_of
from app.ui.conversation.turn import Turn
from app.ui.elements.markup import Html, icon, tag
from app.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Reply:
    """A column's part in a round: the run that answers, or why there is none."""

    run_id: str = ""
    refusal: str = ""


Round = tuple[Reply, ...]
"""One reply for each column."""


def rounds(comparison: Comparison) -> list[Round]:
    """The replies side by side, message by message."""
    return [
        tuple(Reply(turn.runs.get(column, ""), turn.refusals.get(column, "")) for column in comparison.sessions)
        for turn in comparison.turns
    ]


TIE = -1
"""Stands for a tie in the place of a column."""


def votes(comparison: Comparison, given: Mapping[int, str | None]) -> dict[int, int]:
    """By round: the column that was voted for, or `TIE`; `given` are the sessions, `None` a tie."""
    columns: dict[str | None, int] = {session_id: place for place, session_id in enumerate(comparison.sessions)}
    columns[None] = TIE
    return {number: columns[voted] for number, voted in given.items() if voted in columns}


def tally(voted: dict[int, int], columns: int) -> Sequence[int]:
    """How many votes each column has."""
    return [sum(place == column for place in voted.values()) for column in range(columns)]


ROWS_OF_A_ROUND = 5
"""Message, answer, notices, figures, and the review across all columns."""


_NOT_THERE = "There is no run: it was deleted, or the app ended before it began. Send the message again."


def first_row(number: int) -> int:
    """The grid row of a round's message; rounds count from 0, the heads stand in row 1."""
    return 2 + number * ROWS_OF_A_ROUND


@dataclass(slots=True)
class Cell:
    """A column's answer in one round."""

    run_id: str
    turn: Turn
    foot: ui.html
    """Its figures and its vote."""
    answer: AnswerFigures | None = None
    """Known once the run is over and could be read."""
    steps: list[TrajectoryStep] = field(default_factory=list)
    elements: int = 0

    def delete(self) -> None:
        self.turn.delete()
        self.foot.delete()

    def keep(self, trace: StoredTrace) -> None:
        """Remember what the run took, and by which steps."""
        if trace.entries:
            self.answer = AnswerFigures.of(trace.entries)
            self.steps = trajectory(trace.entries)
        self.elements = elements_of(trace.entries) + 2


class CompareColumn(ui.element):
    """Shows the runs it is told, each in the rows of its round."""

    def __init__(self, workbench: Workbench, new_turn: Callable[[str], Turn], *, label: str) -> None:
        """`new_turn` puts an empty turn for a run into the page."""
        super().__init__("section")
        self.classes("compare-column").props("data-testid=compare-column")
        self.props["aria-label"] = label
        self.cells: dict[int, Cell | None] = {}
        """By round; `None` where no run was started."""
        self._blanks: dict[int, tuple[str, ui.html]] = {}
        """By round, where there is no answer: why, and where that stands."""
        self._workbench = workbench
        self._new_turn = new_turn
        with self:
            self.head = ui.html(sanitize=False).classes("compare-head")

    @property
    def latest(self) -> Cell | None:
        """The answer of the newest round."""
        return self.cells[max(self.cells)] if self.cells else None

    @property
    def running(self) -> bool:
        return bool(self._going_on())

    def shows(self, number: int, reply: Reply) -> bool:
        """True when that reply stands in that round already; whether a run that was not there is by now, is not."""
        if (cell := self.cells.get(number)) is not None:
            return cell.run_id == reply.run_id
        return not reply.run_id and number in self._blanks and self._blanks[number][0] == reply.refusal

    def drop(self, number: int) -> None:
        """Take a round off the column."""
        if (cell := self.cells.pop(number, None)) is not None:
            cell.delete()
        if (blank := self._blanks.pop(number, None)) is not None:
            blank[1].delete()

    async def put(self, number: int, reply: Reply, *, first: bool) -> None:
        """Show a reply in its round; `first` puts it above all others."""
        self.drop(number)
        if not reply.run_id:
            self._put_blank(number, reply.refusal)
            return
        run_id = reply.run_id
        trace = await trace_of(self._workbench, run_id)
        if not trace.entries and not self._workbench.rows.get(run_id):
            self._put_blank(number, _NOT_THERE)
            return
        cell = self._new_cell(number, run_id, first=first)
        self.cells[number] = cell
        cell.elements = elements_of(trace.entries) + 2
        if self._workbench.runs.live(run_id) is None:
            await show_stored(self._workbench, cell.turn, trace)
            cell.keep(trace)

    async def follow(self) -> tuple[bool, list[int]]:
        """Show what is new of the run that goes on: whether an entry was, and the rounds that may have ended by it."""
        ended = await self._take_up()
        grown = bool(ended)
        for number, cell in self._going_on():
            live = self._workbench.runs.recent(cell.run_id)
            if live is None:
                continue
            grown = await cell.turn.follow(live) or grown
            if cell.turn.over:
                cell.keep(StoredTrace(live.entries))
                ended.append(number)
        return grown, ended

    async def _take_up(self) -> list[int]:
        """Show anew what was left and is so no more; the rounds in which that was."""
        cells = [(number, cell) for number, cell in self.cells.items() if cell is not None]
        left = {number: cell.run_id for number, cell in cells if is_taken_up(self._workbench, cell.turn)}
        for number, run_id in left.items():
            await self.put(number, Reply(run_id), first=False)
        return list(left)

    def _going_on(self) -> list[tuple[int, Cell]]:
        return [(number, cell) for number, cell in self.cells.items() if cell is not None and not cell.turn.over]

    def _new_cell(self, number: int, run_id: str, *, first: bool) -> Cell:
        row = first_row(number)
        with self:
            turn = self._new_turn(run_id)
            foot = ui.html(sanitize=False).classes("compare-foot")
        turn.style(f"--row: {row}")
        foot.style(f"--row: {row}")
        if first:
            turn.move(self, target_index=1)
            foot.move(self, target_index=2)
        return Cell(run_id, turn, foot)

    def _put_blank(self, number: int, refusal: str) -> None:
        self.cells[number] = None
        with self:
            blank = ui.html(_blank(refusal), sanitize=False).classes("compare-blank")
        self._blanks[number] = refusal, blank.style(f"--row: {first_row(number)}")


def _blank(refusal: str) -> Html:
    return tag(
        "div",
        tag("strong", icon("block"), "Not answered here"),
        tag("div", refusal or "This column did not get the message."),
        cls="notice notice-warn",
        role="alert",
        data_testid="compare-refusal",
    )
