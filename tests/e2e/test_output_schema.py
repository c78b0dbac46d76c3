"""An agent whose answers have to be JSON, in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.blank


@pytest.mark.long
def test_an_answer_is_checked_against_the_agents_schema(page: Page) -> None:
    page.goto("/agents")
    page.get_by_test_id("new-agent-button").click()
    page.get_by_test_id("agent-name-input").fill("Reader of facts")
    page.get_by_test_id("template-option").filter(has_text="JSON extractor").click()
    page.get_by_test_id("create-agent-button").click()
    expect(page.get_by_test_id("agent-name")).to_have_text("Reader of facts")
    page.get_by_test_id("new-session-button").click()
    page.get_by_test_id("chat-input").fill("hello")
    page.get_by_test_id("send-button").click()
    expect(page.get_by_test_id("output-fits")).to_be_visible(timeout=20_000)
    code = page.get_by_test_id("assistant-message").locator("pre code.language-json")
    expect(code).to_have_text(re.compile(r'^\{\n  "\w+": '), use_inner_text=True)
    drawn = code.inner_text()
    page.reload()
    expect(page.get_by_test_id("output-fits")).to_be_visible()
    expect(code).to_have_text(drawn, use_inner_text=True)
