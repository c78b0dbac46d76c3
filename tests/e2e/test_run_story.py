"""From yesterday's failed run to the one that went well: found, understood, mended at one result, taken along."""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.domain.errors import ErrorInfo
from app.domain.events import Entry, Event, ModelCalled, ModelFailed, RunFinished, ToolReturned
from app.domain.messages import TextPart
from app.domain.values import now
from tests.app_process import AppProcess
from tests.e2e.apps import app_on, workbench_on
from tests.seeds import seed_trace

pytestmark = pytest.mark.blank

SUM = "What is 5 + 10, then multiply by 3?"
FAILED = "yesterdays-failure"
REFUSED = "The price list could not be read: the connection was refused."
TEXT = "The provider answered 500."


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("story"), seed) as app:
        yield app


async def seed(folder: Path) -> None:
    """A run of today that went well, and yesterday's that did not."""
    async with workbench_on(folder) as workbench:
        session = await workbench.chat.new_session(workbench.agents.by_slug("assistant").id)
        live = await workbench.chat.send(session.id, SUM)
        await live.ended()
        events = [entry.event for entry in live.entries]
    await seed_trace(folder, yesterday(broken_off(events)))


def broken_off(events: Sequence[Event]) -> Iterator[Event]:
    """The run with a first call that failed, and without an answer to that."""
    for event in events:
        if isinstance(event, ToolReturned):
            refused = event.result.model_copy(update={"status": "error", "parts": (TextPart(text=REFUSED),)})
            yield event.model_copy(update={"result": refused})
            break
        yield event
    asked = next(event for event in events if isinstance(event, ModelCalled))
    yield asked.model_copy(update={"call_id": "again"})
    yield ModelFailed(call_id="again", failure="provider_error", text=TEXT, attempt=1)
    yield RunFinished(status="failed", error=ErrorInfo(failure="provider_error", text=TEXT))


def yesterday(events: Iterator[Event]) -> list[Entry]:
    began = now() - timedelta(days=1)
    return [
        Entry(run_id=FAILED, seq=seq, at=began + timedelta(milliseconds=100 * seq), event=event)
        for seq, event in enumerate(events)
    ]


@pytest.mark.long
def test_a_failed_run_is_found_mended_compared_and_taken_along(page: Page, browser: Browser, tmp_path: Path):
    find_failed_run(page)
    edit_the_refused_result(page)
    compare_with_the_original(page)
    replay(page)
    read_without_the_app(browser, export_html(page, tmp_path))


def find_failed_run(page: Page) -> None:
    page.goto("/runs?status=failed")
    rows = page.get_by_test_id("run-row")
    expect(rows).to_have_count(1)
    rows.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(f"/runs/{FAILED}"))
    expect(page.get_by_test_id("message-error")).to_contain_text(TEXT)
    finding = page.locator("[data-rule=ended_by_error]")
    expect(finding).to_contain_text("broke off in step 2, right after calculator failed")
    page.get_by_test_id("next-error").click()
    expect(page.locator(".timeline .is-wanted")).to_contain_text(REFUSED)


def edit_the_refused_result(page: Page) -> None:
    page.locator(".timeline .is-wanted").get_by_test_id("fork-button").click()
    dialog = page.get_by_test_id("fork-dialog")
    expect(dialog).to_contain_text("Run on from step 1")
    expect(page.get_by_test_id("fork-check")).to_contain_text("1 step reused with 1 result")
    expect(page.get_by_test_id("fork-side-effects")).to_contain_text("write_file")
    page.get_by_test_id("fork-edit").fill("5 + 10 = 15")
    page.get_by_test_id("fork-start").click()
    expect(page).not_to_have_url(re.compile(FAILED))
    expect(page.get_by_test_id("status-pill")).to_have_text("Completed")
    expect(page.locator("[data-testid=run-step][data-step-type=agent-response]")).to_contain_text("45")
    origin = page.get_by_test_id("forked-from")
    expect(origin).to_have_text(re.compile("Forked from step 1 of another run"))
    expect(origin).to_have_attribute("href", re.compile(f"/runs/{FAILED}"))


def compare_with_the_original(page: Page) -> None:
    page.get_by_test_id("fork-compare").click()
    comparison = page.get_by_test_id("fork-comparison")
    expect(comparison).to_contain_text("1 step reused, 2 new")
    rows = comparison.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("Edited")
    expect(rows.nth(1)).to_contain_text(REFUSED)
    expect(rows.nth(2)).to_contain_text(TEXT)
    expect(rows.nth(2)).to_contain_text("The original broke off")
    comparison.get_by_role("button", name="Close").click()
    expect(comparison).to_have_count(0)


def replay(page: Page) -> None:
    page.get_by_test_id("run-more").click()
    page.get_by_test_id("run-replay").click()
    dialog = page.get_by_test_id("replay-dialog")
    expect(dialog.get_by_test_id("replay-report")).to_contain_text(re.compile(r"Identical: \d+ events in 2 steps, \$0"))
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)


def export_html(page: Page, folder: Path) -> Path:
    page.get_by_test_id("run-export").click()
    expect(page.get_by_test_id("export-preview")).to_contain_text("None were found")
    page.get_by_test_id("export-dialog").get_by_role("radio", name="Web page").click()
    expect(page.locator("[data-format=html]")).to_have_attribute("aria-checked", "true")
    with page.expect_download() as download:
        page.get_by_test_id("export-download").click()
    saved = folder / download.value.suggested_filename
    download.value.save_as(saved)
    return saved


def read_without_the_app(browser: Browser, document: Path) -> None:
    alone = browser.new_context()
    page = alone.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(document.as_uri())
    expect(page.get_by_text("5 + 10 = 15").first).to_be_visible()
    assert [address for address in asked if not address.startswith(("file:", "data:", "blob:"))] == []
    alone.close()
