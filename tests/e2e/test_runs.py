"""The Runs pages in a real browser, over runs that were stored before the app started."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.events import Entry
from app.domain.streaming import Draft
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.seeds import seed_long_run, seed_runs, seed_trace
from tests.traces import ADD, MULTIPLY, asked, called, finished, ran, returned, said, started, the_sum, trace_of

HOSTILE = "</pre><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"
SUM_STEPS = ["user-request", *["agent-thought", "tool-call", "tool-result"] * 2, "agent-response"]


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    folder = tmp_path_factory.mktemp("runs")
    with ThreadPoolExecutor(1) as beside:  # Playwright's own event loop runs in this thread
        beside.submit(asyncio.run, seed(folder)).result()
    app = AppProcess(folder)
    app.start()
    yield app
    app.stop()


async def seed(folder: Path) -> None:
    workbench = Workbench.open(folder)
    await workbench.start()  # plants the sample agents
    await workbench.close()
    await seed_runs(folder, 130)
    await seed_long_run(folder, 20_000)
    await seed_trace(folder, named(the_sum(), "the-sum"))
    await seed_trace(folder, hostile_run())
    cut_off = trace_of(started(), asked("Tell me a story"), called("m1"), run_id="cut-off")
    await seed_trace(folder, cut_off, draft=Draft(text="Once upon a **time**"))


def named(entries: list[Entry], run_id: str) -> list[Entry]:
    return [entry.model_copy(update={"run_id": run_id}) for entry in entries]


def hostile_run() -> list[Entry]:
    """Parallel calls of which one fails, everything in it hostile."""
    bad = MULTIPLY.model_copy(update={"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}})
    return trace_of(
        started(model=HOSTILE),
        asked(HOSTILE),
        called("m1"),
        said(HOSTILE, ADD, bad, reasoning=HOSTILE),
        returned("m1"),
        *ran(ADD, HOSTILE),
        *ran(bad, HOSTILE, status="error"),
        called("m2"),
        said(f"[link](javascript:window.hurt=1) {HOSTILE}"),
        returned("m2"),
        finished(),
        run_id="hostile",
    )


def rows(page: Page) -> Locator:
    return page.get_by_test_id("run-row")


def test_the_list_is_reached_from_the_navigation_and_leads_to_a_run_and_back(page: Page):
    page.get_by_test_id("nav-runs").click()
    expect(rows(page)).to_have_count(50)
    rows(page).first.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"/runs/seeded-000129$"))
    expect(page.get_by_test_id("run-step").first).to_be_visible()
    page.get_by_test_id("back-to-runs").click()
    expect(rows(page)).to_have_count(50)


def test_filters_stand_in_the_address_and_survive_a_reload(page: Page):
    page.goto("/runs")
    page.get_by_test_id("runs-search").fill("haiku analyst")
    expect(page).to_have_url(re.compile(r"\?q=haiku\+analyst$"))
    page.get_by_label("Status", exact=True).click()
    page.get_by_role("option", name="Completed").click()
    expect(page).to_have_url(re.compile(r"status=completed"))
    page.reload()
    expect(page.get_by_test_id("runs-search")).to_have_value("haiku analyst")
    for row in rows(page).all():
        expect(row).to_contain_text("Write a haiku")
        expect(row).to_contain_text("Completed")


def test_the_navigation_leads_from_a_filtered_list_to_the_whole_one(page: Page):
    page.get_by_test_id("nav-runs").click()
    expect(rows(page)).to_have_count(50)
    page.get_by_test_id("runs-search").fill("no such words")
    expect(page.get_by_text("No run fits")).to_be_visible()
    page.get_by_test_id("nav-runs").click()
    expect(rows(page)).to_have_count(50)


def test_a_click_on_a_column_sorts_by_it(page: Page):
    page.goto("/runs")
    page.get_by_role("button", name="Tokens").click()
    expect(page.get_by_role("columnheader", name="Tokens")).to_have_attribute("aria-sort", "descending")
    expect(rows(page).first).to_have_attribute("data-run", "long-run")
    page.get_by_role("button", name="Tokens").click()
    expect(page.get_by_role("columnheader", name="Tokens")).to_have_attribute("aria-sort", "ascending")
    expect(page).to_have_url(re.compile(r"sort=total_tokens&order=asc"))


def test_the_next_page_is_asked_of_the_server(page: Page):
    page.goto("/runs?q=seeded-nothing")
    page.goto("/runs")
    expect(page.get_by_test_id("runs-count")).to_have_text("Runs 1 to 50 of 134")
    page.get_by_test_id("next-page").click()
    expect(page.get_by_test_id("runs-count")).to_have_text("Runs 51 to 100 of 134")
    expect(page).to_have_url(re.compile(r"page=2"))


def test_chosen_runs_are_deleted_and_brought_back(page: Page):
    page.goto("/runs?q=Summarise")
    expect(rows(page).first).to_be_visible()
    first = rows(page).first.get_attribute("data-run")
    rows(page).first.get_by_role("checkbox").check()
    page.get_by_test_id("delete-runs").click()
    expect(page.locator(f"[data-run={first}]")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(page.locator(f"[data-run={first}]")).to_have_count(1)


def test_a_short_run_is_read_step_by_step(page: Page):
    page.goto("/runs/the-sum")
    steps = page.get_by_test_id("run-step")
    expect(steps).to_have_count(8)
    assert [step.get_attribute("data-step-type") for step in steps.all()] == SUM_STEPS
    expect(steps.last).to_contain_text("The answer is 45.")
    page.get_by_test_id("tab-trajectory").click()
    expect(page.get_by_test_id("trajectory-step")).to_have_count(3)
    expect(page.get_by_test_id("tool-call")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"view=trajectory"))


def test_a_link_to_a_step_shows_it(page: Page):
    page.goto("/runs/the-sum?step=12")
    wanted = page.locator("[data-testid=run-step].is-wanted")
    expect(wanted).to_be_in_viewport()
    expect(wanted).to_have_attribute("data-seq", "13")


def test_a_thought_can_be_folded(page: Page):
    page.goto("/runs/the-sum")
    thought = page.locator("[data-step-type=agent-thought]").first
    expect(thought.get_by_text("First the sum.")).to_be_visible()
    thought.locator("summary").click()
    expect(thought.get_by_text("First the sum.")).to_be_hidden()


def test_a_long_run_holds_only_the_lines_in_view(page: Page):
    page.goto("/runs/long-run")
    expect(page.get_by_text("12,000 steps")).to_be_visible()
    listed = page.get_by_role("listbox", name="Steps of this run")
    listed.press("End")
    last = page.get_by_role("option").last
    expect(last).to_contain_text("Every row was **checked**.")
    expect(page.get_by_test_id("step-detail")).to_contain_text("Every row was checked.")
    listed.press("PageUp")
    expect(page.get_by_test_id("step-detail")).not_to_contain_text("Every row was checked.")
    assert page.get_by_role("option").count() < 150
    assert page.evaluate("document.querySelectorAll('*').length") < 1500


def test_scrolling_a_long_run_brings_the_lines_along(page: Page):
    page.goto("/runs/long-run")
    listed = page.get_by_role("listbox")
    expect(page.get_by_text("12,000 steps")).to_be_visible()
    listed.evaluate("element => { element.scrollTop = 6000 * 40; }")
    line = page.get_by_role("option").filter(has_text="6,003")
    expect(line).to_be_in_viewport()
    line.click()
    expect(line).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile(r"step=\d+"))
    address = page.url
    page.goto(address)
    expect(page.get_by_role("option").filter(has_text="6,003")).to_be_in_viewport()


def test_the_rest_of_a_long_run_does_not_move_its_opening(page: Page):
    page.goto("/runs/long-run")
    page.get_by_role("option").first.wait_for()
    page.get_by_role("listbox").evaluate("element => { element.scrollTop = element.scrollHeight; }")
    expect(page.get_by_text("12,000 steps")).to_be_visible()
    expect(page.get_by_role("option").filter(has_text="12,000 Answer")).to_have_count(0)


def test_a_long_run_keeps_its_place_behind_the_other_tab(page: Page):
    page.goto("/runs/long-run?step=10000")
    chosen = page.locator("[role=option].is-chosen")
    expect(chosen).to_be_in_viewport()
    page.get_by_test_id("tab-trajectory").click()
    expect(page.get_by_text("3,999 decisions")).to_be_visible()
    expect(page.get_by_test_id("decision-detail")).to_contain_text("Make 1 tool call")
    page.get_by_test_id("tab-timeline").click()
    expect(chosen).to_be_in_viewport()


def test_an_interrupted_run_says_so_with_its_text(page: Page):
    page.goto("/runs/cut-off")
    expect(page.get_by_test_id("status-pill")).to_have_text("Interrupted")
    expect(page.get_by_test_id("run-draft")).to_contain_text("Once upon a time")


def test_an_unknown_run_leads_back(page: Page):
    page.goto("/runs/nobody-knows-it")
    expect(page.get_by_test_id("trouble")).to_contain_text("nobody-knows-it")


@pytest.mark.parametrize("address", ["/runs?q=hurt", "/runs/hostile", "/runs/hostile?view=trajectory"])
def test_hostile_texts_do_nothing(page: Page, address: str):
    page.goto(address)
    expect(page.get_by_text("window.hurt").first).to_be_visible()
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.hurt") is None
    assert page.locator("a[href^='javascript']").count() == 0


def test_a_run_grows_on_its_page(page: Page, app_process: AppProcess):
    page.goto("/playground")
    page.get_by_test_id("agent-card").first.click()
    page.get_by_test_id("chat-input").fill("What is 5 + 10, then multiply by 3?")
    page.keyboard.press("Enter")
    page.get_by_test_id("user-message").wait_for()
    page.get_by_test_id("nav-runs").click()
    rows(page).first.get_by_role("link", name="What is 5 + 10, then").click()
    expect(page.get_by_test_id("status-pill")).to_have_text("Completed", timeout=30_000)
    expect(page.get_by_test_id("run-step")).to_have_count(8)


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out_of_the_window(page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 720})
    shown = "[data-testid=run-row], [data-testid=run-step], [data-testid=trajectory-step]"
    for address in ("/runs", "/runs/the-sum", "/runs/hostile?view=trajectory", "/runs/long-run"):
        page.goto(address)
        expect(page.locator(shown).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
