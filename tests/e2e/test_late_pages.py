"""What of the pages' code is in memory: those that were opened, and those that somebody points at."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.app_process import AppProcess
from tests.e2e.playground import SUM, ask

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    app = AppProcess(tmp_path_factory.mktemp("pages"), module="tests.reading_app")
    app.start()
    yield app
    app.stop()


def test_a_page_is_read_when_somebody_points_at_its_link_and_none_before(page: Page, app_process: AppProcess):
    page.goto("/playground")
    page.get_by_test_id("agent-card").filter(has_text="Assistant").click()
    ask(page, SUM)
    page.get_by_test_id("nav-settings").hover()
    app_process.wait_for(_read("settings.settings_page"))
    page.get_by_test_id("nav-evals").focus()
    app_process.wait_for(_read("evals.experiment_page"))
    read = set(re.findall(r"READ app\.ui\.(\w+)\.", app_process.log))
    assert read == {"overview", "playground", "settings", "evals"}


def test_a_page_that_nobody_pointed_at_is_read_when_it_is_opened_and_then_the_others(
    page: Page, app_process: AppProcess
):
    page.goto("/monitoring")
    expect(page.get_by_role("heading", name="Monitoring", level=1)).to_be_visible()
    app_process.wait_for(_read("monitoring.monitoring_page"))
    for one in ("agents.agents_page", "run.run_page", "integrations.integrations_page"):
        app_process.wait_for(_read(one))


def _read(name: str) -> re.Pattern[str]:
    return re.compile(rf"READ app\.ui\.{re.escape(name)}\n")
