"""The first experiment: three clicks, or keys, on a dataset that comes with the app, without a key of a provider."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.evals import ENDS


def ended_well(page: Page) -> None:
    page.wait_for_url("**/experiments/*")
    expect(page.locator(".pill-done")).to_be_visible(timeout=ENDS)
    expect(page.get_by_test_id("verdict")).to_contain_text("passed (")
    expect(page.get_by_test_id("verdict")).to_contain_text("nothing to compare")
    expect(page.get_by_test_id("experiment-progress")).not_to_contain_text("error")


def test_a_sample_dataset_is_tried_with_three_clicks(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.get_by_test_id("nav-evals").click()
    page.get_by_test_id("dataset-row").filter(has_text="Math tutor sums").get_by_role("link").click()
    page.get_by_test_id("try-dataset-button").click()
    expect(page.get_by_test_id("experiment-estimate")).to_contain_text("It costs nothing.")
    page.get_by_test_id("experiment-start-button").click()
    ended_well(page)
    screenshot("sample-experiment")


@pytest.mark.long
def test_a_sample_dataset_is_tried_by_keyboard(page: Page) -> None:
    page.get_by_test_id("nav-evals").press("Enter")
    page.get_by_test_id("dataset-row").filter(has_text="Table cleaner").get_by_role("link").press("Enter")
    page.get_by_test_id("try-dataset-button").press("Enter")
    expect(page.get_by_test_id("experiment-estimate")).to_contain_text("It costs nothing.")
    expect(page.get_by_test_id("experiment-start-button")).to_be_focused()
    page.keyboard.press("Enter")
    ended_well(page)
