"""Comparing: one message goes to two to four sessions at once, each with another variant or model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from app.domain.comparisons import ColumnChoice, ComparedTurn, Comparison
from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.domain.evals.scores import TIE, VOTE, Score, given
from app.domain.messages import Attachment, user_message
from app.domain.provenance import Trigger
from app.domain.sessions import Session, title_of
from app.domain.values import new_id, now
from app.engine.ports import ComparisonStore, ScoreStore, SessionStore
from app.engine.run.run import Run
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.engine.sessions.turns import checked

FEWEST_COLUMNS = 2
MOST_COLUMNS = 4

Sent = Run | WorkbenchError
"""What became of a message in one column: a run, or why there is none."""


@dataclass
class Compare:
    chat: Chat
    sessions: SessionStore
    comparisons: ComparisonStore
    runs: Runs
    scores: ScoreStore

    def __post_init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def start(self, columns: Sequence[ColumnChoice]) -> Comparison:
        """A comparison with an empty session for each column.

        Raises `WorkbenchError` for fewer than two or more than four columns, `NotFound` for a variant there is not.
        """
        if not FEWEST_COLUMNS <= len(columns) <= MOST_COLUMNS:
            raise WorkbenchError(
                f"A comparison has {FEWEST_COLUMNS} to {MOST_COLUMNS} columns, not {len(columns)}. "
                + ("Add another variant or model." if len(columns) < FEWEST_COLUMNS else "Take some away.")
            )
        for column in columns:
            self._check(column)
        comparison_id, began = new_id(), now()
        sessions = [
            await self.chat.new_session(one.agent_id, one.variant, model=one.model, comparison=comparison_id)
            for one in columns
        ]
        comparison = Comparison(
            id=comparison_id,
            sessions=tuple(session.id for session in sessions),
            created_at=began,
            updated_at=began,
        )
        return await self.comparisons.create(comparison)

    async def send(self, comparison_id: str, text: str, attachments: tuple[Attachment, ...] = ()) -> list[Sent]:
        """Send the message to all columns at once; by column: the run that began, or why none did.

        The turn is on disk before its runs begin: what one of them costs is never without its comparison.
        Raises `WorkbenchError` for an empty message, `TooLarge`, `Conflict` while a column is still answering,
        `StorageError` and begins nothing.
        """
        return await self.runs.unbroken(self._sent(comparison_id, checked(text, attachments), attachments))

    async def _sent(self, comparison_id: str, text: str, attachments: tuple[Attachment, ...]) -> list[Sent]:
        async with self._locks.setdefault(comparison_id, asyncio.Lock()):
            comparison = self.comparisons.get(comparison_id)
            if self.live_runs(comparison_id):
                raise Conflict("Not all columns have finished their answer. Stop them, or wait until they have.")
            turn = ComparedTurn(text=text, runs={session_id: new_id() for session_id in comparison.sessions})
            title = title_of(user_message(text, *attachments).headline)
            await self.comparisons.change(comparison_id, lambda newest: _with_turn(newest, turn, title))
            sending = (self._send(one, text, run_id, attachments) for one, run_id in turn.runs.items())
            sent = await asyncio.gather(*sending)
            became = dict(zip(comparison.sessions, sent, strict=True))
            if any(isinstance(one, WorkbenchError) for one in sent):
                await self.comparisons.change(comparison_id, lambda newest: _with_refusals(newest, turn, became))
            return list(sent)

    def sending(self, comparison_id: str) -> bool:
        """True while a message is on its way to the columns: not all of its runs are there yet."""
        return (lock := self._locks.get(comparison_id)) is not None and lock.locked()

    def live_runs(self, comparison_id: str) -> list[Run]:
        """The runs of its columns that go on."""
        columns = self.comparisons.get(comparison_id).sessions
        return [live for session_id in columns if (live := self.runs.of_session(session_id)) is not None]

    def stop(self, comparison_id: str) -> None:
        """End the runs of all columns."""
        for live in self.live_runs(comparison_id):
            live.stop()

    async def vote(self, comparison_id: str, turn: int, session_id: str | None) -> None:
        """Keep whose answer was the better one in that turn, counted from 0; `None` takes the vote back."""
        comparison = self.comparisons.get(comparison_id)
        runs = _turn(comparison, turn).runs
        if session_id is not None:
            _column(comparison, session_id)
        if session_id is not None and session_id not in runs:
            raise NotFound("There is no answer in this column to vote for. Send the message again.")
        before = self._votes(comparison, turn)
        if session_id is not None:
            await self.scores.give(given(runs[session_id], VOTE, Trigger(kind="page"), value=1.0))
        for vote in before:
            await self.scores.delete(vote.id)

    async def call_tie(self, comparison_id: str, turn: int) -> None:
        """Keep that no answer in that turn, counted from 0, was better than the others; `vote` takes it back."""
        comparison = self.comparisons.get(comparison_id)
        runs = _turn(comparison, turn).runs
        if len(runs) < FEWEST_COLUMNS:
            raise NotFound("A tie is between two answers at least. Send the message again.")
        for vote in self._votes(comparison, turn):
            await self.scores.delete(vote.id)
        for run_id in runs.values():
            await self.scores.give(given(run_id, VOTE, Trigger(kind="page"), value=0.5, label=TIE))

    def votes(self, comparison: Comparison) -> dict[int, str | None]:
        """By turn, counted from 0: the session whose answer was the better one, `None` for a tie."""
        found: dict[int, str | None] = {}
        for number, turn in enumerate(comparison.turns):
            cast = {vote.run_id: vote for vote in self._votes(comparison, number)}
            for session_id, run_id in turn.runs.items():
                if vote := cast.get(run_id):
                    found[number] = None if vote.label == TIE else session_id
        return found

    def _votes(self, comparison: Comparison, turn: int) -> list[Score]:
        runs = comparison.turns[turn].runs.values()
        return [score for run_id in runs for score in self.scores.of(run_id) if score.name == VOTE]

    async def open_column(self, comparison_id: str, session_id: str) -> Session:
        """The column's session, from now on listed among the sessions; it stays a column as well."""
        _column(self.comparisons.get(comparison_id), session_id)
        return await self.sessions.change(
            session_id, lambda session: session.model_copy(update={"comparison": "", "updated_at": now()})
        )

    def _check(self, column: ColumnChoice) -> None:
        agent = self.chat.agents.get(column.agent_id)
        agent.variant(column.variant)
        if agent.deleted_at is not None:
            raise NotFound(f"Agent {agent.name!r} is deleted. Restore it, or choose another one.")

    async def _send(self, session_id: str, text: str, run_id: str, attachments: tuple[Attachment, ...]) -> Sent:
        try:
            return await self.chat.send(session_id, text, attachments, purpose="compare", run_id=run_id)
        except WorkbenchError as error:
            return error


def _with_refusals(comparison: Comparison, turn: ComparedTurn, sent: dict[str, Sent]) -> Comparison:
    refusals = {session_id: str(one) for session_id, one in sent.items() if isinstance(one, WorkbenchError)}
    runs = {session_id: run_id for session_id, run_id in turn.runs.items() if session_id not in refusals}
    settled = turn.model_copy(update={"runs": runs, "refusals": refusals})
    turns = (settled if one == turn else one for one in comparison.turns)
    return comparison.model_copy(update={"turns": tuple(turns)})


def _with_turn(comparison: Comparison, turn: ComparedTurn, title: str) -> Comparison:
    changes = {
        "turns": (*comparison.turns, turn),
        "title": comparison.title or title,
        "updated_at": now(),
    }
    return comparison.model_copy(update=changes)


def _turn(comparison: Comparison, turn: int) -> ComparedTurn:
    if not 0 <= turn < len(comparison.turns):
        raise NotFound(f"This comparison has no turn {turn + 1}. Reload the page to see how it stands.")
    return comparison.turns[turn]


def _column(comparison: Comparison, session_id: str) -> None:
    if session_id not in comparison.sessions:
        raise NotFound("This column is not part of the comparison. Reload the page to see how it stands.")
