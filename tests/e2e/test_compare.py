"""Several variants answering the same message in a real browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent, with_variant
from app.domain.comparisons import ColumnChoice, ComparedTurn
from app.domain.values import new_id
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on, workbench_on
from tests.e2e.playground import ANSWER_SECONDS, STORY, SUM

pytestmark = pytest.mark.blank

IDLE = 'document.querySelector("[data-testid=stream-state]")?.textContent === "Idle"'


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("compare"), prepare) as app:
        yield app


async def prepare(folder: Path) -> None:
    async with workbench_on(folder) as workbench:
        calculating = PromptBehaviour(system_prompt="Count.", tools=(ToolChoice(name="calculator"),))
        counter = new_agent("Counter", calculating, taken_slugs=workbench.agents.slugs())
        counter = with_variant(counter, PromptBehaviour(system_prompt="Count."), origin=1, note="Without tools")
        counter = with_variant(counter, calculating.model_copy(update={"system_prompt": "Count well."}), origin=1)
        await workbench.agents.create(counter)
        broken = new_agent(
            "Broken", PromptBehaviour(tools=(ToolChoice(name="gone_tool"),)), taken_slugs=workbench.agents.slugs()
        )
        await workbench.agents.create(broken)
        comparison = await workbench.compare.start([ColumnChoice(agent_id=counter.id, variant=one) for one in (1, 2)])
        never = ComparedTurn(text="Cut off", runs={one: new_id() for one in comparison.sessions})
        cut_off = comparison.model_copy(update={"turns": (never,), "title": never.text})
        await workbench.comparisons.change(comparison.id, lambda _: cut_off)


def columns(page: Page) -> Locator:
    return page.get_by_test_id("compare-column")


def start(page: Page, address: str = "/compare?agent=counter") -> None:
    page.goto(address)
    page.get_by_test_id("compare-start").click()
    expect(page.get_by_test_id("chat-input")).to_be_focused()


def send(page: Page, text: str) -> None:
    page.get_by_test_id("chat-input").fill(text)
    page.get_by_test_id("chat-input").press("Enter")
    expect(page.get_by_test_id("chat-input")).to_have_value("")


def finished(page: Page) -> None:
    expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=ANSWER_SECONDS)
    page.wait_for_function(IDLE)


def ask(page: Page, text: str) -> None:
    send(page, text)
    finished(page)


def test_the_active_variant_meets_the_newest_one(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.goto("/")
    page.get_by_test_id("nav-compare").click()
    expect(page.get_by_test_id("compare-setup")).to_contain_text("Counter")
    expect(page.get_by_test_id("compare-setup")).to_contain_text("v1 · Active")
    expect(page.get_by_test_id("compare-setup")).to_contain_text("v3 · Newer")
    screenshot("compare-setup")
    page.get_by_test_id("compare-start").click()
    expect(columns(page)).to_have_count(2)
    ask(page, SUM)
    for place in range(2):
        column = columns(page).nth(place)
        expect(column.get_by_test_id("assistant-message")).to_contain_text("45")
        expect(column.get_by_test_id("tool-call")).to_have_count(2)
        figures = column.get_by_test_id("compare-figures")
        for words in ("Steps", "Tokens", "Cost", "First token", "Duration"):
            expect(figures).to_contain_text(words)
    expect(page.get_by_test_id("user-message").first).to_be_visible()
    expect(page.get_by_test_id("compare-steps")).to_contain_text("3 steps: the same tool calls in all columns")
    screenshot("compare")


@pytest.mark.long
def test_a_double_click_starts_one_comparison(page: Page) -> None:
    page.goto("/compare?agent=counter")
    started = page.get_by_test_id("comparison-row")
    expect(started.first).to_be_visible()
    before = started.count()
    page.get_by_test_id("compare-start").dblclick()
    page.wait_for_url("**/compare/*")
    page.goto("/compare")
    expect(started.first).to_be_visible()
    assert started.count() == before + 1


def test_extra_calls_are_seen_step_by_step(page: Page) -> None:
    start(page, "/compare?agent=counter&variant=1&variant=2&variant=3")
    expect(columns(page)).to_have_count(3)
    ask(page, SUM)
    expect(columns(page).nth(1)).to_contain_text("not allowed to use it")  # a time may hold any number
    steps = page.get_by_test_id("compare-steps")
    expect(steps).to_contain_text("2 missing")
    steps.locator("summary").click()
    row = steps.locator("tbody tr").first
    expect(row.locator("td").nth(0)).to_contain_text("operation: add")
    expect(row.locator("td").nth(1)).to_have_text("missing")
    expect(row.locator("td").nth(2)).to_contain_text("same")
    best = columns(page).nth(1).locator("[data-figure=steps]")
    expect(best).to_have_class(re.compile("is-best"))
    expect(columns(page).nth(0).locator("[data-figure=steps]")).not_to_have_class(re.compile("is-best"))


@pytest.mark.long
def test_turns_and_votes_survive_a_reload_and_a_restart(page: Page, app_process: AppProcess) -> None:
    start(page)
    ask(page, SUM)
    ask(page, "What is 2 + 2?")
    expect(columns(page).nth(0).get_by_test_id("assistant-message")).to_have_count(2)
    vote = columns(page).nth(1).get_by_test_id("vote-button").first
    vote.click()
    expect(vote).to_have_attribute("aria-pressed", "true")
    address = page.url
    page.reload()
    expect(vote).to_have_attribute("aria-pressed", "true")
    page.goto("about:blank")
    app_process.stop()
    app_process.start()
    page.goto(app_process.address)
    page.wait_for_url(lambda url: "token=" not in url)
    page.goto(address)
    expect(columns(page).nth(1).get_by_test_id("assistant-message")).to_have_count(2)
    expect(vote).to_have_attribute("aria-pressed", "true")
    expect(columns(page).nth(1).get_by_test_id("column-votes")).to_have_text("1")
    page.goto("/compare")
    expect(page.get_by_test_id("comparison-row").first).to_contain_text(SUM)


@pytest.mark.long
def test_a_vote_goes_over_to_another_column_and_can_be_taken_back(page: Page) -> None:
    start(page)
    ask(page, "What is 2 + 2?")
    first, second = (columns(page).nth(place).get_by_test_id("vote-button") for place in range(2))
    first.click()
    expect(first).to_have_attribute("aria-pressed", "true")
    second.press("Enter")
    expect(second).to_have_attribute("aria-pressed", "true")
    expect(first).to_have_attribute("aria-pressed", "false")
    tie = page.get_by_test_id("tie-button")
    tie.click()
    expect(tie).to_have_attribute("aria-pressed", "true")
    expect(tie).to_be_focused()
    expect(second).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_test_id("column-votes")).to_have_count(0)
    second.click()
    expect(tie).to_have_attribute("aria-pressed", "false")
    second.click()
    expect(second).to_have_attribute("aria-pressed", "false")


@pytest.mark.long
def test_what_differs_is_in_view_and_files_go_to_all_columns(page: Page, screenshot: Callable[[str], Path]) -> None:
    start(page)
    differences = page.get_by_test_id("compare-differences")
    expect(differences).to_contain_text("B against A: 1 word added")
    expect(differences.get_by_test_id("variant-diff")).to_contain_text("well")
    note = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"two and two"}
    page.locator("input[type=file]").set_input_files([note])
    words = page.get_by_test_id("attachment-words")
    expect(words).to_contain_text("note.txt")
    assert violations(page) == []
    screenshot("compare-attached")
    ask(page, "What is 2 + 2?")
    expect(page.get_by_test_id("attachment")).to_have_count(0)
    for place in range(2):
        expect(columns(page).nth(place).get_by_test_id("message-file")).to_have_count(1)
    expect(differences.get_by_test_id("variant-diff")).to_be_hidden()
    screenshot("compare-tie")
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(page.get_by_test_id("tie-button")).to_be_in_viewport()
    screenshot("compare-phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_stop_stops_all(page: Page) -> None:
    start(page)
    send(page, STORY)
    expect(columns(page).nth(0).get_by_test_id("message-streaming")).to_contain_text(re.compile(r"\w{3}"))
    expect(columns(page).nth(1).get_by_test_id("message-streaming")).to_contain_text(re.compile(r"\w{3}"))
    page.get_by_test_id("stop-button").click()
    finished(page)
    expect(page.get_by_test_id("message-stopped")).to_have_count(2)
    expect(page.get_by_test_id("stop-button")).to_be_hidden()
    expect(page.locator(".is-best")).to_have_count(0)


@pytest.mark.long
def test_a_reload_in_mid_answer_loses_nothing(page: Page) -> None:
    start(page)
    send(page, STORY)
    streaming = columns(page).nth(1).get_by_test_id("message-streaming")
    expect(streaming).to_contain_text(re.compile(r"\w{3}"))
    page.reload()
    expect(columns(page).nth(0).get_by_test_id("message-streaming")).to_be_visible()
    expect(streaming).to_be_visible()
    page.get_by_test_id("stop-button").click()
    finished(page)


@pytest.mark.long
def test_a_column_that_refuses_does_not_disturb_the_other(page: Page) -> None:
    page.goto("/compare?agent=counter")
    page.get_by_role("group", name="Column B").get_by_role("combobox", name="Agent").click()
    page.get_by_role("option", name="Broken").click()
    page.get_by_test_id("compare-start").click()
    ask(page, SUM)
    expect(columns(page).nth(0)).to_contain_text(re.compile("Ready.*The answer is 45", re.DOTALL))
    expect(columns(page).nth(1).get_by_test_id("compare-refusal")).to_contain_text("gone_tool")
    ask(page, "What is 2 + 2?")
    expect(columns(page).nth(0).get_by_test_id("assistant-message")).to_have_count(2)
    expect(columns(page).nth(1).get_by_test_id("compare-refusal")).to_have_count(2)


def test_a_failed_answer_is_retried_in_its_place(page: Page) -> None:
    start(page)
    ask(page, "Fail with bad request")
    expect(page.get_by_test_id("message-error")).to_have_count(2)
    columns(page).nth(0).get_by_test_id("retry-button").click()
    finished(page)
    expect(columns(page).nth(0).get_by_test_id("assistant-message")).to_have_count(1)
    expect(columns(page).nth(1).get_by_test_id("assistant-message")).to_have_count(1)
    page.reload()
    expect(columns(page).nth(0).get_by_test_id("assistant-message")).to_have_count(1)


@pytest.mark.long
def test_a_column_goes_on_as_a_session_of_its_own(page: Page) -> None:
    start(page)
    ask(page, SUM)
    columns(page).nth(1).get_by_test_id("open-column").click()
    page.wait_for_url(re.compile("/playground/"))
    expect(page.get_by_test_id("assistant-message")).to_contain_text("45")
    expect(page.get_by_test_id("chat-input")).to_be_visible()


def test_the_better_variant_is_promoted_and_the_old_one_brought_back(page: Page) -> None:
    start(page)
    second = columns(page).nth(1)
    expect(second).to_contain_text("Newer")
    second.get_by_test_id("promote-button").click()
    expect(second).to_contain_text("Active")
    expect(columns(page).nth(0)).to_contain_text("Previous")
    expect(second.get_by_test_id("promote-button")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(columns(page).nth(0)).to_contain_text("Active")


def test_columns_are_added_and_removed(page: Page) -> None:
    page.goto("/compare?agent=counter")
    add, remove = page.get_by_test_id("compare-add"), page.get_by_test_id("compare-remove")
    expect(remove.locator("visible=true")).to_have_count(0)
    add.click()
    expect(remove.locator("visible=true")).to_have_count(3)
    add.click()
    expect(add).to_be_hidden()
    expect(page.get_by_test_id("compare-setup")).to_contain_text("Two columns are the same.")
    remove.first.click()
    expect(remove.locator("visible=true")).to_have_count(3)
    page.get_by_test_id("compare-start").click()
    expect(columns(page)).to_have_count(3)


def test_a_comparison_is_deleted_and_brought_back(page: Page) -> None:
    start(page)
    ask(page, "What is 7 + 8?")
    page.goto("/compare")
    row = page.get_by_test_id("comparison-row").filter(has_text="7 + 8")
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(row).to_have_count(1)


@pytest.mark.long
def test_columns_are_swiped_on_a_narrow_screen(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    start_narrow(page)
    ask(page, SUM)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(columns(page).nth(0)).to_be_in_viewport(ratio=0.3)
    columns(page).nth(1).get_by_test_id("vote-button").scroll_into_view_if_needed()
    expect(columns(page).nth(1).get_by_test_id("vote-button")).to_be_in_viewport()
    screenshot("compare-narrow")


def start_narrow(page: Page) -> None:
    page.goto("/compare?agent=counter")
    page.get_by_test_id("compare-start").click()
    expect(page.get_by_test_id("chat-input")).to_be_visible()


def test_a_message_that_never_reached_its_columns_says_so_and_the_next_one_does(page: Page) -> None:
    page.goto("/compare")
    page.get_by_test_id("comparison-row").filter(has_text="Cut off").get_by_role("link").click()
    expect(page.get_by_test_id("compare-refusal")).to_have_count(2)
    expect(page.get_by_test_id("compare-refusal").first).to_contain_text("before it began")
    ask(page, "What is 2 + 2?")
    expect(page.get_by_test_id("compare-refusal")).to_have_count(2)
    expect(page.get_by_test_id("assistant-message")).to_have_count(2)


def test_an_unknown_comparison_says_so(page: Page) -> None:
    page.goto("/compare/nowhere")
    expect(page.get_by_test_id("trouble")).to_contain_text("not here any more")
