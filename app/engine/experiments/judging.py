"""Models that judge: each question is an ordinary run with a purpose, a session and money of its own.

A question is asked once: what was answered to the very same one is read from the trace of that run.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from app.domain.agents import Limits
from app.domain.branches import FIRST
from app.domain.errors import NotFound, WorkbenchError
from app.domain.evals.evidence import Evidence, final_answer
from app.domain.evals.experiments import CellScore
from app.domain.evals.judging.questions import SYSTEM, Question, judge_question, judged_text, pair_question
from app.domain.evals.judging.replies import (
    CriteriaReply,
    PairReply,
    Verdict,
    agreed,
    check_quotes,
    compared,
    read_reply,
    verdict_of,
)
from app.domain.evals.scorers import Judge, Pairwise
from app.domain.evals.scoring.opinion import NotScored, Opinion, not_scored, score_of
from app.domain.events import Entry, RunStarted
from app.domain.messages import system_message, user_message
from app.domain.provenance import AgentRef, Trigger
from app.domain.sessions import Session
from app.domain.trace import error_of, finished
from app.domain.values import new_id, now
from app.engine.ports import SessionStore
from app.engine.run.run import Run
from app.engine.runs.runs import Runs

JUDGE = AgentRef(id="judge", slug="judge", name="Judge", variant=1)
LIMITS = Limits(max_steps=1, total_time=300, day_cost=1e6)
"""The ceilings of an experiment and of all agents together hold its money."""
BY_ITSELF = Trigger(kind="job", name="judge")
SAME = Opinion(0.5, "Both answers are the same.")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Said(Generic[T]):
    """What one judge said, once."""

    verdict: T | None
    """`None`: it gave none."""
    why: str
    """Why it gave none."""
    run_id: str = ""
    """Empty where no run began."""
    cost: float = 0.0
    """US dollars, of a run that was made for it."""


@dataclass
class Judging:
    runs: Runs
    sessions: SessionStore

    def __post_init__(self) -> None:
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def judge(self, scorer: Judge, evidence: Evidence, *, experiment_id: str = "") -> CellScore:
        """What the judge and its juries say of the answer; what went wrong with each of them is a reason."""
        question, models = judge_question(scorer, evidence), (scorer.model, *scorer.juries)
        judged, count = judged_text(question), len(scorer.criteria)

        def read(text: str) -> Verdict:
            return verdict_of(read_reply(CriteriaReply, text), count=count, judged=judged)

        said = await self._all([(question, model, 0) for model in models], read, experiment_id)
        if scorer.votes > 1 and _contested([one.verdict for one in said]):
            more = [(question, model, number) for model in models for number in range(1, scorer.votes)]
            said += await self._all(more, read, experiment_id)
        verdicts = [one.verdict for one in said if one.verdict is not None]

        def opinion() -> Opinion:
            if not verdicts:
                raise NotScored(said[0].why)
            return agreed(verdicts, silent=len(said) - len(verdicts))

        return _score(scorer, opinion, said, question)

    async def compare(
        self, scorer: Pairwise, evidence: Evidence, baseline: Evidence | None, *, experiment_id: str = ""
    ) -> CellScore:
        """Whether the answer is better than the baseline's, 1, or worse, 0; asked in both orders at once."""
        if baseline is None:
            return not_scored(scorer, NotScored("There is no answer of the baseline to compare this one with."))
        ours, theirs = evidence.answer, baseline.answer
        questions = [pair_question(scorer, evidence, ours, theirs), pair_question(scorer, evidence, theirs, ours)]
        if ours.strip() == theirs.strip():
            return _score(scorer, lambda: SAME, [], questions[0])
        judged = judged_text(questions[0])

        def read(text: str) -> PairReply:
            return check_quotes(read_reply(PairReply, text), judged=judged)

        said = await self._all([(question, scorer.model, 0) for question in questions], read, experiment_id)
        flips: list[bool] = []

        def opinion() -> Opinion:
            first, second = (one.verdict for one in said)
            if first is None or second is None:
                raise NotScored(next(one.why for one in said if one.verdict is None))
            found, flipped = compared(first, second)
            flips.append(flipped)
            return found

        score = _score(scorer, opinion, said, questions[0])
        return score.model_copy(update={"flipped": flips[0] if flips else None})

    async def _all(
        self, asked: Iterable[tuple[Question, str, int]], read: Callable[[str], T], experiment_id: str
    ) -> list[Said[T]]:
        """All of them at once; cancelling it ends them."""
        async with asyncio.TaskGroup() as group:
            asks = [group.create_task(self._said(*one, read, experiment_id)) for one in asked]
        return [ask.result() for ask in asks]

    async def _said(
        self, question: Question, model: str, number: int, read: Callable[[str], T], experiment_id: str
    ) -> Said[T]:
        """What that model says to the question, asked for that time; out of an earlier run where it said so before."""
        key = hashlib.sha256(f"{experiment_id} {model} {number} {question.digest}".encode()).hexdigest()[:40]
        async with self._asking.setdefault(key, asyncio.Lock()):
            try:
                session = self._session(key)
                for run_id in session.runs if session else ():
                    if (known := await self._known(run_id, read)) is not None:
                        return known
                live = await self._ended(session or _session(key, question, experiment_id), question, model)
            except WorkbenchError as error:
                return Said(None, f"The judge was not asked: {error}")
        said = _heard(live.run_id, live.entries, read)
        return Said(said.verdict, said.why, said.run_id, self.runs.ledger.run_cost(live.budget.account))

    def _session(self, key: str) -> Session | None:
        try:
            return self.sessions.get(key)
        except NotFound:
            return None

    async def _known(self, run_id: str, read: Callable[[str], T]) -> Said[T] | None:
        try:
            said = _heard(run_id, (await self.runs.trace(run_id)).entries, read)
        except NotFound:
            return None
        return said if said.verdict is not None else None

    async def _ended(self, session: Session, question: Question, model: str) -> Run:
        """A run that asks it, from its start to its end."""
        await self.runs.models.check(model)
        run_id = new_id()
        try:
            live = await self.runs.unbroken.or_undone(self._begun(session, run_id, question, model))
            await live.ended()
        except asyncio.CancelledError:
            self.runs.unbroken.begin(self._stopped(run_id))
            raise
        return live

    async def _begun(self, session: Session, run_id: str, question: Question, model: str) -> Run:
        if session.runs:
            update = {"runs": (*session.runs, run_id)}
            await self.sessions.change(session.id, lambda newest: newest.model_copy(update=update))
        else:
            await self.sessions.create(session.model_copy(update={"runs": (run_id,)}))
        started = RunStarted(
            session_id=session.id,
            agent=JUDGE,
            model=model,
            limits=LIMITS,
            system=system_message(SYSTEM),
            follows=FIRST,
            output_schema=question.schema,
            trigger=BY_ITSELF,
            purpose="judge",
        )
        return await self.runs.start(started, user_message(question.written()), run_id=run_id)

    async def _stopped(self, run_id: str) -> None:
        """End the run, also where it is about to begin."""
        await self.runs.starting.settled(run_id)
        self.runs.stop(run_id)


def _session(key: str, question: Question, experiment_id: str) -> Session:
    began = now()
    return Session(
        id=key,
        agent_id=JUDGE.id,
        agent_slug=JUDGE.slug,
        variant=JUDGE.variant,
        title=question.title[:80],
        behind=experiment_id or JUDGE.slug,
        created_at=began,
        updated_at=began,
    )


def _heard(run_id: str, entries: list[Entry], read: Callable[[str], T]) -> Said[T]:
    """What a run came to."""
    end, error = finished(entries), error_of(entries)
    if end is None or end.status != "completed":
        words = error.text if error else f"its run {end.status}" if end else "its run was left without an end"
        return Said(None, f"The judge gave no verdict: {words}", run_id)
    try:
        return Said(read(final_answer(entries)), "", run_id)
    except NotScored as why:
        return Said(None, str(why), run_id)


def _contested(verdicts: list[Verdict | None]) -> bool:
    """Whether judges disagree or one is in doubt; a clear no is no reason to ask again, as a clear yes is none."""
    return any(one is None or one.in_doubt or verdicts[0] is None or one.meets != verdicts[0].meets for one in verdicts)


def _score(
    scorer: Judge | Pairwise, opinion: Callable[[], Opinion], said: list[Said[T]], question: Question
) -> CellScore:
    as_it_was = hashlib.sha256(f"{scorer.digest} {SYSTEM} {question.task}".encode()).hexdigest()
    try:
        score = score_of(scorer, opinion(), as_it_was=as_it_was)
    except NotScored as why:
        score = not_scored(scorer, why).model_copy(update={"scorer": as_it_was})
    runs = tuple(one.run_id for one in said if one.run_id)
    return score.model_copy(update={"runs": runs, "cost": sum(one.cost for one in said)})
