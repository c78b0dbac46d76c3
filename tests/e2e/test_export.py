"""Exports in a real browser: the dialog of a run's page, and the page that needs no app, opened from a file."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from app.export.bundle import read_bundle
from app.export.html import html_page
from app.export.json_lines import json_lines
from tests.app_process import AppProcess
from tests.e2e.apps import app_on, workbench_on
from tests.export.runs import NOTES, PNG, digest, rich_run
from tests.hostile import PAYLOADS
from tests.seeds import seed_trace
from tests.traces import ADD, asked, called, finished, ran, returned, said, started, trace_of

pytestmark = pytest.mark.blank

SECRET = "sk-planted-0123456789abc"


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("export"), seed) as app:
        yield app


async def seed(folder: Path) -> None:
    async with workbench_on(folder) as workbench:
        await workbench.artifacts.put(PNG)
        await workbench.artifacts.put(NOTES)
    run = rich_run("the-run")
    told = asked(f"My key is {SECRET}")
    await seed_trace(folder, [*run[:1], run[1].model_copy(update={"event": told}), *run[2:]])


@pytest.fixture
def alone(browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile without the app."""
    context = browser.new_context()
    yield context
    context.close()


def open_dialog(page: Page) -> None:
    page.goto("/runs/the-run")
    expect(page.get_by_test_id("run-step").first).to_be_visible()
    page.get_by_test_id("run-export").click()
    expect(page.get_by_test_id("export-preview")).to_contain_text("API key")


def saved(page: Page) -> bytes:
    with page.expect_download() as download:
        page.get_by_test_id("export-download").click()
    return Path(download.value.path()).read_bytes()


def test_the_dialog_shows_what_is_taken_out_and_saves_the_file(page: Page):
    open_dialog(page)
    preview = page.get_by_test_id("export-preview")
    expect(preview).to_contain_text("entry 1")
    expect(preview).not_to_contain_text(SECRET)
    content = saved(page)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        document = archive.read("review.md").decode()
    assert SECRET not in document and "[redacted API key]" in document
    expect(page.get_by_test_id("export-dialog")).to_have_count(0)
    expect(page.get_by_role("alert").filter(has_text="is saved where your browser keeps downloads")).to_be_visible()


@pytest.mark.long
def test_in_user_mode_the_web_page_is_what_is_exported(page: Page):
    page.goto("/settings?section=appearance")
    page.get_by_test_id("settings-mode-user").click()
    expect(page.get_by_test_id("settings-mode-user")).to_have_attribute("aria-pressed", "true")
    open_dialog(page)
    expect(page.get_by_test_id("export-format-html")).to_have_attribute("aria-checked", "true")
    expect(page.get_by_test_id("export-call-files")).to_be_hidden()
    page.goto("/settings?section=appearance")
    page.get_by_test_id("settings-mode-developer").click()
    expect(page.get_by_test_id("settings-mode-developer")).to_have_attribute("aria-pressed", "true")


def test_on_a_phone_too_it_says_what_is_taken_out_and_can_be_saved(page: Page):
    page.set_viewport_size({"width": 390, "height": 800})
    open_dialog(page)
    expect(page.get_by_test_id("export-preview")).to_be_visible()
    page.get_by_test_id("export-download").scroll_into_view_if_needed()
    expect(page.get_by_test_id("export-download")).to_be_in_viewport()


def test_a_shape_can_be_let_through_and_another_format_chosen(page: Page):
    open_dialog(page)
    page.get_by_test_id("export-format-bundle").click()
    expect(page.get_by_test_id("export-format-bundle")).to_have_attribute("aria-checked", "true")
    expect(page.get_by_test_id("export-copy")).to_be_hidden()
    page.get_by_test_id("export-shape-API-key").click()
    expect(page.get_by_test_id("export-preview")).to_contain_text("None were found")
    found = read_bundle(saved(page))
    assert set(found.artifacts) == {digest(PNG), digest(NOTES)}
    assert SECRET in found.entries[1].model_dump_json()


def test_the_web_page_opens_from_a_file_and_asks_the_network_for_nothing(alone: BrowserContext, tmp_path: Path):
    events = [event for number, payload in enumerate(PAYLOADS) for event in hostile_step(number, payload)]
    hostile = trace_of(started(model=PAYLOADS[0]), asked("\n\n".join(PAYLOADS)), *events, finished())
    files = {"hostile.html": hostile, "rich.html": rich_run()}
    asked_for: list[str] = []
    heard: list[str] = []
    alone.on("request", lambda request: asked_for.append(request.url))
    alone.on("console", lambda message: heard.append(message.text))
    tab = alone.new_page()
    for name, entries in files.items():
        file = tmp_path / name
        page = html_page(entries, json_lines(entries, app="1"), artifacts={digest(PNG): PNG, digest(NOTES): NOTES})
        file.write_bytes(page)
        tab.goto(file.as_uri())
        tab.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
        assert tab.evaluate("window.hacked") is None
        assert tab.url == file.as_uri()
        expect(tab.get_by_role("heading", name="Run of Assistant")).to_be_visible()
        assert (
            tab.evaluate("getComputedStyle(document.querySelector('.card.user')).backgroundColor") == "rgb(29, 95, 209)"
        )
    assert [url for url in asked_for if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in asked_for if url.startswith("file:")]) == len(files)
    assert heard == []


def hostile_step(number: int, payload: str):
    bad = ADD.model_copy(update={"call_id": f"c{number}", "name": payload, "arguments": {payload: payload}})
    step = (called(f"m{number}"), said(payload, bad, reasoning=payload), returned(f"m{number}"))
    return (*step, *ran(bad, payload), called(f"n{number}"), said(payload), returned(f"n{number}"))


def test_a_saved_page_gives_its_trace_back(alone: BrowserContext, tmp_path: Path):
    file = tmp_path / "rich.html"
    file.write_bytes(html_page(rich_run(), json_lines(rich_run(), app="1"), artifacts={}))
    tab = alone.new_page()
    tab.goto(file.as_uri())
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Save the trace").click()
    assert download.value.suggested_filename == "r1.jsonl.gz"
