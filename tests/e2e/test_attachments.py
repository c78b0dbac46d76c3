"""Files attached to a message, in a real browser: picked, dropped, pasted, kept, sent and looked at."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.e2e.complaints import Complaints
from tests.e2e.playground import finished, start_session
from tests.e2e.test_keyboard import go_to, press
from tests.pictures import picture

SUNSET = FilePayload(name="sunset.png", mimeType="image/png", buffer=picture())
TABLE = FilePayload(name="table.csv", mimeType="text/csv", buffer=b"a,b\n1,2\n")
NOTE = FilePayload(name="note.txt", mimeType="text/plain", buffer=b"hello")
DRAG = """([place, type]) => {
  const data = new DataTransfer();
  data.items.add(new File(["a,b"], "dropped.csv"));
  data.items.add(new File(["hello"], "second.txt"));
  const event = new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data });
  document.querySelector(place).dispatchEvent(event);
  return event.defaultPrevented;
}"""
PASTE = """([place, html]) => {
  const data = new DataTransfer();
  data.items.add(new File(["hello"], "pasted.txt"));
  if (html) { data.setData("text/html", html); data.setData("text/plain", "words"); }
  const event = new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data });
  document.querySelector(place).dispatchEvent(event);
}"""
CONVERSATION, PANEL, BOX = ".transcript-content", "[data-testid=side-panel] h2", "[data-testid=chat-input]"
EDITOR = "[data-testid=prompt-editor] [contenteditable]"


def pick(page: Page, *files: FilePayload) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_test_id("attach-button").click()
    assert chooser.value.is_multiple()
    chooser.value.set_files(list(files))


@pytest.mark.long
def test_a_file_is_attached_sent_and_taken_off_again_by_keyboard_alone(page: Page) -> None:
    start_session(page)
    for file in (NOTE, TABLE):
        with page.expect_file_chooser() as chooser:
            press(page, page.get_by_test_id("attach-button"), back=True)
        chooser.value.set_files([file])
        expect(names(page).filter(has_text=file["name"])).to_be_visible()
    press(page, page.get_by_role("button", name="Remove table.csv"), back=True)
    expect(names(page)).to_have_text(["note.txt"])
    go_to(page, page.get_by_test_id("chat-input"))
    page.keyboard.type("What is in it?")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("user-message").locator("li")).to_have_text(re.compile("note.txt"))
    finished(page)


def names(page: Page) -> Locator:
    return page.get_by_test_id("attachment-name")


def words(page: Page, name: str) -> Locator:
    """How that attachment reaches the model; it is said once the file has arrived."""
    return page.get_by_test_id("attachment").filter(has_text=name).get_by_test_id("attachment-words")


def arrived(page: Page, *expected: str) -> None:
    expect(names(page)).to_have_text(list(expected))
    for name in expected:
        expect(words(page, name)).to_have_text(re.compile("."))


def test_files_are_kept_sent_in_order_and_looked_at(page: Page, screenshot: Callable[[str], Path]) -> None:
    start_session(page)
    pick(page, SUNSET, NOTE, TABLE)
    arrived(page, "sunset.png", "note.txt", "table.csv")
    expect(words(page, "sunset.png")).to_contain_text("This model sees no pictures. As file /sunset.png")
    expect(words(page, "table.csv")).to_contain_text("As file /table.csv")
    page.get_by_role("button", name="Remove note.txt").press("Enter")
    arrived(page, "sunset.png", "table.csv")
    expect(page.get_by_role("button", name="Remove table.csv")).to_be_focused()
    screenshot("attachments-composer")
    page.reload()
    arrived(page, "sunset.png", "table.csv")
    page.get_by_test_id("send-button").click()
    expect(page.get_by_test_id("user-message").locator("li")).to_have_count(2)
    finished(page)
    expect(names(page)).to_have_count(0)
    sent = page.get_by_test_id("user-message").locator("li")
    expect(sent.nth(0).get_by_role("img", name="sunset.png")).to_be_visible()
    expect(sent.nth(1)).to_contain_text("table.csv")
    expect(page.get_by_test_id("session-file")).to_contain_text(["/sunset.png", "/table.csv"])
    with page.expect_download() as download:
        sent.nth(1).get_by_role("link").click()
    assert (download.value.suggested_filename, download.value.path().read_bytes()) == ("table.csv", b"a,b\n1,2\n")
    page.get_by_role("button", name="Show sunset.png larger").click()
    large = page.get_by_test_id("picture-view").get_by_role("img", name="sunset.png")
    expect(large).to_be_visible()
    assert large.evaluate("image => image.decode().then(() => image.naturalWidth)") == 60
    page.keyboard.press("Escape")
    expect(large).to_have_count(0)
    page.reload()
    expect(sent).to_have_count(2)


@pytest.mark.long
def test_an_edited_message_keeps_its_attachments(page: Page) -> None:
    start_session(page)
    pick(page, SUNSET)
    arrived(page, "sunset.png")
    page.get_by_test_id("chat-input").fill("What is this?")
    page.get_by_test_id("chat-input").press("Enter")
    expect(page.get_by_test_id("thumbnail")).to_be_visible()
    finished(page)
    page.get_by_test_id("edit-button").click()
    page.get_by_test_id("edit-input").fill("What is that?")
    page.get_by_test_id("edit-send-button").click()
    expect(page.get_by_test_id("user-message")).to_contain_text("What is that?")
    expect(page.get_by_test_id("thumbnail")).to_have_count(1)
    finished(page)
    page.get_by_test_id("open-run").click()
    page.wait_for_url("**/runs/**")
    expect(page.get_by_test_id("run-step").first.get_by_role("img", name="sunset.png")).to_be_visible()


def test_a_picture_whose_address_holds_no_more_gets_a_fresh_one(page: Page, complaints: Complaints) -> None:
    complaints.expect("NotSameOrigin")
    start_session(page)
    pick(page, SUNSET)
    arrived(page, "sunset.png")
    shown = page.get_by_test_id("attachment").locator("img")
    given = shown.get_attribute("src") or ""
    shown.evaluate("image => { image.src = image.src.replace(/\\/\\d+\\//, '/1/'); }")
    expect(shown).to_have_attribute("src", given)
    assert shown.evaluate("image => image.decode().then(() => image.naturalWidth)") == 60


def test_files_are_dropped_on_the_conversation_only(page: Page) -> None:
    start_session(page)
    zone = page.get_by_test_id("drop-zone")
    assert page.evaluate(DRAG, [CONVERSATION, "dragover"])
    expect(zone).to_be_visible()
    assert page.evaluate(DRAG, [PANEL, "dragover"])
    expect(zone).to_have_count(0)
    assert page.evaluate(DRAG, [CONVERSATION, "drop"])
    arrived(page, "dropped.csv", "second.txt")
    expect(zone).to_have_count(0)


def test_files_are_pasted_and_text_stays_text(page: Page) -> None:
    start_session(page)
    expect(page.locator(EDITOR)).to_be_visible()
    page.evaluate(PASTE, [BOX, "<b>words</b>"])
    page.evaluate(PASTE, [EDITOR, ""])
    page.evaluate(PASTE, [BOX, ""])
    arrived(page, "pasted.txt")


@pytest.mark.long
@pytest.mark.blank
def test_a_file_that_cannot_be_attached_says_why(page: Page, complaints: Complaints) -> None:
    complaints.expect("ERR_FAILED")
    bound(page, 1)
    page.goto("/playground")
    start_session(page)
    expect(page.get_by_test_id("attach-button")).to_have_attribute("title", re.compile("up to 1 MiB each"))
    huge = FilePayload(name="huge.bin", mimeType="", buffer=bytes(1024**2 + 1))
    pick(page, huge, FilePayload(name="empty.txt", mimeType="", buffer=b""))
    errors = page.get_by_test_id("attachment-error")
    expect(errors).to_have_text([re.compile("larger than 1 MiB"), re.compile("file is empty")])
    for name in ("huge.bin", "empty.txt"):
        page.get_by_role("button", name=f"Remove {name}").click()
    expect(page.get_by_test_id("attachment")).to_have_count(0)
    page.route("**/uploads/**", lambda route: route.abort(), times=1)
    pick(page, NOTE)
    expect(errors).to_contain_text("The upload was broken off")
    page.get_by_role("button", name="Try note.txt again").click()
    arrived(page, "note.txt")
    expect(errors).to_have_count(0)
    bound(page, 20)


def bound(page: Page, mib: int) -> None:
    """Set how large a file may be."""
    page.goto("/settings?section=attachments")
    box = page.get_by_test_id("setting-attachment-mib")
    box.fill("0")
    expect(page.get_by_text("At least 1")).to_be_visible()
    box.fill(str(mib))
    expect(page.get_by_text("At least 1")).to_have_count(0)


def test_a_message_waits_for_its_files(page: Page) -> None:
    start_session(page)
    held: list[Route] = []
    page.route("**/uploads/**", lambda route: held.append(route), times=2)  # noqa: PLW0108  Playwright marks it
    with page.expect_request("**/uploads/**"):
        pick(page, NOTE)
    pick(page, TABLE)
    expect(page.get_by_role("progressbar", name="Uploading table.csv")).to_be_visible()
    page.get_by_role("button", name="Cancel table.csv").click()
    page.get_by_test_id("send-button").click()
    expect(page.get_by_test_id("composer-note")).to_contain_text("“note.txt” is still being attached")
    expect(page.get_by_test_id("user-message")).to_have_count(0)
    held[0].continue_()
    arrived(page, "note.txt")
    expect(page.get_by_test_id("composer-note")).to_be_hidden()
    page.get_by_test_id("send-button").click()
    expect(page.get_by_test_id("message-file")).to_contain_text("note.txt")
    expect(page.get_by_test_id("composer-note")).to_be_hidden()
