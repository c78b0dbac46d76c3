"""The matrix of an experiment, by keyboard: what got worse, both runs of a cell, filters and pins in the address."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on
from tests.e2e.conftest import WINDOW
from tests.e2e.test_accessible import STILL
from tests.seeded_evals import seeded

ROWS = ("PP PP PP", "PP FF PP", "FF PP FF", "PF PF PF", "PP PE PP", "PP PF FF", *["PP PP PP"] * 54)
ADDRESS = "/matrix/e1"

pytestmark = pytest.mark.blank


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    async def seed(folder: Path) -> None:
        await seeded(folder, ROWS)

    with app_on(tmp_path_factory.mktemp("evals"), seed) as app:
        yield app


@pytest.fixture(autouse=True)
def wide(page: Page) -> Iterator[None]:
    yield
    page.set_viewport_size(WINDOW)


def opened(page: Page, query: str = "") -> None:
    page.goto(f"{ADDRESS}{query}")
    expect(page.locator(".matrix-cell:visible").first).to_be_visible()


def shows(page: Page, *wanted: str) -> None:
    expect(page.locator(".matrix-number")).to_have_text(list(wanted))
    told = f"{len(wanted)} of 60 cases shown."  # stands below the table: where it is said, nothing moves any more
    expect(page.locator(".matrix-notes [role=status]")).to_have_text(told)


@pytest.mark.long
def test_it_is_found_from_the_navigation(page: Page) -> None:
    page.goto("/")
    page.get_by_test_id("nav-matrix").click()
    page.get_by_test_id("matrix-row-link").click()
    page.wait_for_url("**/matrix/e1")
    expect(page.get_by_test_id("matrix")).to_be_visible()
    expect(page.get_by_test_id("nav-matrix")).to_have_attribute("aria-current", "page")


def test_regressions_stand_first_and_what_is_equal_is_left_out(page: Page) -> None:
    opened(page)
    shows(page, "2", "6", "3", "5", "4")
    expect(page.get_by_test_id("verdict").first).to_contain_text("1 better, 2 worse of 60: cannot tell")
    page.get_by_test_id("matrix-only-different").click()
    expect(page.get_by_test_id("matrix-row")).to_have_count(50)
    page.get_by_test_id("next-page").click()
    expect(page.get_by_test_id("matrix-row")).to_have_count(10)
    expect(page).to_have_url(re.compile(r"all=1&page=2"))


def test_by_keyboard_one_goes_from_difference_to_difference_and_opens_both_runs(page: Page) -> None:
    opened(page)
    page.add_style_tag(content=STILL)
    page.keyboard.press("n")
    expect(page.locator(":focus")).to_have_attribute("data-cell", "2.1")
    page.keyboard.press("ArrowRight")
    expect(page.locator(":focus")).to_have_attribute("data-cell", "2.2")
    page.keyboard.press("ArrowDown")
    expect(page.locator(":focus")).to_have_attribute("data-cell", "6.2")
    page.keyboard.press("p")
    expect(page.locator(":focus")).to_have_attribute("data-cell", "6.1")
    page.keyboard.press("p")
    expect(page.locator(":focus")).to_have_attribute("data-cell", "2.1")
    page.keyboard.press("Enter")
    pair = page.get_by_test_id("matrix-pair")
    expect(pair).to_contain_text("Case 2 in two columns")
    expect(pair).to_contain_text("Step 1")
    expect(pair).to_contain_text("Other arguments")
    page.get_by_test_id("pair-try-1").click()
    expect(pair.get_by_text("Open the run").first).to_be_visible()
    page.keyboard.press("n")
    expect(pair).to_contain_text("Case 6 in two columns")
    expect(pair).to_have_count(1)
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(pair).to_have_count(0)


def test_filters_and_pins_stand_in_the_address(page: Page) -> None:
    opened(page)
    page.get_by_test_id("matrix-show-flaky").click()
    shows(page, "6", "4")
    expect(page).to_have_url(re.compile(r"show=flaky"))
    page.keyboard.press("ArrowDown")
    page.locator("[data-cell='4.0']").focus()
    page.keyboard.press("x")
    shows(page, "4", "6")
    page.keyboard.press("/")
    page.keyboard.type("case 2.")
    shows(page, "4")
    page.get_by_test_id("matrix-show-").click()
    shows(page, "4", "2")
    expect(page).to_have_url(re.compile(r"e1\?q=case\+2\.&pin=4$"))
    page.reload()
    shows(page, "4", "2")


def test_where_nothing_fits_it_says_so(page: Page) -> None:
    opened(page)
    page.get_by_test_id("matrix-search").fill("zzz")
    expect(page.get_by_text("No case fits")).to_be_visible()
    expect(page.get_by_test_id("matrix")).to_be_visible()


def test_another_scorer_is_for_a_look(page: Page) -> None:
    opened(page, "?scorer=judge")
    expect(page.get_by_text("Cells show the score of “judge”, for a look; “right” decides.")).to_be_visible()


def test_whether_the_cheaper_model_is_no_worse_is_one_button(page: Page) -> None:
    opened(page)
    page.get_by_test_id("matrix-cheaper").click()
    expect(page.get_by_test_id("matrix-no-worse")).to_have_text(
        re.compile(r"0 better, 1 worse of 60: no worse than 10")
    )


def test_a_phone_shows_one_column_at_a_time(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page)
    cells = page.get_by_test_id("matrix-cell").locator("visible=true")
    expect(cells).to_have_count(5)
    expect(cells.first).to_have_attribute("data-cell", "2.1")
    page.get_by_test_id("matrix-column-2").click()
    expect(cells.first).to_have_attribute("data-cell", "2.2")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_matrix_that_is_not_there_says_so(page: Page) -> None:
    page.goto("/matrix/nothing")
    expect(page.get_by_test_id("trouble")).to_be_visible()
