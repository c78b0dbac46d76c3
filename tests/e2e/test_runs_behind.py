"""Runs of experiments on the Runs page, in the list of conversations and the palette: shown on request only."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.evals.cases import CaseContent, new_cases
from app.domain.evals.drafts import ExperimentDraft
from app.domain.provenance import Trigger
from tests.app_process import AppProcess
from tests.e2e.apps import app_on, workbench_on
from tests.waiting import until

pytestmark = [pytest.mark.blank, pytest.mark.long]


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("behind"), seed) as app:
        yield app


async def seed(folder: Path) -> None:
    async with workbench_on(folder) as bench:
        session = await bench.chat.new_session(bench.agents.by_slug("assistant").id)
        await (await bench.chat.send(session.id, "Good morning")).ended()
        dataset = await bench.collecting.new_dataset("Greetings")
        await bench.collecting.add_all(dataset.id, new_cases(dataset.id, [CaseContent(input="Good evening")]))
        draft = ExperimentDraft(dataset=dataset.slug, agent="assistant")
        experiment = await bench.experimenting.plan(draft, Trigger(kind="page"))
        await bench.experimenting.start(experiment.id)
        await until(lambda: not bench.experimenting.is_live(experiment.id))


def test_runs_of_experiments_are_listed_once_they_are_asked_for(page: Page):
    page.goto("/runs")
    rows = page.get_by_test_id("run-row")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Good morning")
    page.get_by_test_id("more-filters").click()
    page.get_by_test_id("runs-behind").click()
    expect(rows).to_have_count(2)
    expect(page).to_have_url("/runs?behind=1")
    page.keyboard.press("Escape")
    page.get_by_test_id("filter-chip").get_by_text("With experiments, judges and tries").click()
    expect(rows).to_have_count(1)


def test_conversations_and_search_know_nothing_of_experiments(page: Page):
    page.goto("/playground")
    sessions = page.get_by_test_id("session-list")
    expect(sessions).to_contain_text("Good morning")
    expect(sessions).not_to_contain_text("Good evening")
    page.get_by_test_id("session-search").fill("evening")
    expect(sessions).not_to_contain_text("Good morning")
    expect(sessions).not_to_contain_text("Good evening")
