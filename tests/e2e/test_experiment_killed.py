"""An experiment of 500 cells whose app is killed twice, resumed and watched to its end in a browser."""

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.trace import RunFilter
from app.store.folder.folder import DataFolder
from tests.app_process import AppProcess
from tests.e2e.apps import app_on
from tests.e2e.complaints import LOST, Complaints
from tests.e2e.evals import ENDS, add_scorer
from tests.faults.evals_kills import AT_ONCE, Toll, judged
from tests.faults.experimenting_app import CASES, DATASET
from tests.waiting import wait_until

REPEATS = 10
SIZE = CASES * REPEATS
KILLED_AT = (SIZE // 4, SIZE // 2)
ANEW = re.compile(r"what has ended is kept\. [1-4] cells? (was|were) going on then; .* tried anew")


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    folder = tmp_path_factory.mktemp("killed")
    appended = folder / "appended.txt"
    appended.touch()
    with app_on(
        folder / "data", module="tests.faults.experimenting_app", environment={"APPENDED": str(appended)}
    ) as app:
        yield app


@pytest.mark.blank
@pytest.mark.long
def test_a_killed_experiment_of_500_cells_says_what_is_made_again_and_goes_on(
    page: Page, app_process: AppProcess, complaints: Complaints, screenshot: Callable[[str], Path]
) -> None:
    complaints.expect(LOST)
    experiment = started(page)
    for number, done in enumerate(KILLED_AT, start=1):
        wait_until(lambda: ended(page) >= done, seconds=60)  # noqa: B023  awaited at once
        app_process.kill()
        expect(page.locator("#popup")).to_have_attribute("aria-hidden", "false")
        app_process.start()
        expect(page.locator(".pill")).to_have_text("Interrupted", timeout=ENDS)
        kept = ended(page)
        assert done <= kept < SIZE
        expect(page.get_by_test_id("experiment-why")).to_contain_text(ANEW)
        expect(page.get_by_test_id("verdict")).to_contain_text("nothing to compare")
        screenshot(f"killed-{number}")
        page.get_by_test_id("experiment-resume").click()
        wait_until(lambda: ended(page) > kept, seconds=60)  # noqa: B023
    expect(page.locator(".pill")).to_have_text("Completed", timeout=ENDS)
    assert ended(page) == SIZE
    expect(page.get_by_test_id("experiment-columns")).to_contain_text(f"{SIZE} of {SIZE} passed")
    screenshot("killed-completed")
    shown = page.get_by_test_id("experiment-progress").inner_text()
    app_process.kill()
    with ThreadPoolExecutor(1) as beside:
        toll, paid = beside.submit(lambda: asyncio.run(looked_at(app_process.data, experiment))).result()
    assert not (toll.lost or toll.twice or toll.stuck)
    assert toll.again <= len(KILLED_AT) * AT_ONCE
    assert f"${paid:.4f}" in shown


def started(page: Page) -> str:
    page.goto(f"/evals/{DATASET}")
    add_scorer(page, "The answer contains texts", text="done")
    page.get_by_test_id("try-dataset-button").click()
    page.get_by_test_id("agent-select").click()
    page.get_by_role("option", name="Tried").click()
    page.get_by_test_id("try-repeats").fill(str(REPEATS))
    expect(page.get_by_test_id("experiment-estimate")).to_contain_text(f"{SIZE} runs")
    page.get_by_test_id("experiment-start-button").click()
    page.wait_for_url("**/experiments/*")
    expect(page.get_by_test_id("experiment-why")).to_contain_text("The first 3 cases cost $", timeout=ENDS)
    page.get_by_test_id("experiment-resume").click()
    return page.url.rsplit("/", 1)[1]


def ended(page: Page) -> int:
    """Cells, as the page says; 0 while it says nothing."""
    told = page.locator(".experiment-bar").inner_text(timeout=60_000) if page.locator(".experiment-bar").count() else ""
    found = re.search(r"(\d+) of", told)
    return int(found[1]) if found else 0


async def looked_at(folder: Path, experiment: str) -> tuple[Toll, float]:
    """What went wrong with the cells, and the US dollars that all runs cost."""
    toll = Toll()
    await judged(folder, experiment, toll)
    data = DataFolder.open(folder)
    try:
        rows = data.rows.find(RunFilter(behind=True), limit=10 * SIZE).rows
        return toll, sum(row.cost for row in rows)
    finally:
        await data.close()
