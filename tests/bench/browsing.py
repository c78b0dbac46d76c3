"""The app in a browser with an agent whose model is the bench's provider."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from app.domain.agents import Parameters, PromptBehaviour, ToolChoice, new_agent
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.bench.provider import provider
from tests.browser import chromium
from tests.e2e.conftest import FLAGS, PATIENCE


@contextmanager
def session_with(model: str, folder: Path, *tools: ToolChoice) -> Iterator[tuple[AppProcess, Page]]:
    """The running app, and a page with a new session of that model."""
    asyncio.run(plant(model, folder, tools))
    with provider() as address, sync_playwright() as playwright:
        app = AppProcess(folder, environment={"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-bench"})
        app.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.set_default_timeout(PATIENCE)
            page.goto(app.playground)
            page.get_by_test_id("agent-card").filter(has_text="Bench").click()
            page.wait_for_url("**/playground/*")
            yield app, page
        finally:
            browser.close()
            app.stop()


async def plant(model: str, folder: Path, tools: tuple[ToolChoice, ...] = ()) -> None:
    workbench = Workbench.open(folder)
    behaviour = PromptBehaviour(model=model, parameters=Parameters(max_tokens=100_000), tools=tools)
    await workbench.agents.create(new_agent("Bench", behaviour, taken_slugs=workbench.agents.slugs()))
    await workbench.close()


def send(page: Page, text: str) -> None:
    """Send a message and wait until it stands in the conversation."""
    asked = page.get_by_test_id("user-message").count()
    page.get_by_test_id("chat-input").fill(text)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("user-message")).to_have_count(asked + 1)


def ask(page: Page, text: str, *, seconds: float = 120) -> None:
    """Send a message and wait until it is answered."""
    send(page, text)
    expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=seconds * 1000)
