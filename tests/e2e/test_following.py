"""The conversation stays at its newest line until a person leaves it, in a browser that is slowed down."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.bench.following import END_PIXELS, FROM_END, MARK, MOVED, MOVED_PIXELS, SCROLL, rested, settled
from tests.e2e.playground import STORY, ask, finished, send, start_session, streamed, wait_for_text

SHOWCASE = "Show me Markdown"
SLOWED = 4
GROW = """() => { const more = document.createElement("div"); more.style.height = "300px";
  document.querySelector(".transcript-content").append(more); }"""
DRAWN = """() => [...document.querySelectorAll(".turn")].map(
  (turn) => turn.firstElementChild.checkVisibility({ contentVisibilityAuto: true }))"""
TOP, HEIGHT = f"{SCROLL}.scrollTop", f"{SCROLL}.scrollHeight"
ONE_WHEEL = 600
OLDER = """() => { const turn = document.querySelector(".turn");
  for (let count = 0; count < 8; count += 1) turn.before(turn.cloneNode(true)); }"""
LEAVE_BY_KEY = ("PageUp", "ArrowUp", "Home")


def slow_down(page: Page) -> None:
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})


def from_end(page: Page) -> float:
    settled(page)
    return float(page.evaluate(FROM_END))


def moved(page: Page) -> float:
    settled(page)
    return abs(float(page.evaluate(MOVED)))


def middle_of_an_answer(page: Page) -> None:
    """An answer goes on below one that there is to scroll in."""
    start_session(page)
    ask(page, SHOWCASE)
    send(page, STORY)
    wait_for_text(page, 200)


def grown_and_stopped(page: Page) -> None:
    """It is longer by some lines, and then at its end, however late this test comes to see it."""
    wait_for_text(page, len(streamed(page)) + 500)
    page.keyboard.press("Escape")
    finished(page)


def test_answers_that_nobody_scrolls_in_end_at_the_newest_line(page):
    slow_down(page)
    start_session(page)
    for text in (SHOWCASE, "Think about the sea"):
        ask(page, text)
        assert from_end(page) <= END_PIXELS, text
    expect(page.get_by_test_id("jump-to-latest")).to_have_count(0)


def test_who_scrolls_up_stays_there_until_they_jump_to_the_latest(page):
    middle_of_an_answer(page)
    page.mouse.move(640, 360)
    page.mouse.wheel(0, -250)
    expect(page.get_by_test_id("jump-to-latest")).to_be_visible()
    rested(page)
    page.evaluate(MARK)
    grown_and_stopped(page)

    assert moved(page) <= MOVED_PIXELS
    page.get_by_test_id("jump-to-latest").click()
    expect(page.get_by_test_id("jump-to-latest")).to_have_count(0)
    assert from_end(page) <= END_PIXELS


@pytest.mark.long
def test_keys_that_scroll_up_leave_the_newest_line_and_end_returns_to_it(page):
    middle_of_an_answer(page)
    page.locator(".transcript-scroll").focus()
    for key in LEAVE_BY_KEY:
        page.keyboard.press(key)
        expect(page.get_by_test_id("jump-to-latest")).to_be_visible()
        page.keyboard.press("End")
        expect(page.get_by_test_id("jump-to-latest")).to_have_count(0)
    grown_and_stopped(page)

    assert from_end(page) <= END_PIXELS


@pytest.mark.long
def test_what_tab_reaches_above_is_in_view_and_stays_there_while_an_answer_grows(page):
    middle_of_an_answer(page)
    wait_for_text(page, 3_000)  # what is reached is out of view by then
    reached = page.get_by_test_id("regenerate-button").first
    page.get_by_test_id("chat-input").focus()
    while not reached.evaluate("button => button === document.activeElement"):
        page.keyboard.press("Shift+Tab")
    expect(page.get_by_test_id("jump-to-latest")).to_be_visible()
    rested(page)
    page.evaluate(MARK)
    finished(page)

    assert moved(page) <= MOVED_PIXELS
    expect(reached).to_be_focused()
    expect(reached).to_be_in_viewport()


def test_what_is_pressed_stays_under_the_pointer_until_it_is_let_go(page):
    start_session(page)
    ask(page, SHOWCASE)
    assert from_end(page) <= END_PIXELS
    page.mouse.move(640, 360)
    page.mouse.down()
    page.evaluate(MARK)
    page.evaluate(GROW)

    assert from_end(page) > 200
    assert moved(page) <= MOVED_PIXELS
    page.mouse.up()
    page.wait_for_function(f"({FROM_END})() <= {END_PIXELS}")
    expect(page.get_by_test_id("jump-to-latest")).to_have_count(0)


@pytest.mark.long
def test_who_scrolls_down_to_the_end_follows_again(page):
    middle_of_an_answer(page)
    page.mouse.move(640, 360)
    page.mouse.wheel(0, -250)
    expect(page.get_by_test_id("jump-to-latest")).to_be_visible()
    page.mouse.wheel(0, 20_000)
    expect(page.get_by_test_id("jump-to-latest")).to_have_count(0)
    grown_and_stopped(page)

    assert from_end(page) <= END_PIXELS


def test_a_box_that_scrolls_by_itself_does_not_end_the_following(page):
    start_session(page)
    ask(page, "Run this Python code: `print('line\\n' * 12)`")
    page.get_by_test_id("tool-call").last.locator("summary").first.click()
    box = page.get_by_test_id("tool-result").last
    # As a rule of the page: a card that is drawn anew when its run has ended keeps no style of its own.
    page.add_style_tag(content="[data-testid=tool-result] { height: 60px; overflow: auto }")
    settled(page)
    page.locator(".transcript-scroll").press("End")
    settled(page)
    box.evaluate("box => { box.scrollTop = 100; }")
    place = box.bounding_box()  # as it is at the end; to hover over it would bring it elsewhere first
    assert place is not None
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    before = box.evaluate("box => box.scrollTop")
    page.mouse.wheel(0, -40)
    page.wait_for_function("([box, before]) => box.scrollTop < before", arg=[box.element_handle(), before])

    expect(page.get_by_test_id("jump-to-latest")).to_have_count(0)
    assert from_end(page) <= END_PIXELS


@pytest.mark.long
def test_a_card_that_a_person_opens_stays_where_it_is(page):
    start_session(page)
    ask(page, SHOWCASE)
    ask(page, "What is 5 + 10, then multiply by 3?")
    card = page.get_by_test_id("tool-call").last.locator("summary").first
    card.scroll_into_view_if_needed()
    settled(page)
    before = card.bounding_box()
    card.click()
    settled(page)

    after = card.bounding_box()
    assert before is not None and after is not None and abs(after["y"] - before["y"]) <= MOVED_PIXELS


def test_turns_out_of_sight_are_not_drawn_and_come_back_without_a_jump(page):
    start_session(page)
    ask(page, SHOWCASE)
    page.evaluate(OLDER)
    page.wait_for_function(f"!({DRAWN})()[0]")
    settled(page)
    assert page.evaluate(DRAWN)[-1]
    height = page.evaluate(HEIGHT)

    page.mouse.move(640, 360)
    while (top := page.evaluate(TOP)) > 0:
        page.evaluate(MARK)
        page.mouse.wheel(0, -ONE_WHEEL)
        page.wait_for_function(f"{TOP} < {top}")
        rested(page)
        assert abs(page.evaluate(MOVED) - min(top, ONE_WHEEL)) <= MOVED_PIXELS
    assert page.evaluate(DRAWN)[0]
    assert abs(page.evaluate(HEIGHT) - height) <= MOVED_PIXELS


def test_a_word_more_costs_no_look_at_the_whole_page(page):
    """A stylesheet can make it so: the browser then works out the style of thousands of elements for every word."""
    start_session(page)
    ask(page, SHOWCASE)
    tracing, styled = page.context.new_cdp_session(page), []
    tracing.on("Tracing.dataCollected", lambda told: styled.extend(styled_elements(told["value"])))
    with_styles = {"includedCategories": ["disabled-by-default-devtools.timeline", "devtools.timeline"]}
    tracing.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": with_styles})
    page.evaluate(
        """() => { const words = document.createElement("div"); words.innerHTML = "<p>more</p>";
          [...document.querySelectorAll(".prose")].at(-1).append(words); return getComputedStyle(words).color; }"""
    )
    traced: list[object] = []
    tracing.on("Tracing.tracingComplete", lambda told: traced.append(told))  # noqa: PLW0108  it wants a function
    tracing.send("Tracing.end")
    while not traced:
        page.evaluate("0")  # what was traced arrives meanwhile
    assert 0 < max(styled) < page.evaluate("document.querySelectorAll('*').length") / 4


def styled_elements(events: list[dict[str, Any]]) -> list[int]:
    return [event["args"]["elementCount"] for event in events if event["name"] == "UpdateLayoutTree" and event["args"]]
