"""Models that judge: runs of their own, with their own money, out of every list."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.errors import ModelFailure
from app.domain.evals.judging.fences import unfenced_parts
from app.domain.evals.scorers import Judge, Pairwise
from app.domain.models import Price
from app.domain.trace import RunFilter
from app.engine.experiments.judging import Judging
from app.engine.runs.runs import Runs
from app.store.folder.folder import DataFolder
from app.tools.registry import Registry
from tests.cancelling import AtAwait
from tests.cases import answered
from tests.engine.conftest import QuickClock
from tests.engine.experiments.judges import JudgeModels, decides, prefers
from tests.engine.scripted import reply
from tests.waiting import until

SCORER = Judge(model="good/judge", criteria=("It names the price.",))
TWO = SCORER.model_copy(update={"criteria": ("It names the price.", "It is polite.")})
EVIDENCE = answered("It costs 5 euros.", "5 euros")


class Court(Judging):
    """A judge over real stores, with models of the test."""

    data: DataFolder
    models: JudgeModels

    def says(self, text: str, model: str = "good/judge") -> None:
        self.models.by_name[model] = lambda _: text


@pytest.fixture
async def court(tmp_path: Path) -> AsyncIterator[Court]:
    data, models = DataFolder.open(tmp_path / "data"), JudgeModels()
    registry = Registry(())
    court = Court(Runs(data.traces, data.rows, models, registry, data.artifacts, QuickClock()), data.sessions)
    court.data, court.models = data, models
    yield court
    await court.runs.close()
    await registry.close()
    await data.close()


async def test_a_judge_is_an_ordinary_run_out_of_all_lists_whose_money_counts(court: Court):
    court.models.priced = Price(input=0.00001, output=0.00002)
    court.says(decides("yes", evidence=("costs 5 euros",), reasons="It says so."))
    score = await court.judge(SCORER, EVIDENCE, experiment_id="e1")
    assert (score.value, score.passed, score.reason) == (1.0, True, "It says so.")
    assert score.cost == pytest.approx(0.0003)
    [run_id] = score.runs
    row = court.runs.row(run_id)
    assert (row.purpose, row.agent.slug, row.cost, row.status) == ("judge", "judge", score.cost, "completed")
    assert court.runs.ledger.day_cost() == pytest.approx(0.0003)
    assert court.data.rows.find(RunFilter()).total == 0
    assert court.data.rows.find(RunFilter(behind=True)).total == 1
    assert court.data.sessions.recent() == []
    assert court.data.sessions.get(row.session_id).behind == "e1"
    [request] = court.models.requests
    assert request.tools == () and request.output_schema and len(request.messages) == 1


async def test_what_was_asked_before_is_asked_no_second_time(court: Court):
    court.models.priced = Price(input=0.00001, output=0.00002)
    court.says(decides("no"))
    first, again, other = [
        await court.judge(SCORER, evidence) for evidence in (EVIDENCE, EVIDENCE, answered("Else.", "5 euros"))
    ]
    assert (first.value, again.value, other.value) == (0.0, 0.0, 0.0)
    assert (again.cost, again.runs) == (0.0, first.runs)
    assert other.cost > 0
    await court.judge(SCORER.model_copy(update={"name": "renamed"}), EVIDENCE)
    await asyncio.gather(*(court.judge(SCORER, EVIDENCE) for _ in range(3)))
    assert len(court.models.requests) == 2


async def test_no_verdict_is_no_score_and_is_asked_again(court: Court):
    court.says("I would say yes.")
    score = await court.judge(SCORER, EVIDENCE)
    assert (score.value, score.passed) == (None, None)
    assert "no verdict" in score.reason
    assert len(score.runs) == 1
    court.says(decides("yes"))
    again = await court.judge(SCORER, EVIDENCE)
    assert again.passed and again.runs != score.runs
    session = court.data.sessions.get(court.runs.row(again.runs[0]).session_id)
    assert session.runs == (*score.runs, *again.runs)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (ModelFailure("invalid_key", "The key is wrong."), "The key is wrong."),
        (ModelFailure("safety_filter", "It was refused."), "It was refused."),
        (decides("cannot_tell"), "cannot tell"),
        (reply(decides("yes"), finish="length"), "no verdict"),
        (decides("yes", evidence=("nowhere",)), "nothing that it quotes"),
    ],
)
async def test_a_failure_of_the_judge_is_no_failed_answer(court: Court, said, why):
    court.models.by_name["good/judge"] = lambda _: said
    score = await court.judge(SCORER, EVIDENCE)
    assert score.value is None
    assert why in score.reason


async def test_a_judge_that_is_not_there_is_not_asked(court: Court):
    score = await court.judge(SCORER.model_copy(update={"model": "unknown/judge"}), EVIDENCE)
    assert score.value is None
    assert "There is no provider 'unknown'" in score.reason
    assert score.runs == ()


async def test_a_verdict_in_doubt_is_asked_for_twice_more_and_a_clear_one_is_not(court: Court):
    said = iter([decides("yes", "no"), decides("yes", "yes"), decides("yes", "yes")])
    court.models.by_name["good/judge"] = lambda _: next(said)
    score = await court.judge(TWO.model_copy(update={"votes": 3}), EVIDENCE)
    assert (score.value, len(score.runs)) == (1.0, 3)
    assert score.reason.startswith("Votes 2:1.")
    for clear in (decides("no", "no"), decides("yes", "yes")):
        court.says(clear)
        evidence = answered(clear)
        assert len((await court.judge(TWO.model_copy(update={"votes": 3}), evidence)).runs) == 1


async def test_juries_vote_and_one_that_fails_is_told(court: Court):
    court.says(decides("yes"))
    court.says(decides("no"), "other/judge")
    court.says(decides("yes"), "third/judge")
    jury = SCORER.model_copy(update={"juries": ("other/judge", "third/judge")})
    assert (await court.judge(jury, EVIDENCE)).reason == "Votes 2:1. Because."
    court.says("?", "other/judge")
    score = await court.judge(jury, answered("Five euros."))
    assert (score.value, score.reason) == (1.0, "Judges without a verdict: 1. Because.")


async def test_two_answers_are_compared_in_both_orders(court: Court):
    def fair(request):
        parts, _ = unfenced_parts(request.messages[-1].text)
        return prefers("first" if "5" in parts["FIRST"] else "second")

    court.models.by_name["good/judge"] = fair
    scorer, worse = Pairwise(model="good/judge", criterion="It names the price."), answered("Cheap.", run_id="r2")
    better = await court.compare(scorer, EVIDENCE, worse)
    assert (better.value, better.flipped, len(better.runs)) == (1.0, False, 2)
    assert (await court.compare(scorer, worse, EVIDENCE)).value == 0.0
    court.says(prefers("first"), "biased/judge")
    flipped = await court.compare(scorer.model_copy(update={"model": "biased/judge"}), EVIDENCE, worse)
    assert (flipped.value, flipped.passed, flipped.flipped) == (0.5, True, True)
    asked = len(court.models.requests)
    assert (await court.compare(scorer, EVIDENCE, EVIDENCE)).value == 0.5
    assert (await court.compare(scorer, EVIDENCE, None)).value is None
    assert len(court.models.requests) == asked


async def test_to_break_off_a_scoring_ends_its_runs(court: Court):
    gate = asyncio.Event()

    class Waiting(JudgeModels):
        async def stream(self, request):
            self.requests.append(request)
            await gate.wait()
            yield reply()

    waiting = Waiting()
    court.runs.starting = replace(court.runs.starting, models=waiting)
    scoring = asyncio.create_task(court.judge(SCORER.model_copy(update={"juries": ("other/judge",)}), EVIDENCE))
    await until(lambda: len(waiting.requests) == 2)
    scoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await scoring
    await until(lambda: not court.runs.live_runs())
    rows = court.data.rows.find(RunFilter(behind=True)).rows
    assert {row.status for row in rows} == {"cancelled"}


@pytest.mark.parametrize("function", ["Judging._said", "Judging._begun"])
async def test_to_break_off_a_scoring_at_any_await_leaves_nothing_behind(court: Court, function):
    court.says(decides("yes"))
    loop, nth, reached = asyncio.get_running_loop(), 1, True
    while reached:
        evidence = answered(f"Try {nth}.")
        scoring: list[asyncio.Task] = []
        at_await = AtAwait(function, nth, lambda tasks=scoring: tasks[0].cancel())
        loop.set_task_factory(at_await)
        scoring.append(asyncio.create_task(court.judge(SCORER, evidence)))
        await asyncio.wait(scoring)
        loop.set_task_factory(None)
        await until(lambda: not court.runs.live_runs() and not court.runs.starting.taken)
        reached, nth = at_await.reached, nth + 1
        assert (await court.judge(SCORER, evidence)).passed
    assert nth > 3
    statuses = {row.status for row in court.data.rows.find(RunFilter(behind=True), limit=500).rows}
    assert statuses <= {"completed", "cancelled"}
