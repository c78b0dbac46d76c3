"""From a dataset that comes with the app to its matrix, and from there to what is to be reviewed."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.evals import try_it


@pytest.mark.long
def test_a_sample_dataset_leads_to_its_matrix_and_to_a_review(page: Page) -> None:
    page.get_by_test_id("nav-evals").click()
    page.get_by_test_id("dataset-row").first.get_by_role("link").first.click()
    page.wait_for_url("**/evals/*")
    experiment = try_it(page)
    page.get_by_test_id("open-matrix").click()
    page.wait_for_url(f"**/matrix/{experiment}")
    cells = page.get_by_test_id("matrix-cell")
    expect(cells.first).to_be_visible()
    cells.first.click()
    expect(page.get_by_test_id("matrix-pair")).to_contain_text("in one column")
    expect(page.get_by_test_id("matrix-pair").get_by_role("link", name="Open the run")).to_be_visible()
    page.keyboard.press("Escape")
    page.goto(f"/review?experiment={experiment}")
    expect(page.get_by_test_id("review-item").get_by_role("heading", name="Answered")).to_be_visible()
    page.keyboard.press("2")
    expect(page.get_by_test_id("review-told")).to_contain_text("variant 1")
