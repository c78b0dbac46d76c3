"""Quick review, by keyboard: blind until the thumb, each thumb kept, a note, a case, a fork, and back."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on
from tests.seeded_evals import seeded

pytestmark = pytest.mark.blank

FAILURES = "/review?queue=failures&experiment=e1"


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    async def seed(folder: Path) -> None:
        await seeded(folder, ["P F"] * 40)

    with app_on(tmp_path_factory.mktemp("evals"), seed) as app:
        yield app


def begun(page: Page, address: str = FAILURES) -> int:
    """Open the queue; how many answers are in it."""
    page.goto(address)
    expect(page.get_by_test_id("review-item").get_by_role("heading", name="Asked")).to_be_visible()
    found = re.search(r"of (\d+)", page.get_by_test_id("review-count").inner_text())
    assert found is not None
    return int(found[1])


def count(page: Page, words: str) -> None:
    expect(page.get_by_test_id("review-count")).to_contain_text(words)


def test_whose_answer_it_is_appears_after_the_thumb(page: Page) -> None:
    total = begun(page)
    item, told = page.get_by_test_id("review-item"), page.get_by_test_id("review-told")
    expect(item).to_contain_text("It is not so.")
    assert not re.search(r"variant|demo/agent|\$", item.inner_text() + told.inner_text())
    expect(page.get_by_test_id("review-calls").locator("ol")).to_be_hidden()
    page.keyboard.press("1")
    expect(told).to_contain_text("variant 2 · demo/agent")
    expect(told.get_by_test_id("review-judge")).to_contain_text("judge")
    expect(page.get_by_test_id("thumb-down")).to_have_attribute("aria-pressed", "true")
    count(page, f"1 of {total} · 1 rated")
    page.keyboard.press("j")
    count(page, f"2 of {total}")
    expect(told).not_to_contain_text("variant")
    page.keyboard.press("k")
    expect(told).to_contain_text("variant 2")
    page.keyboard.press("u")
    count(page, f"1 of {total} · 0 rated")
    expect(told).not_to_contain_text("variant")


def test_keys_rest_while_a_note_is_written_and_the_note_is_kept(page: Page) -> None:
    total = begun(page)
    page.keyboard.press("e")
    note = page.get_by_test_id("review-note")
    expect(note).to_be_focused()
    page.keyboard.type("jk12cfu too short")
    count(page, f"1 of {total} · 0 rated")
    page.keyboard.press("Escape")
    expect(note).not_to_be_focused()
    page.keyboard.press("j")
    count(page, f"2 of {total}")
    expect(note).to_have_value("")
    page.keyboard.press("k")
    expect(note).to_have_value("jk12cfu too short")
    page.keyboard.press("?")
    expect(page.get_by_test_id("shortcuts")).to_contain_text("Take the last thumb back")


def test_a_note_keeps_its_lines_where_it_is_changed_on_the_page_of_its_run(page: Page) -> None:
    begun(page)
    page.get_by_test_id("review-note").fill("To\nBe")
    page.get_by_test_id("review-fork").click()
    expect(page.get_by_test_id("fork-dialog")).to_be_visible()
    page.goto(page.url.partition("?")[0])
    page.get_by_test_id("review-note").click()
    box = page.get_by_test_id("question-input")
    expect(box).to_be_focused()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("!")
    page.get_by_test_id("question-confirm").click()
    expect(page.get_by_test_id("run-note")).to_contain_text("Be!")
    page.get_by_test_id("review-note").click()
    expect(box).to_have_value("To\nBe!")


@pytest.mark.long
def test_thumbs_pressed_in_a_hurry_are_all_kept(page: Page) -> None:
    total = begun(page)
    for _ in range(8):
        page.keyboard.press("1")
        page.keyboard.press("j")
    count(page, f"9 of {total} · 8 rated")
    assert begun(page) == total - 8


@pytest.mark.long
def test_the_note_goes_into_a_case_and_into_a_fork(page: Page) -> None:
    begun(page)
    page.keyboard.press("e")
    page.keyboard.type("Say it politely.")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.get_by_test_id("save-case-dialog").get_by_test_id("case-note")).to_have_value("Say it politely.")
    page.get_by_test_id("case-save").click()
    expect(page.get_by_test_id("case-saved")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("save-case-dialog")).to_have_count(0)
    page.keyboard.press("f")
    page.wait_for_url("**/runs/*fork=note")
    expect(page.get_by_test_id("fork-edit")).to_have_value(re.compile(r"What is \d+ \+ 10\?.*\n\nSay it politely\."))


@pytest.mark.long
def test_criteria_are_answered_with_yes_or_no(page: Page) -> None:
    begun(page)
    yes, no = page.get_by_test_id("review-criterion").all()
    yes.click()
    expect(yes).to_have_attribute("aria-pressed", "true")
    no.click()
    expect(yes).to_have_attribute("aria-pressed", "false")
    no.click()
    expect(no).to_have_attribute("aria-pressed", "false")


def test_a_judge_shows_its_four_counts_and_the_answers_behind_them(page: Page) -> None:
    begun(page)
    page.keyboard.press("1")
    expect(page.get_by_test_id("review-told")).to_contain_text("variant 2")
    page.goto("/review/judges")
    expect(page.get_by_test_id("judge-state")).to_contain_text("uncalibrated")
    side = page.get_by_test_id("judge-table").get_by_role("button").first
    side.click()
    expect(page.get_by_test_id("judge").get_by_role("link").first).to_be_visible()
    assert violations(page) == []


def test_where_nothing_is_left_it_says_so(page: Page) -> None:
    page.goto("/review?queue=flaky&experiment=e1")
    expect(page.get_by_text("Nothing to review here")).to_be_visible()
    assert violations(page) == []


def test_on_a_phone_it_fits(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    begun(page)
    page.get_by_test_id("thumb-up").click()
    expect(page.get_by_test_id("review-told")).to_contain_text("variant 2")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page) == []
