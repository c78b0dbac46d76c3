"""Code in answers, in a real browser: it gets its colours, and nothing that a model writes stops the app."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.agents import PromptBehaviour, new_agent
from tests.app_process import AppProcess
from tests.e2e.apps import app_on, workbench_on
from tests.e2e.playground import ask, start_session
from tests.hostile_servers import echo
from tests.ui.markdown.test_colours import SLOW

PYTHON = "def greet(name):  # é😀\n    return f'Hello, {name}!'\n"


async def with_an_echo(folder: Path) -> None:
    async with workbench_on(folder) as workbench:
        slugs = workbench.agents.slugs()
        await workbench.agents.create(new_agent("Echo", PromptBehaviour(model="openai/echo"), taken_slugs=slugs))


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with echo() as address:
        environment = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-echo"}
        with app_on(tmp_path_factory.mktemp("code"), with_an_echo, environment=environment) as app:
            yield app


def code(page: Page, language: str) -> Locator:
    return page.get_by_test_id("assistant-message").last.locator(f"code.language-{language}")


@pytest.mark.long
def test_code_gets_its_colours_and_stays_the_text_it_was(page: Page) -> None:
    start_session(page, "Echo")
    ask(page, f"Look:\n\n```python\n{PYTHON}```\n\nand:\n\n```klingon\nqapla'\n```")
    expect(code(page, "python").locator(".k").first).to_have_text("def")
    assert code(page, "python").text_content() == PYTHON
    expect(code(page, "klingon").locator("span")).to_have_count(0)
    page.reload()
    expect(code(page, "python").locator(".c1")).to_have_text("# é😀")
    assert code(page, "python").text_content() == PYTHON


@pytest.mark.long
def test_code_that_no_lexer_ever_gets_through_stops_nothing(page: Page) -> None:
    start_session(page, "Echo")
    ask(page, f"```bash\n{SLOW}\n```\n\n```python\n{PYTHON}```")
    expect(code(page, "python").locator(".k").first).to_have_text("def")
    expect(code(page, "bash").locator("span")).to_have_count(0)
    assert code(page, "bash").text_content() == f"{SLOW}\n"
