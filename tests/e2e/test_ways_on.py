"""Where a person would be stuck, the page offers the way on: a tool for a file, something to say, a key for a model."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.playground import ask, finished, start_session
from tests.fakes.process import openai_process
from tests.tools.builtin.pdfs import pdf_of

pytestmark = pytest.mark.long

WANTED = "sk-wanted-0123456789"


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with openai_process(WANTED) as address:
        environment = {"OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": ""}
        app = AppProcess(tmp_path_factory.mktemp("ways-on"), environment=environment)
        app.start()
        yield app
        app.stop()


def test_a_pdf_that_no_tool_opens_says_so_and_offers_the_tool(page: Page, tmp_path: Path) -> None:
    start_session(page, "Math tutor")
    report = tmp_path / "report.pdf"
    report.write_bytes(pdf_of(["The first page"]))
    page.locator("input[type=file]").set_input_files(report)
    words = page.get_by_test_id("attachment-words")
    expect(words).to_contain_text("no tool of this agent says that it opens PDF files")
    assert violations(page) == []
    give = page.get_by_test_id("give-tool")
    expect(give).to_have_text("Give it PDF text")
    give.click()
    expect(words).to_have_text("As file /report.pdf, which PDF text can open")
    expect(give).to_have_count(0)
    expect(page.get_by_test_id("variant-select")).to_have_value("v2 · newer")
    switch = page.get_by_role("switch", name="PDF text in this session")
    switch.click()
    expect(give).to_be_visible()
    give.click()
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(page.get_by_test_id("variant-select")).to_have_value("v2 · newer")


def test_what_the_demo_can_do_is_one_click_away(page: Page) -> None:
    start_session(page)
    answer = ask(page, "fnord")
    expect(answer).not_to_contain_text("_API_KEY")
    expect(page.get_by_test_id("ideas-settings")).to_have_attribute("href", "/settings")
    assert violations(page) == []
    page.get_by_test_id("idea").filter(has_text="Calculate 2+2").click()
    expect(page.get_by_test_id("user-message").last).to_contain_text("Calculate 2+2 and 3+3 in parallel")
    finished(page)
    expect(page.get_by_test_id("ideas")).to_be_hidden()


def test_a_model_without_its_key_asks_for_it_when_it_is_chosen(page: Page) -> None:
    start_session(page)
    hint, chosen = page.locator(".composer-hint"), page.get_by_test_id("model-select")
    expect(hint).to_contain_text("Scripted demo answers.")
    choose(page, "openai/ok")
    expect(page.get_by_test_id("key-dialog")).to_contain_text("OpenAI needs a key")
    page.get_by_test_id("key-cancel").click()
    expect(page.get_by_test_id("key-dialog")).to_have_count(0)
    expect(chosen).to_contain_text("demo/agent")

    choose(page, "openai/ok")
    page.get_by_test_id("key-later").click()
    expect(chosen).to_contain_text("openai/ok")
    expect(hint).not_to_contain_text("Scripted")
    error = ask(page, "hello").get_by_test_id("message-error")
    expect(error).to_contain_text("This model needs a key")
    expect(error).not_to_contain_text("not accepted")

    choose(page, "openai/ok")
    page.get_by_test_id("key-dialog").get_by_test_id("key-input").fill(WANTED)
    page.get_by_test_id("save-provider").click()
    expect(page.get_by_test_id("key-dialog")).to_have_count(0)
    expect(chosen).not_to_have_attribute("aria-label", re.compile("needs a key"))
    choose(page, "openai/ok")
    expect(page.get_by_test_id("model-list")).to_have_count(0)
    expect(page.get_by_test_id("key-dialog")).to_have_count(0)


def choose(page: Page, model: str) -> None:
    page.get_by_test_id("model-select").click()
    page.get_by_test_id("model-search").fill(model)
    page.get_by_test_id("model-option").filter(has_text=re.compile(f"{model}|^{model.partition('/')[2]}")).first.click()
