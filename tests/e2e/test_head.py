"""What stands around a conversation holds still, shortens, and goes where there is no room for it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.accessible import violations
from tests.e2e.playground import STORY, SUM, ask, finished, send, start_session, wait_for_text

WIDTHS = (360, 390, 480, 600, 720, 899, 900, 1024, 1199, 1200, 1280, 1440, 1920)
HEIGHTS = (844, 450)
PLACES = """() => {
  const scroll = document.querySelector(".transcript-scroll").getBoundingClientRect();
  const head = document.querySelector(".session-head");
  const last = head.querySelector("[data-testid=side-panel-button]").getBoundingClientRect();
  return {
    top: scroll.top, bottom: scroll.bottom, head: head.offsetHeight, cut: Math.max(0, last.right - innerWidth),
    hidden: head.scrollWidth - head.clientWidth, beyond: document.documentElement.scrollWidth - innerWidth,
  };
}"""

NAVIGATION_FITS = """() => {
  const left = document.querySelector(".q-drawer").getBoundingClientRect().left;
  const beside = getComputedStyle(document.querySelector(".q-page-container")).paddingLeft;
  return innerWidth < 900 ? left < 0 && beside === "0px" : left === 0 && beside === "208px";
}"""
"""Quasar looks at the size of the window a moment after it changed."""
AT_REST = """async () => {
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const moving = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(moving.map((one) => one.finished));
}"""


def places(page: Page) -> dict[tuple[int, int], dict[str, float]]:
    """Where the conversation begins and ends, and what is cut off, at each size of the window."""
    found = {}
    for height in HEIGHTS:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function(NAVIGATION_FITS)
            page.evaluate(AT_REST)
            found[width, height] = page.evaluate(PLACES)
    return found


@pytest.mark.long
def test_nothing_jumps_and_nothing_is_cut_off_when_a_run_begins_and_ends(page: Page) -> None:
    start_session(page)
    ask(page, SUM)
    before = places(page)
    assert {one["head"] for one in before.values()} == {48}
    assert {one["cut"] + one["hidden"] + one["beyond"] for one in before.values()} == {0}
    send(page, STORY)
    wait_for_text(page, 50)
    page.get_by_test_id("chat-input").fill("and then?")
    assert places(page) == before
    page.get_by_test_id("chat-input").fill("")
    page.get_by_test_id("stop-button").click()
    finished(page)
    assert places(page) == before


@pytest.mark.long
@pytest.mark.parametrize(("width", "height"), [(720, 450), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_where_there_is_little_room_the_conversation_has_it(
    page: Page, width: int, height: int, scheme: str, screenshot: Callable[[str], Path]
) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": height})
    start_session(page)
    ask(page, SUM)
    expect(page.get_by_test_id("kpi-strip")).to_be_hidden()
    expect(page.get_by_test_id("status-bar")).to_be_hidden()
    expect(page.get_by_test_id("cost-chip")).to_be_in_viewport()
    box = page.locator(".transcript-scroll").bounding_box()
    assert box is not None and box["height"] >= height - 180
    screenshot(f"session-{width}-{height}-{scheme}")
    assert violations(page) == []


@pytest.mark.long
def test_the_line_of_tokens_does_not_fall_while_an_answer_goes_on(page: Page) -> None:
    start_session(page)
    ask(page, SUM)
    ask(page, SUM)
    line = page.locator("[data-testid=kpi-strip] polyline")
    before = line.get_attribute("points")
    send(page, STORY)
    wait_for_text(page, 50)
    assert line.get_attribute("points") == before
    assert violations(page) == []
    page.get_by_test_id("stop-button").click()
    finished(page)
