import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random

import pytest

from app.domain.errors import NotFound
from app.domain.evals.agreement import Share
from app.domain.evals.scores import NOTE, RATING, given
from app.domain.provenance import Trigger
from app.engine.experiments.review_rounds import EVERY, Round
from app.workbench import Workbench
from tests.processor import at_work
from tests.seeded_evals import seeded
from tests.seeds import seed_rows, seed_runs


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    """Seven answers of an experiment: one judge said what the scorer said, but for answers that are not so."""
    await seeded(tmp_path, ["PP PF", "PP FF", "FF PE"])
    bench = Workbench.open(tmp_path)
    yield bench
    await bench.close()


def runs(round_: Round) -> list[str]:
    return [item.run_id.partition("-")[2] for item in round_.items]


async def rate(bench: Workbench, round_: Round, said: Sequence[bool]) -> None:
    for good in said:
        assert round_.item is not None
        await bench.reviewing.rate(round_, round_.item, good=good)
        round_.move(1)


async def test_failures_and_flaky_answers_of_an_experiment_are_queued(bench):
    assert runs(await bench.reviewing.begin("failures", "e1")) == ["1-0", "0-0", "1-1", "1-1", "0-1"]
    assert runs(await bench.reviewing.begin("flaky", "e1")) == ["1-0", "1-1"]
    assert len((await bench.reviewing.begin("unreviewed", "e1")).items) == 11


async def test_the_newest_experiment_is_asked_where_none_is_named(bench):
    round_ = await bench.reviewing.begin("flaky")
    assert round_.experiment is not None and round_.experiment.id == "e1"
    assert round_.criteria == ("It answers the question.",)


async def test_without_an_experiment_it_says_so(tmp_path):
    bench = Workbench.open(tmp_path)
    with pytest.raises(NotFound, match="no experiment yet"):
        await bench.reviewing.begin("failures")
    await bench.close()


async def test_what_was_rated_is_queued_no_more(bench):
    round_ = await bench.reviewing.begin("failures", "e1")
    await rate(bench, round_, [False, True])
    assert len((await bench.reviewing.begin("failures", "e1")).items) == 3


async def test_what_a_judge_says_otherwise_is_queued_to_be_looked_at_again(bench):
    round_ = await bench.reviewing.begin("unreviewed", "e1")
    answers = [(item, await bench.reviewing.look(item)) for item in round_.items]
    for item, answer in answers:
        [(_, passed)] = answer.judged
        await bench.reviewing.rate(round_, item, good=not passed if item is round_.items[0] else passed)
    assert runs(await bench.reviewing.begin("judge", "e1")) == runs(round_)[:1]


async def test_a_thumb_is_stored_when_it_is_given_and_taken_back(bench):
    round_ = await bench.reviewing.begin("failures", "e1")
    await rate(bench, round_, [True])
    item = round_.items[0]
    assert bench.scores.marks(item.run_id).rating == "good"
    round_.move(-1)
    await bench.reviewing.rate(round_, item, good=False)
    round_.move(3)
    assert await bench.reviewing.undo(round_)
    assert (bench.scores.marks(item.run_id).rating, round_.item, round_.said[item].value) == ("good", item, 1.0)
    assert await bench.reviewing.undo(round_)
    assert (bench.scores.marks(item.run_id).rating, round_.said) == (None, {})
    assert not await bench.reviewing.undo(round_)


async def test_undo_brings_back_what_was_said_before_the_round(bench):
    first = await bench.reviewing.begin("failures", "e1")
    await rate(bench, first, [True])
    again = Round([first.items[0]], [], Random(1))
    await rate(bench, again, [False])
    assert await bench.reviewing.undo(again)
    assert (bench.scores.marks(first.items[0].run_id).rating, again.said) == ("good", {})


async def test_every_tenth_answer_comes_a_second_time_unseen_and_replaces_nothing(tmp_path):
    await seed_runs(tmp_path, 60)
    bench = Workbench.open(tmp_path)
    round_ = await bench.reviewing.begin("unreviewed", random=Random(3))
    await rate(bench, round_, [True] * 40)
    assert [at % EVERY for at, item in enumerate(round_.items) if item.is_again] == [EVERY - 1] * 4
    assert round_.own == Share(of=4, right=4)
    seen = next(item for item in round_.items if item.is_again)
    await bench.reviewing.rate(round_, seen, good=False)
    assert (bench.scores.marks(seen.run_id).rating, round_.own) == ("good", Share(of=4, right=3))
    assert (await bench.reviewing.begin("unreviewed")).own == Share(of=4, right=3)
    assert await bench.reviewing.undo(round_)
    assert bench.scores.marks(seen.run_id).rating == "good"
    await bench.close()


async def test_a_repetition_shows_no_note_and_no_answer_of_the_first_time(tmp_path):
    await seed_runs(tmp_path, 30)
    bench = Workbench.open(tmp_path)
    round_ = await bench.reviewing.begin("unreviewed", random=Random(3))
    for item in round_.items[: EVERY - 1]:
        await bench.reviewing.say(item, NOTE, note="Too long.")
        await bench.reviewing.say(item, "It is short.", value=0.0)
    await rate(bench, round_, [True] * (EVERY - 1))
    item = round_.item
    assert item is not None and item.is_again
    assert (bench.reviewing.note(item), bench.reviewing.answers(item, ["It is short."])) == ("", {})
    await bench.reviewing.say(item, NOTE, note="Long.")
    assert set(bench.scores.marks(item.run_id).notes) == {"Too long.", "Long."}
    await bench.close()


async def test_notes_and_answers_to_criteria_are_taken_back_by_saying_nothing(bench):
    item = (await bench.reviewing.begin("failures", "e1")).items[0]
    await bench.reviewing.say(item, NOTE, note="Too short.")
    await bench.reviewing.say(item, "It is polite.", value=1.0)
    assert (bench.reviewing.note(item), bench.reviewing.answers(item, ["It is polite."])) == (
        "Too short.",
        {"It is polite.": True},
    )
    await bench.reviewing.say(item, NOTE)
    await bench.reviewing.say(item, "It is polite.")
    assert bench.scores.of(item.run_id) == []


async def test_what_a_program_says_with_a_key_is_no_thumb_of_the_person(bench):
    item = (await bench.reviewing.begin("failures", "e1")).items[0]
    round_ = Round([item], [], Random(1))
    await bench.reviewing.rate(round_, item, good=True)
    [own] = bench.scores.of(item.run_id)
    key = Trigger(kind="api_key", name="n8n", key="k1")
    await bench.scores.give(own.model_copy(update={"id": "other", "by": key, "value": 0.0}))
    assert bench.reviewing.rating(item.run_id) is True
    await bench.reviewing.undo(round_)
    assert item in (await bench.reviewing.begin("failures", "e1")).items


async def test_a_judge_is_told_beside_the_people_who_rated_the_same_answers(bench):
    [judge] = await bench.reviewing.judges()
    assert (judge.scorer.name, judge.rows, judge.agreement.state) == ("judge", (), "uncalibrated")
    round_ = await bench.reviewing.begin("unreviewed", "e1")
    while round_.item is not None:
        await rate(bench, round_, [True])
    [judge] = await bench.reviewing.judges()
    found = judge.agreement
    assert (found.labels, found.only_judge, found.neither) == (11, 0, 0)
    assert found.both >= 5
    assert {row.run_id for row in judge.where(person=True, judge=True)} <= {item.run_id for item in round_.items}


async def test_a_deleted_run_is_told_in_words(bench):
    item = (await bench.reviewing.begin("failures", "e1")).items[0]
    await bench.rows.delete([item.run_id])
    with pytest.raises(NotFound, match="deleted"):
        await bench.reviewing.look(item)
    assert bench.scores.named(RATING) == []


async def test_many_runs_that_were_rated_are_looked_for_beside_the_event_loop(tmp_path):
    await seed_rows(tmp_path, 600)
    bench = Workbench.open(tmp_path)
    await bench.warm()
    rated = [f"seeded-row-{number:06d}" for number in range(600)]
    await asyncio.gather(*(bench.scores.save(given(run_id, RATING, Trigger(kind="page"), value=1)) for run_id in rated))
    assert set((await bench.reviewing.begin("unreviewed")).rated_before) == set(rated)
    looked, begun = [], []
    for _ in range(5):  # a busy machine only adds to it: the quickest counts
        with at_work() as work:
            assert all(bench.rows.get(run_id) for run_id in rated)
        looked.append(work.seconds)
        with at_work() as work:
            await bench.reviewing.begin("unreviewed")
        begun.append(work.seconds)
    assert min(begun) < min(looked) / 2
    await bench.close()
