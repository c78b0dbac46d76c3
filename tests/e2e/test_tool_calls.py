"""Tool calls on a session's page: questions, changed arguments, progress, results that are too big."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.apps import app_on
from tests.e2e.playground import finished, send, start_session


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("obeying"), module="tests.e2e.obeying_app") as app:
        yield app


def call(page: Page, name: str, **arguments: object) -> Locator:
    """The answer to a message that makes this call."""
    start_session(page, "Obedient")
    return send(page, json.dumps({"name": name, "arguments": arguments}))


def test_a_tools_question_is_answered_in_a_form(page: Page) -> None:
    answer = call(page, "tailor")
    card = answer.get_by_test_id("question-card")
    expect(card).to_contain_text("The tailor asks")
    expect(page.get_by_test_id("status-pill")).to_have_text("Paused")
    card.get_by_test_id("answer-button").click()  # the size is missing
    expect(card.locator("[data-fault]").first).to_be_visible()
    card.get_by_label("Size").fill("42")
    card.get_by_test_id("answer-button").click()
    finished(page)
    expect(card).to_have_count(0)
    expect(answer).to_contain_text("Answered: Which size?")
    expect(answer.get_by_test_id("tool-result").first).to_contain_text('"size": 42')


def test_a_declined_question_is_told_to_the_tool(page: Page) -> None:
    answer = call(page, "tailor")
    answer.get_by_test_id("decline-button").click()
    finished(page)
    expect(answer).to_contain_text("Declined: Which size?")
    expect(answer.get_by_test_id("tool-result").first).to_contain_text("decline")


def test_a_running_call_shows_how_far_it_is(page: Page) -> None:
    answer = call(page, "climb")
    expect(answer.get_by_test_id("tool-progress")).to_have_text("50 % at the hut")
    answer.get_by_test_id("answer-button").click()
    finished(page)
    expect(answer.get_by_test_id("tool-progress")).to_have_count(0)


def test_a_message_waits_for_a_tool_that_may_not_be_interrupted(page: Page, tmp_path: Path) -> None:
    answer = call(page, "wait_for", path=str(tmp_path / "there"))
    expect(answer.get_by_role("status")).to_have_text(re.compile("Calling Wait for"))
    page.get_by_test_id("chat-input").fill(json.dumps({"name": "recite", "arguments": {"lines": 2}}))
    page.get_by_test_id("steer-button").click()
    expect(answer.get_by_role("status")).to_have_text(re.compile("Waiting for Wait for"))
    expect(page.get_by_test_id("queued-message")).to_contain_text("waits for a tool that cannot be interrupted")
    (tmp_path / "there").touch()
    finished(page)
    expect(answer.get_by_test_id("tool-result").first).to_contain_text("it is there")
    expect(answer.get_by_test_id("user-message")).to_contain_text("recite")
    expect(answer.get_by_test_id("tool-call")).to_have_count(2)


def test_arguments_may_be_changed_before_a_call_is_allowed(page: Page) -> None:
    answer = call(page, "add", x=1, y=2)
    card = answer.get_by_test_id("approval-card")
    expect(card).to_contain_text('"x": 1')
    card.get_by_test_id("edit-arguments-button").click()
    card.get_by_label("x").fill("40")
    card.get_by_test_id("approve-button").click()
    finished(page)
    expect(answer).to_contain_text("with other arguments")
    expect(answer.get_by_test_id("tool-result").first).to_contain_text("40 + 2 = 42")


@pytest.mark.long
def test_all_of_a_big_result_can_be_seen_and_downloaded(page: Page) -> None:
    answer = call(page, "recite", lines=5000)
    finished(page)
    answer.get_by_test_id("tool-call").locator("summary").click()
    body = answer.locator(".tool-body")
    expect(body.get_by_test_id("tool-result")).to_contain_text("read_result(")
    expect(body.get_by_test_id("tool-result")).not_to_contain_text("line 4999")
    with page.expect_download() as download:
        body.get_by_test_id("artifact-download").click()
    assert download.value.suggested_filename == "recite-result.txt"
    assert download.value.path().read_text().endswith("line 4999")
    body.get_by_test_id("artifact-show").click()
    expect(page.get_by_test_id("result-view")).to_contain_text("line 4999")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("result-view")).to_have_count(0)
