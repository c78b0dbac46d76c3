"""How attachments go to a real model, in a real browser: chosen on the chip, allowed, said in the chat, taken back."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, ViewportSize, expect

from app.domain.agents import PromptBehaviour, new_agent
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on, workbench_on
from tests.e2e.complaints import Complaints
from tests.e2e.playground import ask, start_session
from tests.e2e.test_agents import row
from tests.e2e.test_attachments import pick
from tests.e2e.test_keyboard import go_to
from tests.fakes.process import openai_process
from tests.fakes.server import Json
from tests.llm.sending import PDF, WAV, picture

pytestmark = pytest.mark.long

KEY = "sk-fake-0123456789"
PHONE: ViewportSize = {"width": 390, "height": 844}
PHOTO = FilePayload(name="photo.jpg", mimeType="image/jpeg", buffer=picture((2400, 1200), "JPEG", turned=6))
REPORT = FilePayload(name="report.pdf", mimeType="application/pdf", buffer=PDF)
SOUND = FilePayload(name="call.wav", mimeType="audio/x-wav", buffer=WAV)


async def with_a_seer(folder: Path) -> None:
    async with workbench_on(folder) as workbench:
        slugs = workbench.agents.slugs()
        await workbench.agents.create(new_agent("Seer", PromptBehaviour(model="openai/gpt-4o"), taken_slugs=slugs))


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with openai_process(KEY) as address:
        yield address


@pytest.fixture(scope="module")
def app_process(provider: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    environment = {"OPENAI_BASE_URL": f"{provider}/v1", "OPENAI_API_KEY": KEY}
    with app_on(tmp_path_factory.mktemp("ways"), with_a_seer, environment=environment) as app:
        yield app


def chip(page: Page, name: str) -> Locator:
    return page.get_by_test_id("attachment").filter(has_text=name)


def said_of(page: Page, name: str) -> Locator:
    return chip(page, name).get_by_test_id("attachment-words")


def way_of(page: Page, name: str) -> Locator:
    return chip(page, name).get_by_test_id("disposition-select")


def last_body(provider: str) -> Json:
    with urllib.request.urlopen(f"{provider}/state") as reply:
        body: Json = json.load(reply)["bodies"][-1]
    return body


def test_each_file_goes_as_it_was_chosen_the_chat_says_what_was_sent_and_the_leave_is_taken_back(
    page: Page, provider: str, screenshot: Callable[[str], Path]
) -> None:
    start_session(page, "Seer")
    pick(page, PHOTO, REPORT, SOUND)
    expect(said_of(page, "photo.jpg")).to_contain_text("Sent inline: 784 × 1,568 px, ")
    chip(page, "photo.jpg").get_by_test_id("detail-toggle").check()
    expect(said_of(page, "photo.jpg")).to_contain_text("Sent inline: 1,000 × 2,000 px, ")
    expect(said_of(page, "report.pdf")).to_contain_text("Sent inline: ")
    expect(said_of(page, "call.wav")).to_contain_text("gpt-4o takes no sound. Its name only")
    assert violations(page) == []
    screenshot("attachment-ways")

    go_to(page, way_of(page, "report.pdf"))
    page.keyboard.type("Upl")  # the option that begins so
    dialog = page.get_by_role("dialog", name="Let OpenAI keep files?")
    expect(dialog).to_contain_text("7 days at most")
    page.keyboard.press("Escape")
    expect(way_of(page, "report.pdf")).to_have_value("auto")
    way_of(page, "report.pdf").select_option("native")
    dialog.get_by_test_id("question-confirm").click()
    expect(said_of(page, "report.pdf")).to_contain_text("Uploaded to the provider: ")
    page.reload()
    expect(way_of(page, "report.pdf")).to_have_value("native")
    expect(said_of(page, "report.pdf")).to_contain_text("Uploaded to the provider: ")

    ask(page, "What do you see?")
    sent = page.get_by_test_id("attachment-sent")
    said = [" 1,000 × 2,000 px", "Uploaded to the provider", "A file of the session: gpt-4o takes no sound"]
    expect(sent).to_contain_text(said)
    kinds = [part["type"] for part in last_body(provider)["messages"][-1]["content"]]
    assert kinds == ["text", "image_url", "file", "text"]
    page.reload()
    expect(sent).to_contain_text(said)
    assert violations(page) == []
    screenshot("attachment-sent")
    take_the_leave_back(page)


def take_the_leave_back(page: Page) -> None:
    """Which has the files deleted."""
    page.goto("/settings")
    card = page.locator("[data-provider-card=openai]")
    card.get_by_role("button").first.click()
    expect(card.get_by_test_id("uploads-note")).to_contain_text("1 file there now")
    assert violations(page) == []
    card.get_by_test_id("allow-uploads").click()
    expect(card.get_by_test_id("uploads-note")).to_have_text("No file of yours is there.")


def test_an_agent_says_by_type_how_attachments_go(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.goto("/agents/seer?tab=model")
    page.get_by_test_id("editor-tab-model").click()
    page.get_by_test_id("rule-application/pdf").click()
    page.get_by_role("option", name="As a file for tools").click()
    box = page.get_by_test_id("rule-type")
    box.fill("nonsense")
    box.press("Enter")
    expect(page.get_by_text("Write it like text/csv or image/*")).to_be_visible()
    box.fill("text/csv")
    box.press("Enter")
    expect(page.get_by_test_id("rule-text/csv")).to_be_visible()
    assert violations(page) == []
    screenshot("attachment-rules")
    page.get_by_test_id("save-variant-button").click()
    expect(page.get_by_test_id("editor-state")).to_contain_text("v2")
    row(page, 2).get_by_test_id("promote-button").click()
    expect(row(page, 1).get_by_test_id("promote-button")).to_have_text("Roll back")
    page.reload()
    page.get_by_test_id("editor-tab-model").click()
    expect(page.get_by_test_id("rule-text/csv")).to_be_visible()
    page.goto("/playground")
    start_session(page, "Seer")
    pick(page, REPORT)
    expect(said_of(page, "report.pdf")).to_contain_text("Its name only: this agent has no tool to open it")


def test_the_chips_fit_a_phone_in_the_dark(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    page.goto("/playground")
    start_session(page, "Seer")
    pick(page, PHOTO, SOUND)
    expect(said_of(page, "photo.jpg")).to_contain_text("784 × 1,568 px")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert violations(page) == []
    screenshot("attachment-ways-phone")


def test_a_picture_that_no_model_takes_is_refused_in_words(page: Page, complaints: Complaints) -> None:
    complaints.expect("422")
    start_session(page, "Seer")
    pick(page, FilePayload(name="photo.heic", mimeType="image/heic", buffer=b"\0\0\0\x18ftypheic" + bytes(20)))
    expect(page.get_by_test_id("attachment-error")).to_contain_text("is a HEIC picture, which models do not take.")
