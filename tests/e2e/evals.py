"""What a person does on the pages of evals, for tests that do it too."""

from playwright.sync_api import Page, expect

ENDS = 120_000
"""Milliseconds."""


def save_into_new(page: Page, name: str = "") -> None:
    """In the dialog that saves a case: into a dataset of its own, of that name or the one that is offered."""
    page.get_by_test_id("case-dataset").click()
    page.get_by_role("option", name="New dataset…").click()
    if name:
        page.get_by_test_id("case-dataset-name").fill(name)
    page.get_by_test_id("case-save").click()


def add_scorer(page: Page, asked: str = "A number is near the expected one", *, text: str = "") -> None:
    """On the page of a dataset; with the text that answers have to contain, where that is asked."""
    page.get_by_test_id("dataset-scorers").click()
    page.get_by_test_id("new-scorer-button").click()
    page.get_by_test_id("scorer-type").click()
    page.get_by_role("option", name=asked).click()
    if text:
        page.get_by_test_id("field-texts").fill(text)
    page.get_by_test_id("scorer-save").click()
    expect(page.get_by_test_id("scorer-row").last).to_contain_text(asked)


def try_it(page: Page) -> str:
    """The id of an experiment that was tried on the dataset of the page, and has ended."""
    page.get_by_test_id("try-dataset-button").click()
    page.get_by_test_id("experiment-start-button").click()
    page.wait_for_url("**/experiments/*")
    expect(page.locator(".pill-done")).to_be_visible(timeout=ENDS)
    return page.url.rsplit("/", 1)[1]
