"""The Setup guide: from the first start to an answer, left and gone on with, a server found by its address."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.accessible import violations
from tests.e2e.playground import ANSWER_SECONDS, finished
from tests.fakes.process import openai_process

pytestmark = pytest.mark.blank
WANTED = "sk-wanted-0123456789"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Where a server that speaks OpenAI's protocol and wants a key runs, as a person would write it."""
    with openai_process(WANTED) as address:
        yield address.removeprefix("http://")


def answered(page: Page, text: str) -> None:
    expect(page.get_by_test_id("assistant-message").last).to_contain_text(text, timeout=ANSWER_SECONDS)
    finished(page)


def accessible(page: Page) -> None:
    """Also in the dark, which the system's theme brings."""
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body.body--dark")).to_have_count(1)
    assert violations(page) == []
    page.emulate_media(color_scheme="light")


def test_a_first_start_leads_to_an_answer_of_the_demo_with_the_keyboard_alone(
    page: Page, screenshot: Callable[[str], Path]
):
    page.goto("/")
    expect(page.get_by_test_id("setup-offer")).to_be_visible()
    screenshot("setup-offer")
    page.get_by_test_id("offer-demo").press("Enter")
    expect(page.get_by_test_id("setup-agent")).to_have_count(5)
    page.get_by_test_id("setup-agent").filter(has_text="Assistant").press("Enter")
    question = page.get_by_test_id("setup-question").first
    expect(question).to_be_visible()
    screenshot("setup-question")

    page.get_by_test_id("nav-overview").click()  # left, and gone on with at the same step
    page.get_by_test_id("setup-resume").click()
    question.press("Enter")
    answered(page, "45")

    page.get_by_test_id("setup-next").click()
    expect(page.get_by_test_id("setup-tour")).to_have_count(5)
    screenshot("setup-tour")
    page.get_by_test_id("setup-tour").filter(has_text="Get cut off").press("Enter")
    answered(page, "The answer broke off")
    page.get_by_test_id("setup-next").click()
    expect(page.get_by_test_id("setup-tour").filter(has_text="seen")).to_have_count(1)

    page.get_by_test_id("setup-again").click()
    expect(page.get_by_test_id("setup-server")).to_be_visible()


@pytest.mark.long
def test_user_mode_is_offered_shows_one_row_of_facts_and_all_is_one_click_away(
    page: Page, screenshot: Callable[[str], Path]
):
    page.goto("/setup")
    page.get_by_test_id("setup-mode-user").click()
    expect(page.get_by_test_id("setup-mode-user")).to_have_attribute("aria-pressed", "true")
    accessible(page)
    page.goto("/playground")
    page.get_by_test_id("agent-card").filter(has_text="Assistant").click()
    page.get_by_test_id("example").first.click()
    answered(page, "45")
    for shown in ("token-chip", "cost-chip", "panel-show-all"):
        expect(page.get_by_test_id(shown)).to_be_visible()
    facts = page.get_by_test_id("side-panel").locator("dt:visible")
    expect(facts).to_have_text(["Model", "Money at most"])
    for hidden in ("kpi-strip", "composer-cost", "context-system"):
        expect(page.get_by_test_id(hidden)).to_be_hidden()
    screenshot("user-mode")
    page.get_by_test_id("show-all").click()
    expect(page.get_by_test_id("kpi-strip")).to_be_visible()
    expect(page.get_by_test_id("show-all")).to_be_hidden()
    expect(facts).to_contain_text(["Steps at most"])


@pytest.mark.long
def test_a_server_is_found_by_its_address_and_answers(page: Page, server: str, screenshot: Callable[[str], Path]):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/setup")
    page.get_by_test_id("setup-server").click()
    expect(page.get_by_test_id("setup-look-again")).to_be_enabled()
    page.get_by_test_id("setup-address").fill("no address")
    page.get_by_test_id("setup-find").click()
    expect(page.get_by_test_id("setup-server-note")).to_contain_text("is no address")
    page.get_by_test_id("setup-address").fill(server)
    page.get_by_test_id("setup-find").click()
    expect(page.get_by_test_id("setup-server-note")).to_contain_text("wants a key")
    page.get_by_test_id("setup-server-key").fill(WANTED)
    page.get_by_test_id("setup-find").click()
    found = page.get_by_test_id("setup-found").filter(has_text=server)
    expect(found).to_be_visible()
    screenshot("setup-server")
    found.get_by_test_id("setup-use-server").click()
    model = page.get_by_test_id("setup-model").get_by_text("ok", exact=True)
    model.click()
    expect(page.locator("[data-testid=setup-model][aria-pressed=true]")).to_contain_text("ok")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_test_id("setup-agent").filter(has_text="Math tutor").click()
    page.get_by_test_id("setup-own-question").fill("Hello?")
    page.get_by_test_id("setup-own-question").press("Enter")
    answered(page, "Hello world")


def test_a_key_that_is_missing_is_said_and_the_guide_can_be_finished_and_opened_again(page: Page):
    page.goto("/setup?begin=key")
    page.get_by_test_id("setup-provider").select_option("mistral")
    expect(page.get_by_label("API key of mistral")).to_be_visible()
    page.get_by_test_id("save-provider").click()
    note = page.get_by_test_id("setup-key-note")
    expect(note).to_contain_text("Paste your key of Mistral first")
    page.get_by_test_id("key-input").fill("sk-ant-0123456789")
    page.get_by_test_id("save-provider").click()
    expect(note).to_contain_text("looks like a key of Anthropic")
    expect(page.get_by_test_id("setup-key-place")).to_contain_text("New keys are kept in a file")
    accessible(page)
    page.get_by_test_id("setup-skip").click()
    expect(page.get_by_test_id("setup-offer")).to_be_visible()
    page.get_by_test_id("nav-setup").click()
    page.get_by_test_id("setup-open-tour").click()
    page.get_by_test_id("setup-finish").click()
    expect(page.get_by_test_id("overview")).to_be_visible()
    expect(page.get_by_test_id("setup-offer")).to_have_count(0)
    page.get_by_test_id("nav-setup").click()
    expect(page.get_by_test_id("setup-demo")).to_be_visible()
