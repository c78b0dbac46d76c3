"""The data section of Settings and Quit: what a person does to their data, and how the app ends."""

import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app_process import AppProcess
from tests.e2e.complaints import Complaints
from tests.e2e.playground import SUM, ask, start_session

SECRET = "sk-planted-0123456789abcdef"
SOON = 15
"""Seconds; the story that goes on takes longer."""


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    """Tells of whatever it asks the network, and knows a key."""
    data = tmp_path_factory.mktemp("data") / "data"
    app = AppProcess(data, module="tests.watched_app", environment={"OPENAI_API_KEY": SECRET})
    app.start()
    yield app
    app.stop_if_running()


def open_data(page: Page, app: AppProcess) -> None:
    page.goto(f"{app.url}/settings")
    expect(page.get_by_test_id("data-size")).to_contain_text("B")


def test_nothing_is_asked_of_the_network_before_a_person_acts(page: Page, app_process: AppProcess) -> None:
    start_session(page)
    expect(ask(page, SUM)).to_contain_text("45")
    open_data(page, app_process)
    assert "ASKED" not in app_process.log


@pytest.mark.blank
def test_the_folder_is_named_with_its_size(page: Page, app_process: AppProcess) -> None:
    open_data(page, app_process)
    expect(page.get_by_test_id("data-folder")).to_have_text(str(app_process.data))
    expect(page.get_by_test_id("data-size")).to_contain_text("agents, lists and settings")


@pytest.mark.long
@pytest.mark.blank
def test_a_problem_report_is_shown_before_it_is_saved_and_holds_no_key(
    page: Page, app_process: AppProcess, tmp_path: Path
) -> None:
    log = app_process.data / "logs" / "agent-playground.log"
    with log.open("a") as written:
        written.write(f"a line of an older version with {SECRET} and {app_process.token}\n")
    open_data(page, app_process)
    page.get_by_test_id("report-problem-button").click()
    names = page.get_by_test_id("problem-text").locator("summary")
    expect(names).to_have_count(4)
    with page.expect_download() as saved:
        page.get_by_test_id("save-problem-report").click()
    saved.value.save_as(tmp_path / "report.zip")
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(texts) == {"about.txt", "settings.json", "damage.txt", "logs/agent-playground.log"}
    everything = "\n".join(texts.values())
    assert SECRET not in everything and app_process.token not in everything and str(app_process.data) not in everything
    assert "a line of an older version" in everything and "Agent Playground: " in texts["about.txt"]


def test_what_would_be_deleted_is_said_before(page: Page, app_process: AppProcess) -> None:
    start_session(page)
    expect(ask(page, SUM)).to_contain_text("45")
    open_data(page, app_process)
    says = page.get_by_test_id("retention-says")
    expect(says).to_have_text("All runs are kept.")
    page.get_by_test_id("keep-runs").fill("1")
    expect(says).to_contain_text("run")
    expect(says).to_contain_text("would be deleted now")


@pytest.mark.long
@pytest.mark.blank
def test_a_backup_is_taken_saved_and_brought_back(
    page: Page, app_process: AppProcess, complaints: Complaints, tmp_path: Path
) -> None:
    open_data(page, app_process)
    page.get_by_test_id("backup-button").click()
    row = page.get_by_test_id("backup-row")
    expect(row).to_have_count(1)
    with page.expect_download() as saved:
        row.get_by_test_id("backup-download").click()
    saved.value.save_as(tmp_path / "mine.zip")
    with zipfile.ZipFile(tmp_path / "mine.zip") as archive:
        assert "app.tdb" in json.loads(archive.read("manifest.json"))["files"]

    (tmp_path / "no.zip").write_bytes(b"no zip at all")
    complaints.expect("/backups")
    page.get_by_test_id("backup-input").locator("input").set_input_files(tmp_path / "no.zip")
    expect(page.get_by_text("is no zip file, or a damaged one")).to_be_visible()
    page.get_by_test_id("backup-input").locator("input").set_input_files(tmp_path / "mine.zip")
    expect(row).to_have_count(2)

    unsigned(tmp_path / "mine.zip", tmp_path / "theirs.zip")
    page.get_by_test_id("backup-input").locator("input").set_input_files(tmp_path / "theirs.zip")
    expect(row).to_have_count(3)
    row.first.get_by_test_id("backup-restore").click()
    expect(page.get_by_role("dialog")).to_contain_text("Nothing shows that this backup was taken here")
    expect(page.get_by_role("dialog")).to_contain_text("Tools ask before each call")
    page.get_by_role("button", name="Cancel").click()
    row.first.get_by_test_id("backup-delete").click()
    page.get_by_test_id("question-confirm").click()
    expect(row).to_have_count(2)

    row.first.get_by_test_id("backup-restore").click()
    expect(page.get_by_role("dialog")).not_to_contain_text("Nothing shows")
    page.get_by_role("button", name="Cancel").click()


def unsigned(source: Path, target: Path) -> None:
    """The backup as another computer, or an earlier version, would have made it."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if name != "manifest.mac":
                new.writestr(name, old.read(name))


@pytest.mark.blank
def test_quit_names_what_goes_on_ends_all_pages_in_good_order_and_a_backup_is_restored_at_the_next_start(
    page: Page, app_process: AppProcess
) -> None:
    open_data(page, app_process)
    page.get_by_test_id("backup-button").click()
    page.get_by_test_id("backup-row").first.get_by_test_id("backup-restore").click()
    page.get_by_test_id("question-confirm").click()
    expect(page.get_by_test_id("restore-waits")).to_be_visible()
    other = page.context.new_page()
    other.goto(f"{app_process.url}/runs")
    expect(other.get_by_test_id("quit-button")).to_be_visible()
    page.goto(f"{app_process.url}/playground")
    start_session(page)
    page.get_by_test_id("chat-input").fill("Tell me a long story, be slow")
    page.get_by_test_id("send-button").click()
    expect(page.get_by_test_id("message-streaming")).to_be_visible()
    page.get_by_test_id("quit-button").click()
    expect(page.get_by_text("1 run goes on. It is interrupted")).to_be_visible()
    began = time.monotonic()
    page.get_by_test_id("question-confirm").click()
    for tab in (page, other):
        expect(tab.get_by_test_id("app-ended")).to_have_text("Agent Playground has ended.You can close this tab.")
    assert app_process.ended() == 0 and time.monotonic() - began < SOON
    assert "Traceback" not in app_process.log
    assert not list(app_process.data.glob("before-restore-*"))
    app_process.start()
    assert len(list(app_process.data.glob("before-restore-*"))) == 1
