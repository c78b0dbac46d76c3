"""Quick review, as far as a browser is not needed."""

import asyncio
from pathlib import Path

import pytest
from nicegui.testing.user_interaction import UserInteraction

from app.engine.experiments.review_rounds import QueueName, Round
from app.engine.experiments.reviewing import Reviewing
from app.ui.elements.choice import Choice
from tests.ui.runs.test_runs_pages import sees, visitor, words
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
