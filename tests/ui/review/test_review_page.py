"""Quick review, as far as a browser is not needed."""

import asyncio
from pathlib import Path

import pytest
from nicegui.testing.user_interaction import UserInteraction

from app.engine.experiments.review_rounds import QueueName, ReviewItem, Round
from app.engine.experiments.reviewing import ReviewAnswer, Reviewing
from app.ui.elements.choice import Choice
from tests.seeds import seed_runs
from tests.ui.runs.test_runs_pages import marked, sees, visitor, words
from tests.waiting import until


async def test_answers_that_come_late_take_no_place_of_those_that_were_asked_for_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begin, begun, let_go, found = Reviewing.begin, asyncio.Event(), asyncio.Event(), list[QueueName]()

    async def late(reviewing: Reviewing, queue: QueueName, experiment_id: str = "") -> Round:
        try:
            if queue == "failures":
                begun.set()
                await let_go.wait()
            return await begin(reviewing, queue, experiment_id)
        finally:
            found.append(queue)

    monkeypatch.setattr(Reviewing, "begin", late)
    async with visitor(tmp_path) as (user, _):
        await user.open("/review")
        await sees(user, "review-queue-failures")
        choices = [one for one in user.current_layout.descendants() if isinstance(one, Choice)]
        [queues] = [one for one in choices if one.props["aria-label"] == "Which answers"]
        UserInteraction(user, {queues}, None).trigger("click", ["failures"])
        await begun.wait()
        UserInteraction(user, {queues}, None).trigger("click", ["random"])
        await until(lambda: found == ["unreviewed", "random"])
        let_go.set()
        await until(lambda: "failures" in found)
        await asyncio.sleep(0.1)
        assert "nobody has asked an agent yet" in words(user)


async def test_a_thumb_that_waits_its_turn_is_given_in_the_round_in_which_it_was_pressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await seed_runs(tmp_path, 5)
    begin, look, rounds, rated = Reviewing.begin, Reviewing.look, list[Round](), list[Round]()
    looking, let_go = asyncio.Event(), asyncio.Event()

    async def noted(reviewing: Reviewing, queue: QueueName, experiment_id: str = "") -> Round:
        rounds.append(found := await begin(reviewing, queue, experiment_id))
        return found

    async def slow(reviewing: Reviewing, item: ReviewItem) -> ReviewAnswer:
        if rounds[0].at == 1 and len(rounds) == 1:
            looking.set()
            await let_go.wait()
        return await look(reviewing, item)

    async def rate(_reviewing: Reviewing, in_round: Round, _item: ReviewItem, *, good: bool) -> None:
        rated.append(in_round)

    for name, done in (("begin", noted), ("look", slow), ("rate", rate)):
        monkeypatch.setattr(Reviewing, name, done)
    async with visitor(tmp_path) as (user, _):
        await user.open("/review")
        await until(lambda: "1 of 5" in words(user) and marked(user, "review-item"))
        user.find("Next").click()
        await looking.wait()
        user.find("Good").click()
        choices = [one for one in user.current_layout.descendants() if isinstance(one, Choice)]
        [queues] = [one for one in choices if one.props["aria-label"] == "Which answers"]
        UserInteraction(user, {queues}, None).trigger("click", ["random"])
        await until(lambda: len(rounds) == 2)
        await asyncio.sleep(0.05)
        let_go.set()
        await until(lambda: rated)
        assert rated == [rounds[0]]
