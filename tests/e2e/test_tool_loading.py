"""Tools that an agent finds as it needs them, chosen in its editor and told in its run."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.accessible import violations
from tests.e2e.playground import SUM, ask, start_session

pytestmark = pytest.mark.long


def test_an_agent_finds_its_tools_and_the_run_tells_which_were_sent(page: Page) -> None:
    page.goto("/agents/assistant?tab=tools")
    sizes = page.get_by_test_id("tool-tokens")
    expect(sizes).to_contain_text("All are sent with each call")
    page.get_by_test_id("tool-loading").click()
    page.get_by_role("option", name="Those that the agent has found").click()
    expect(sizes).to_contain_text("told of those that it finds")
    page.get_by_text("By tool").click()
    expect(page.get_by_test_id("tool-size").first).to_contain_text("tokens")
    assert violations(page) == []
    page.get_by_test_id("variant-note").fill("on demand")
    page.get_by_test_id("save-variant-button").click()
    page.get_by_test_id("promote-button").first.click()
    page.goto("/playground")
    start_session(page)
    answer = ask(page, SUM)
    expect(answer).to_contain_text("45")
    expect(answer.get_by_test_id("tool-call").first).to_contain_text("calculator")


@pytest.mark.blank
def test_the_share_is_set_for_the_whole_app(page: Page) -> None:
    page.goto("/settings?section=tools")
    expect(page.get_by_test_id("setting-tool-percent")).to_have_value("10")
