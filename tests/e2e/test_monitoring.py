"""Monitoring: what runs now with its Stop, charts by keyboard and as tables, processes of tools and their restart."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.events import Entry
from app.domain.values import now
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on
from tests.e2e.conftest import WINDOW
from tests.e2e.playground import send, start_session
from tests.e2e.test_accessible import STILL
from tests.seeds import seed_traces
from tests.traces import asked, called, finished, returned, said, started, trace_of

RUNS = 12
NASTY = "<img src=x onerror=alert(1)>"
TOOL = 'def twice(number: int) -> int:\n    """Doubles a number."""\n    return 2 * number\n'


def lately(number: int) -> list[Entry]:
    """A run that began some hours ago; every fourth was stopped."""
    agent = started().agent.model_copy(update={"name": NASTY})
    events = (started(agent=agent), asked("?"), called(), said("!"), returned())
    trace = trace_of(*events, finished("cancelled" if number % 4 == 0 else "completed"), run_id=f"lately-{number}")
    ago = now() - timedelta(minutes=50 * number + 5) - trace[0].at
    return [entry.model_copy(update={"at": entry.at + ago}) for entry in trace]


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    async def seed(folder: Path) -> None:
        await seed_traces(folder, [lately(number) for number in range(RUNS)])
        (folder / "tools").mkdir(exist_ok=True)
        (folder / "tools" / "doubles.py").write_text(TOOL, "utf-8")

    folder = tmp_path_factory.mktemp("monitoring")
    with app_on(folder, seed, module="tests.e2e.obeying_app") as app:
        yield app


@pytest.fixture(autouse=True)
def wide(page: Page) -> Iterator[None]:
    yield
    page.set_viewport_size(WINDOW)


def opened(page: Page, query: str = "") -> None:
    page.goto(f"/monitoring{query}")
    expect(chart(page, "runs").locator(".chart-mark").first).to_be_attached()


def chart(page: Page, name: str) -> Locator:
    return page.locator(f"[data-testid=chart][data-chart=monitoring-{name}]")


def test_it_is_found_from_the_navigation_and_says_that_nothing_runs(page: Page) -> None:
    page.get_by_test_id("nav-monitoring").click()
    expect(page.get_by_test_id("monitoring")).to_be_visible()
    expect(page.get_by_text("Nothing is running.")).to_be_visible()
    expect(page.get_by_text(f"{RUNS} runs", exact=True)).to_be_visible()


def test_a_run_that_goes_on_is_seen_and_stopped_from_here(page: Page, tmp_path: Path) -> None:
    start_session(page, "Obedient")
    send(page, json.dumps({"name": "wait_for", "arguments": {"path": str(tmp_path / "there")}}))
    expect(page.get_by_test_id("tool-call")).to_be_visible()
    opened(page)
    row = page.get_by_test_id("live-run")
    expect(row).to_contain_text(re.compile(r"Calling .*…\s*\d+ tokens? · \d"))
    before = row.locator(".live-numbers").inner_text()
    expect(row.locator(".live-numbers")).not_to_have_text(before)  # the time goes on
    page.get_by_test_id("live-stop").click()
    expect(page.get_by_text("Nothing is running.")).to_be_visible()


PLACE = "(selector) => document.querySelector(selector).getBoundingClientRect()"
"""At once, since what is asked for step by step may have been drawn anew meanwhile."""


@pytest.mark.long
def test_a_button_that_is_drawn_anew_while_it_is_pressed_is_clicked_once(page: Page, tmp_path: Path) -> None:
    start_session(page, "Obedient")
    send(page, json.dumps({"name": "wait_for", "arguments": {"path": str(tmp_path / "nowhere")}}))
    expect(page.get_by_test_id("tool-call")).to_be_visible()
    opened(page)
    page.evaluate("() => { window.clicks = 0; document.addEventListener('click', () => window.clicks++); }")
    page.get_by_test_id("live-stop").wait_for()
    at = page.evaluate(PLACE, "[data-testid=live-stop]")
    page.mouse.move(at["x"] + 10, at["y"] + 10)
    page.mouse.down()
    changed(page.get_by_test_id("live-run").locator(".live-numbers"))
    page.mouse.up()
    expect(page.get_by_text("Nothing is running.")).to_be_visible()
    assert page.evaluate("window.clicks") == 1


HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.long
def test_a_page_that_nobody_sees_rests_until_somebody_does(page: Page, tmp_path: Path) -> None:
    start_session(page, "Obedient")
    send(page, json.dumps({"name": "wait_for", "arguments": {"path": str(tmp_path / "never")}}))
    expect(page.get_by_test_id("tool-call")).to_be_visible()
    beside = page.context.new_page()
    beside.goto("/monitoring")
    opened(page)
    here, there = (tab.get_by_test_id("live-run").locator(".live-numbers") for tab in (page, beside))
    page.evaluate(HIDE, True)
    changed(there)  # what was on its way here has come by then
    before = here.inner_text()
    changed(there, times=2)
    assert here.inner_text() == before
    page.evaluate(HIDE, False)
    expect(here).not_to_have_text(before)
    page.get_by_test_id("live-stop").press("Enter")
    expect(page.get_by_text("Nothing is running.")).to_be_visible()


def changed(place: Locator, times: int = 1) -> None:
    for _ in range(times):
        expect(place).not_to_have_text(place.inner_text())


@pytest.mark.blank
def test_figures_are_told_by_keyboard_and_as_a_table(page: Page) -> None:
    opened(page)
    runs = chart(page, "runs")
    expect(runs.locator(".chart-told")).to_contain_text(re.compile(r"Runs begun: 1[2-9] in all"))
    runs.locator(".chart-mark[tabindex='0']").focus()
    page.keyboard.press("Home")
    expect(runs.locator(".chart-told")).to_contain_text("Completed –")
    page.keyboard.press("ArrowRight")
    focused = page.evaluate("document.activeElement.dataset.key")
    assert focused == "monitoring-runs-1"
    runs.get_by_role("button", name="Show as table").focus()
    page.keyboard.press("Enter")
    expect(runs.get_by_test_id("chart-table").locator("tbody tr")).to_have_count(48)
    expect(runs.get_by_role("button", name="Hide the table")).to_be_focused()
    page.keyboard.press("Enter")
    expect(runs.get_by_test_id("chart-table")).to_have_count(0)
    with page.expect_download() as download:
        runs.get_by_role("button", name="Download Runs begun as CSV").click()
    text = Path(download.value.path()).read_text("utf-8").splitlines()
    assert text[0] == "Time,Completed,Failed,Stopped or limited,Without an end yet"
    assert len(text) == 49


@pytest.mark.long
@pytest.mark.blank
def test_the_stretch_of_time_stands_in_the_address_and_a_day_leads_to_its_runs(page: Page) -> None:
    opened(page)
    page.get_by_test_id("over-week").click()
    page.wait_for_url("**/monitoring?over=week")
    marks = chart(page, "runs").locator(".chart-mark")
    expect(marks).to_have_count(7)
    page.reload()
    expect(page.get_by_test_id("over-week")).to_have_attribute("aria-pressed", "true")
    expect(marks).to_have_count(7)
    marks.last.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/runs\?from=\d{4}-\d\d-\d\d&to="))


@pytest.mark.blank
def test_each_figure_of_half_an_hour_opens_exactly_the_runs_that_it_counts(page: Page) -> None:
    opened(page)
    runs = chart(page, "runs")
    runs.get_by_role("button", name="Show as table").click()
    slot = runs.locator("tbody tr", has=page.locator("td a")).last
    half_hour = slot.locator("th").inner_text()
    number = slot.locator("td a").first
    expect(number).to_have_text("1")
    number.press("Enter")
    page.wait_for_url(re.compile(r"/runs\?from=.*T.*Z&to=.*T.*Z&behind=1&status=completed"))
    expect(page.get_by_test_id("run-row")).to_have_count(1)
    expect(page.get_by_role("group", name="Filters in use")).to_contain_text(half_hour.split()[-1])
    moment = page.url.partition("from=")[2].partition("&")[0]
    page.get_by_test_id("more-filters").click()
    expect(page.get_by_test_id("runs-from")).to_have_value(re.compile(r"^\d{4}-\d\d-\d\d$"))
    page.get_by_test_id("runs-min_cost").fill("0")
    page.wait_for_url(re.compile(rf"min_cost=0&from={re.escape(quote(moment))}&"))


@pytest.mark.long
def test_the_app_says_what_it_takes_and_starts_a_tool_file_again(page: Page) -> None:
    page.goto("/tools/file/doubles.py")
    page.get_by_test_id("allow-file").click()
    opened(page)
    expect(page.locator(".vitals")).to_contain_text(re.compile(r"Memory\s*\d+\.\d MB"))
    row = page.get_by_test_id("processes").locator("tr", has_text="doubles.py")
    expect(row).to_contain_text(re.compile(r"Ready\s*\d+\s*\d+\.\d MB"))
    before = row.locator("td").nth(3).inner_text()
    row.get_by_test_id("restart-process").click()
    expect(row.locator("td").nth(3)).not_to_have_text(re.compile(rf"^({before}|–)$"))
    expect(row).to_contain_text("Ready")


@pytest.mark.blank
@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.long), True])
def test_everybody_can_use_it_on_a_telephone_too(page: Page, dark: bool) -> None:
    opened(page)
    page.add_style_tag(content=STILL)
    page.evaluate("dark => Quasar.Dark.set(dark)", dark)
    expect(page.locator("body")).to_have_class(re.compile("body--dark" if dark else "body--light"))
    chart(page, "runs").get_by_role("button", name="Show as table").click()
    expect(page.locator(".vitals")).to_be_visible()
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    size = "el => parseFloat(getComputedStyle(el).fontSize) * el.getScreenCTM().a"
    assert chart(page, "runs").locator("svg text").first.evaluate(size) >= 10.5
