"""The first experiment: three clicks on a dataset that comes with the app, without a key."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.evals import ENDS


@pytest.mark.parametrize("dataset", ["Math tutor sums", "Table cleaner"])
def test_a_sample_dataset_is_tried_with_three_clicks(
    page: Page, dataset: str, screenshot: Callable[[str], Path]
) -> None:
    page.get_by_test_id("nav-evals").click()
    page.get_by_test_id("dataset-row").filter(has_text=dataset).get_by_role("link").click()
    page.get_by_test_id("try-dataset-button").click()
    expect(page.get_by_test_id("experiment-estimate")).to_contain_text("It costs nothing.")
    page.get_by_test_id("experiment-start-button").click()
    page.wait_for_url("**/experiments/*")
    expect(page.locator(".pill-done")).to_be_visible(timeout=ENDS)
    expect(page.get_by_test_id("verdict")).to_contain_text("passed (")
    expect(page.get_by_test_id("verdict")).to_contain_text("nothing to compare")
    expect(page.get_by_test_id("experiment-progress")).not_to_contain_text("error")
    screenshot(f"sample-{dataset.split(maxsplit=1)[0].lower()}")
