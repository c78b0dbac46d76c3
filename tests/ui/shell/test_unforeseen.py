"""What a page says when something in the app fails that nobody foresaw."""

from functools import partial
from pathlib import Path

from nicegui import ui

from app.domain.errors import Conflict
from tests.ui.runs.test_runs_pages import visitor


async def test_a_failure_that_nobody_foresaw_is_said_once_with_a_way_to_report_it(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, _):
        await user.open("/playground")

        def fail() -> None:
            raise KeyError("colour")

        with user.current_layout:
            ui.button("Break", on_click=fail)
        for _ in range(3):
            user.find("Break").click()
        [words] = user.notify.messages
        assert "Report a problem" in words and "/settings?section=data" in words
        assert "colour" not in words


async def test_an_error_with_words_for_people_is_said_in_them(tmp_path: Path) -> None:
    async with visitor(tmp_path) as (user, _):
        await user.open("/playground")

        refusals = ["There is a session of that name already.", "The key was revoked."]

        def refuse(words: str) -> None:
            raise Conflict(words)

        with user.current_layout:
            for words in refusals:
                ui.button(words, on_click=partial(refuse, words))
        for words in refusals:
            user.find(words).click()
        assert user.notify.messages == refusals
