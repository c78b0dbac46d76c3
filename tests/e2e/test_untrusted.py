"""Files and pictures of a session come from an origin of their own, in a real browser."""

import re

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.app_process import AppProcess
from tests.e2e.complaints import SIGNED, Complaints
from tests.e2e.playground import finished, start_session
from tests.e2e.test_attachments import SUNSET, arrived, pick

pytestmark = pytest.mark.long

PAGE = FilePayload(name="page.html", mimeType="text/html", buffer=b"<script>document.title = 'mine'</script>")


def test_a_picture_is_shown_and_a_file_saved_from_beside_the_app(page: Page, app_process: AppProcess) -> None:
    assert app_process.listens_at() == {app_process.port}
    start_session(page)
    pick(page, SUNSET, PAGE)
    arrived(page, "sunset.png", "page.html")
    page.get_by_test_id("send-button").click()
    finished(page)
    picture = page.get_by_test_id("user-message").get_by_role("img", name="sunset.png")
    assert SIGNED.fullmatch(picture.get_attribute("src") or "")
    expect(picture).to_have_js_property("naturalWidth", 60)
    page.get_by_test_id("session-file").filter(has_text="/page.html").click()
    here = page.url
    with page.expect_download() as download:
        page.get_by_test_id("file-view").get_by_role("button", name="Download").click()
    assert SIGNED.fullmatch(download.value.url)
    assert not download.value.url.startswith(app_process.url)
    assert (download.value.suggested_filename, download.value.path().read_bytes()) == ("page.html", PAGE["buffer"])
    assert page.url == here
    expect(page.get_by_test_id("file-view")).to_contain_text("document.title")


def test_a_link_that_is_none_says_so_and_leads_back(
    page: Page, app_process: AppProcess, complaints: Complaints
) -> None:
    complaints.expect("404")
    start_session(page)
    pick(page, SUNSET)
    arrived(page, "sunset.png")
    preview = page.get_by_test_id("attachment").locator("img")
    expect(preview).to_have_attribute("src", SIGNED)
    address = preview.get_attribute("src") or ""
    page.goto(re.sub(r"/\d+/", "/1/", address))
    expect(page.get_by_role("heading")).to_have_text("There is nothing here")
    page.get_by_role("link", name="Back to Agent Playground").click()
    expect(page.get_by_test_id("overview")).to_be_visible()
    assert page.url == f"{app_process.url}/"
