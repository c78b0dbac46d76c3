"""Resources: ceilings that warn and hold back, sums that open their runs, another model's price, files, everybody."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.provenance import AgentRef, Trigger
from app.domain.trace import ModelTally, RunRow, ToolTally
from app.domain.trace.model_tallies import NANO, provider_of
from app.domain.values import now
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on, workbench_on
from tests.e2e.conftest import WINDOW
from tests.e2e.playground import finished, send, start_session
from tests.e2e.test_accessible import STILL

GPT, SONNET, ODD = "openai/gpt-4o", "anthropic/claude-sonnet-4-5", "openai/no-such-model"
NASTY = '=HYPERLINK("http://evil")<img src=x onerror=alert(1)>'
PHONE = {"width": 390, "height": 844}

pytestmark = pytest.mark.blank


def a_run(run_id: str, agent: AgentRef, model: str, cost: float, **changes: object) -> RunRow:
    began = now() - timedelta(seconds=5)
    tokens = {"input_tokens": 1_000_000, "output_tokens": 20_000}
    cached = 400_000 if cost else 0
    tally = ModelTally(
        model=model, provider=provider_of(model), calls=2, cost=round(cost * NANO), unpriced=int(not cost),
        cached_tokens=cached, reasoning_tokens=5_000, **tokens,
    )  # fmt: skip
    row = RunRow(
        run_id=run_id, session_id="s", agent=agent, model=model, status="completed", request=f"Question of {run_id}",
        answer="Done.", purpose="chat", trigger=Trigger(kind="page"), started_at=began, finished_at=began,
        duration_ms=900, model_calls=2, cost=cost, unpriced=not cost, models=(tally,), **tokens,
    )  # fmt: skip
    return row.model_copy(update=changes)


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    async def seed(folder: Path) -> None:
        async with workbench_on(folder) as workbench:
            payer = new_agent("Payer", PromptBehaviour(model=GPT), taken_slugs=workbench.agents.slugs())
            await workbench.agents.create(payer)
            one = workbench.agents.by_slug("assistant")
            ours = AgentRef(id=one.id, slug=one.slug, name=one.name, variant=1)
            nasty = AgentRef(id="gone", slug="gone", name=NASTY, variant=2)
            tool = ToolTally(name="calculator", calls=3, failures=1, times={4: 3})
            await workbench.rows.save(a_run("dear", ours, GPT, 6.0))
            await workbench.rows.save(a_run("tried", ours, SONNET, 2.5, purpose="experiment", tools=(tool,)))
            await workbench.rows.save(a_run("odd", nasty, ODD, 0.0))
            await workbench.rows.save(a_run("hostile", nasty, NASTY, 0.000001))

    environment = {"OPENAI_API_KEY": "sk-none-of-yours"}
    with app_on(tmp_path_factory.mktemp("resources"), seed, environment=environment) as app:
        yield app


@pytest.fixture(autouse=True)
def wide(page: Page) -> Iterator[None]:
    yield
    page.set_viewport_size(WINDOW)


def opened(page: Page, query: str = "") -> None:
    page.goto(f"/resources{query}")
    expect(page.get_by_test_id("dearest-runs")).to_be_visible()


def row_of(page: Page, words: str) -> Locator:
    return page.get_by_test_id("resources-rows").locator("tbody tr", has_text=words)


def set_ceiling(page: Page, span: str, amount: str) -> None:
    """By its own way: from the ceiling to the setting."""
    page.get_by_test_id(f"change-{span}").click()
    page.wait_for_url("**/settings?section=budgets")
    box = page.get_by_test_id(f"setting-all-{span}-cost")
    box.fill(amount)
    box.blur()
    page.get_by_test_id("nav-resources").click()  # behind what was typed, on the same socket: a reload may be before it
    expect(page.get_by_test_id("dearest-runs")).to_be_visible()


def colour(page: Page, name: str) -> str:
    return page.evaluate(
        """(name) => {
          const probe = document.body.appendChild(document.createElement('i'));
          probe.style.color = `var(--${name})`;
          const colour = getComputedStyle(probe).color;
          probe.remove();
          return colour;
        }""",
        name,
    )


def test_a_ceiling_has_the_warning_colour_from_80_percent_on_and_is_changed_from_there(page: Page) -> None:
    page.goto("/")
    page.get_by_test_id("nav-resources").click()
    day, month = page.get_by_test_id("ceiling-day"), page.get_by_test_id("ceiling-month")
    expect(day).to_contain_text("$8.50 of $10.00, 85 %")
    expect(day.locator("dd")).to_have_css("color", colour(page, "warn"))
    expect(day).to_contain_text("$1.50 left")
    expect(month).to_contain_text("$8.50 without a ceiling")
    expect(month.locator("dd")).to_have_css("color", colour(page, "text"))
    set_ceiling(page, "day", "10.7")
    expect(day).to_contain_text("$8.50 of $10.70, 79 %")
    expect(day.locator("dd")).to_have_css("color", colour(page, "text"))
    set_ceiling(page, "day", "10.6")
    expect(day).to_contain_text("$8.50 of $10.60, 80 %")
    expect(day.locator("dd")).to_have_css("color", colour(page, "warn"))
    set_ceiling(page, "month", "10")
    expect(month.locator("dd")).to_have_css("color", colour(page, "warn"))
    expect(page.get_by_test_id("agent-ceilings").locator("tr", has_text="Payer")).to_contain_text("$10.00; $1.50 left")


@pytest.mark.long
def test_a_month_whose_money_is_spent_holds_the_next_paid_call_back(page: Page) -> None:
    opened(page)
    set_ceiling(page, "month", "8")
    expect(page.get_by_test_id("ceiling-month")).to_contain_text("It is reached: calls that cost money are held back.")
    page.goto("/playground")
    start_session(page, "Payer")
    answer = send(page, "Hello")
    finished(page)
    expect(answer.get_by_test_id("message-error")).to_contain_text("this month's spending")
    opened(page)
    set_ceiling(page, "month", "0")


@pytest.mark.long
def test_each_sum_opens_its_runs_with_chips_that_are_taken_away(page: Page) -> None:
    opened(page)
    row_of(page, GPT).locator("td").last.click(force=True)  # its link lies over all of the row
    page.wait_for_url(re.compile(r"/runs\?model=openai%2Fgpt-4o&from=.*&behind=1&sort=cost"))
    expect(page.get_by_test_id("run-row").first).to_contain_text("Question of dear")
    opened(page, "?by=purpose")
    row_of(page, "Experiments").get_by_role("link").press("Enter")
    expect(page.get_by_test_id("run-row")).to_have_count(1)
    chips = page.get_by_test_id("filter-chip")
    expect(chips.filter(has_text="Experiments")).to_have_count(2)  # the purpose, and that these are shown at all
    opened(page, "?by=tool")
    row_of(page, "calculator").get_by_role("link").click()
    expect(page.get_by_test_id("run-row")).to_contain_text("Question of tried")
    chips.filter(has_text="Called calculator").click()
    page.wait_for_url(re.compile(r"/runs\?from="))
    expect(page.get_by_test_id("run-row").filter(has_text="Question of dear")).to_have_count(1)
    opened(page)
    page.get_by_test_id("unpriced-runs").click()
    expect(page.get_by_test_id("run-row")).to_contain_text("Question of odd")
    opened(page)
    page.get_by_test_id("dearest-runs").get_by_role("link").first.click()
    page.wait_for_url("**/runs/dear")


def test_days_and_split_stand_in_the_address_and_by_keyboard(page: Page) -> None:
    opened(page)
    page.get_by_test_id("over-week").press("Enter")
    page.wait_for_url("**/resources?over=week")
    page.get_by_test_id("by-agent").press("Enter")
    page.get_by_test_id("of-tokens").press("Enter")
    page.wait_for_url("**/resources?by=agent&over=week&of=tokens")
    expect(page.locator("[data-chart=resources-agent-tokens] .chart-mark")).to_have_count(7)
    page.reload()
    expect(page.get_by_test_id("by-agent")).to_have_attribute("aria-pressed", "true")
    expect(row_of(page, "Assistant")).to_contain_text("$8.50")
    page.get_by_test_id("by-tool").click()
    expect(row_of(page, "calculator")).to_contain_text(re.compile(r"3\s*1"))
    expect(page.get_by_test_id("of-tokens")).to_be_hidden()


@pytest.mark.long
def test_what_another_model_would_have_cost_is_told_without_its_key(page: Page) -> None:
    opened(page)
    expect(page.get_by_test_id("what-if")).to_contain_text("Choose a model")
    page.get_by_test_id("what-if-model").click()
    page.get_by_test_id("model-search").fill("claude-haiku-4-5")
    page.get_by_test_id("model-option").filter(has_text="haiku").first.click()
    expect(page.get_by_test_id("what-if")).to_contain_text(re.compile(r"\$\d+\.\d\d at .*haiku.*less than the \$8.50"))
    expect(page.get_by_test_id("resources-rows").locator("th").last).to_contain_text("haiku")
    page.reload()
    expect(page.get_by_test_id("what-if")).to_contain_text("known in part only")
    opened(page, "?at=nobody/knows")
    expect(page.get_by_test_id("what-if")).to_contain_text("Nobody said what nobody/knows costs")


@pytest.mark.long
def test_files_hold_what_is_shown(page: Page, screenshot: Callable[[str], Path]) -> None:
    opened(page, f"?at={GPT}")
    with page.expect_download() as download:
        page.get_by_test_id("download-csv").click()
    table = Path(download.value.path()).read_text("utf-8")
    rows = {row["model"]: row for row in csv.DictReader(io.StringIO(table))}
    assert set(rows) >= {GPT, SONNET, ODD, f"'{NASTY}"}
    assert float(rows[SONNET]["cost_usd"]) == 2.5 and float(rows[SONNET]["at_usd"]) > 0
    with page.expect_download() as download:
        page.get_by_test_id("download-json").click()
    assert download.value.suggested_filename == "resources.json"
    told = json.loads(Path(download.value.path()).read_text("utf-8"))["data"]
    assert told["totals"]["cost_usd"] == pytest.approx(8.500001) and told["totals"]["unpriced_runs"] == 1
    screenshot("resources")


def test_days_without_runs_say_so(page: Page) -> None:
    page.goto("/resources?over=last")
    expect(page.get_by_text("Nothing ran in these days")).to_be_visible()
    expect(page.get_by_test_id("chart")).to_have_count(0)


@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.long), True])
def test_everybody_can_use_it_on_a_telephone_too(page: Page, dark: bool) -> None:
    opened(page, f"?by=variant&at={GPT}")
    page.add_style_tag(content=STILL)
    page.evaluate("dark => Quasar.Dark.set(dark)", dark)
    expect(page.locator("body")).to_have_class(re.compile("body--dark" if dark else "body--light"))
    page.locator("[data-testid=chart]").get_by_role("button", name="Show as table").click()
    expect(page.get_by_test_id("chart-table")).to_be_visible()
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
