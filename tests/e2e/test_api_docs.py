"""The API's documentation: read, searched, and an operation tried from it, with the page's own credential and a key."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.complaints import Complaints

pytestmark = [pytest.mark.blank, pytest.mark.long]


def test_an_operation_is_found_and_tried(page: Page) -> None:
    page.goto("/api/v1/docs")
    expect(page.locator("#kinds a")).to_contain_text(["Agents", "Runs", "Sockets"])
    expect(page.get_by_text('Send {"message"')).to_be_visible()
    page.get_by_label("Find").fill("POST belongs to the app")
    expect(page.locator(".operation:visible")).to_have_count(1)
    card = page.locator(".operation:visible")
    card.locator("summary").first.click()
    expect(card.get_by_text("The answer, parsed when it is a JSON object").first).to_be_visible()

    card.get_by_label("agent", exact=True).fill("assistant")
    card.get_by_role("button", name="Send POST").click()
    answer = card.get_by_test_id("answer")
    expect(answer).to_contain_text(re.compile("^200 OK"), timeout=15_000)
    expect(answer).to_contain_text('"status": "completed"')

    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("html")).to_have_js_property("scrollWidth", 390)


def test_a_wrong_key_is_told(page: Page, complaints: Complaints) -> None:
    complaints.expect("401")
    page.goto("/api/v1/docs")
    page.get_by_label("Key for trying out").fill("wrong")
    page.get_by_label("Find").fill("every tool")
    card = page.locator(".operation:visible").first
    card.locator("summary").first.click()
    card.get_by_role("button", name="Send GET").click()
    expect(card.get_by_test_id("answer")).to_contain_text("There is no such key")
