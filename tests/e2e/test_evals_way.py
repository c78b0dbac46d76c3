"""The whole way on a sample, without a key: from a run over a verdict and a review to a better variant, and back."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.evals import ENDS
from tests.e2e.playground import ask, start_session

LONG_SUMS = "Math tutor, long sums"


@pytest.mark.long
def test_a_run_leads_to_a_better_variant_that_is_promoted_and_taken_back(
    page: Page, screenshot: Callable[[str], Path]
) -> None:
    save_a_variant_that_is_worse(page)
    save_a_run(page)
    experiment = try_both(page)
    look_at_the_matrix(page, experiment)
    review_failures(page, experiment)
    save_what_is_suggested(page, experiment)
    screenshot("way-suggested")
    promote_past_the_gate(page)
    screenshot("way-promoted")
    variant(page, 1).get_by_test_id("promote-button").click()
    expect(status(page, 1)).to_have_text("Active")
    expect(variant(page, 3).get_by_test_id("promote-button")).to_have_text("Roll back")


def save_a_variant_that_is_worse(page: Page) -> None:
    """One that may take two steps."""
    page.goto("/agents/math-tutor")
    page.get_by_test_id("editor-tab-limits").click()
    page.get_by_test_id("setting-max-steps").fill("2")
    page.get_by_test_id("save-variant-button").click()
    page.get_by_test_id("side-variants").click()
    expect(variant(page, 2)).to_be_visible()


def save_a_run(page: Page) -> None:
    page.goto("/playground")
    start_session(page, "Math tutor")
    ask(page, "What is 12 * 7?").get_by_test_id("save-as-case-button").click()
    page.get_by_test_id("case-dataset").click()
    page.get_by_role("option", name=LONG_SUMS).click()
    page.get_by_test_id("case-must-pass").click()
    page.get_by_test_id("case-save").click()
    page.get_by_test_id("case-open").click()
    page.wait_for_url("**/evals/math-tutor-long-sums*")
    ask_of_the_case(page, "84")


def ask_of_the_case(page: Page, text: str) -> None:
    """In its dialog: answers have to contain the text, because the dataset asks what its cases ask."""
    page.get_by_test_id("new-check-button").click()
    page.get_by_test_id("scorer-type").click()
    page.get_by_role("option", name="The answer contains texts").click()
    page.get_by_test_id("field-texts").fill(text)
    page.get_by_test_id("scorer-save").click()
    expect(page.get_by_test_id("case-check")).to_contain_text(f"all of {text}")
    page.get_by_test_id("case-dialog-save").click()
    expect(page.get_by_test_id("case-dialog")).to_have_count(0)


def try_both(page: Page) -> str:
    """Three clicks: the dataset, *Try it*, *Start*."""
    page.get_by_test_id("nav-evals").click()
    page.get_by_test_id("dataset-row").filter(has_text=LONG_SUMS).get_by_role("link").first.click()
    page.get_by_test_id("try-dataset-button").click()
    expect(page.get_by_test_id("experiment-estimate")).to_contain_text("It costs nothing.")
    page.get_by_test_id("experiment-start-button").click()
    page.wait_for_url("**/experiments/*")
    expect(page.locator(".pill-done")).to_be_visible(timeout=ENDS)
    return page.url.rsplit("/", 1)[1]


def look_at_the_matrix(page: Page, experiment: str) -> None:
    page.get_by_test_id("open-matrix").click()
    page.wait_for_url(f"**/matrix/{experiment}")
    expect(page.get_by_test_id("matrix-cell").first).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(":focus")).to_have_attribute("data-beside", re.compile("worse|better"))
    page.keyboard.press("Enter")
    pair = page.get_by_test_id("matrix-pair")
    expect(pair).to_contain_text("in two columns")
    expect(pair.get_by_test_id("pair-body")).to_contain_text("Step 1")
    page.keyboard.press("Escape")
    expect(pair).to_have_count(0)


def review_failures(page: Page, experiment: str) -> None:
    page.get_by_role("link", name="Review its failures").click()
    page.wait_for_url(f"**/review?*experiment={experiment}*")
    expect(page.get_by_test_id("review-item").get_by_role("heading", name="Answered")).to_be_visible()
    page.keyboard.press("1")
    expect(page.get_by_test_id("review-told")).to_contain_text("variant")
    page.keyboard.press("e")
    page.keyboard.type("It stops before it is done.")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.get_by_test_id("review-count")).to_contain_text("2 of")


def save_what_is_suggested(page: Page, experiment: str) -> None:
    page.goto(f"/experiments/{experiment}")
    page.get_by_test_id("open-suggest").click()
    page.get_by_test_id("suggest-variant").click()
    page.get_by_role("option", name="v1").click()
    page.get_by_test_id("suggest-start").click()
    expect(page.get_by_test_id("suggest-status")).to_have_attribute("data-status", "done", timeout=ENDS)
    expect(page.get_by_test_id("suggest-outcome")).to_contain_text("better")
    page.get_by_test_id("suggest-save").click()
    expect(page.get_by_test_id("suggest-saved")).to_contain_text("Variant 3 is saved and not active.")


def promote_past_the_gate(page: Page) -> None:
    page.get_by_test_id("suggest-saved").get_by_role("link").click()
    page.get_by_test_id("side-variants").click()
    page.get_by_test_id("agent-gate").click()
    page.get_by_test_id("gate-dataset").click()
    page.get_by_role("option", name=LONG_SUMS).click()
    expect(page.get_by_test_id("gate-notices")).to_contain_text("37 cases, of which 1 must pass in every try.")
    page.get_by_test_id("gate-repeats").fill("1")
    page.get_by_test_id("gate-save").click()
    state = variant(page, 3).get_by_test_id("gate-state")
    expect(state).to_have_attribute("data-state", "amber")
    variant(page, 3).get_by_test_id("promote-button").click()
    page.get_by_test_id("gate-run").click()
    page.wait_for_url("**/experiments/*")
    expect(page.locator(".pill-done")).to_be_visible(timeout=ENDS)
    page.locator(".experiment-facts").get_by_role("link", name="Math tutor", exact=True).click()
    page.get_by_test_id("side-variants").click()
    expect(state).to_have_attribute("data-state", "green", timeout=ENDS)
    variant(page, 3).get_by_test_id("promote-button").click()
    expect(status(page, 3)).to_have_text("Active")


def variant(page: Page, number: int) -> Locator:
    return page.locator(f"[data-testid=variant-row][data-variant='{number}']")


def status(page: Page, number: int) -> Locator:
    return variant(page, number).get_by_test_id("variant-status")
