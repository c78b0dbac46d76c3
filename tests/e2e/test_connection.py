"""A connection that is lost and found again, in each of the ways in which that happens."""

import re
from collections.abc import Callable
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Locator, Page, WebSocketRoute, expect

from tests.app_process import AppProcess
from tests.e2e.complaints import LOST, Complaints
from tests.e2e.playground import STORY, SUM, THREE_TIMES_ENTER, finished, opened_again_with, send, start_session
from tests.waiting import wait_until

ANSWER = "The answer is 45."


class Line:
    """The wire between a page and the app, which a test cuts."""

    def __init__(self, page: Page) -> None:
        self.deaf = False
        """What the app says does not arrive; neither side knows."""
        self.deaf_from_words = ""
        """It is deaf from the first message on that has them."""
        self.mute = False
        """What the browser says does not arrive."""
        self.lost: list[str | bytes] = []
        self._page = page
        self._browser: WebSocketRoute | None = None
        self._app: WebSocketRoute | None = None
        page.route_web_socket(re.compile("/_nicegui_ws/"), self._open)

    def deaf_from(self, visit: Callable[[], object], box: Locator) -> None:
        """Visit until the box comes with the page itself, not behind it: a busy app holds no page back for it."""
        self.deaf = True
        for _ in range(20):
            visit()
            with suppress(Error):
                box.wait_for(timeout=3000)
                return
        raise AssertionError("the box never came with its page")

    def wait_until_lost(self, words: str) -> None:
        """Until that was said to nobody."""
        wait_until(lambda: self._page.evaluate("1") and any(words in str(said) for said in self.lost))

    def catch_up(self) -> None:
        """What the app said to nobody arrives after all."""
        assert self._browser
        self.deaf, self.deaf_from_words = False, ""
        for said in self.lost:
            self._browser.send(said)

    def leave(self) -> None:
        """The app learns that the browser is not there; the browser learns nothing."""
        assert self._app
        self._app.close()

    def come_back(self) -> None:
        """The browser learns that it was not there, and connects anew."""
        assert self._browser
        self.deaf = False
        self._browser.close()

    def _open(self, browser: WebSocketRoute) -> None:
        app = browser.connect_to_server()
        self._browser, self._app, self.lost = browser, app, []
        browser.on_close(lambda _code, _reason: None)  # else one end's would close the other
        app.on_close(lambda _code, _reason: None)
        browser.on_message(lambda said: self._pass_on(said, app, lost=self.mute))
        app.on_message(lambda said: self._pass_on(said, browser, lost=self._is_deaf_to(said)))

    def _is_deaf_to(self, said: str | bytes) -> bool:
        if self.deaf_from_words and self.deaf_from_words in str(said):
            self.deaf = True
        return self.deaf

    def _pass_on(self, said: str | bytes, to: WebSocketRoute, *, lost: bool) -> None:
        if lost:
            self.lost.append(said)
        else:
            to.send(said)


def notice_is_shown(page: Page, *, shown: bool) -> None:
    expect(page.locator("#popup")).to_have_attribute("aria-hidden", "false" if shown else "true")


def overlaps(page: Page, one: str, other: str) -> bool:
    """Whether the two stand in each other's way."""
    return bool(
        page.evaluate(
            """(names) => {
              const [a, b] = names.map((name) => document.querySelector(name).getBoundingClientRect());
              return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            }""",
            [one, other],
        )
    )


def test_a_lost_connection_is_said_and_what_was_sent_meanwhile_arrives_once(page: Page, complaints: Complaints) -> None:
    complaints.expect("ERR_INTERNET_DISCONNECTED")
    start_session(page)
    send(page, STORY)
    expect(page.get_by_test_id("stop-button")).to_be_visible()
    live, lost = page.locator(".live-state .is-live"), page.locator(".live-state .is-lost")
    expect(live).to_be_visible()
    page.context.set_offline(True)
    page.evaluate("window.socket.io.engine.close()")  # the page comes back by itself, as after any loss
    notice_is_shown(page, shown=True)
    expect(lost).to_be_visible()
    expect(live).to_be_hidden()
    assert page.locator("#popup").inner_text().startswith(lost.inner_text().splitlines()[-1])
    for covered in ("theme-system", "quit-button"):
        assert not overlaps(page, "#popup", f"[data-testid={covered}]")
    box = page.get_by_test_id("chat-input")
    box.fill("What is 1 + 2?")
    box.evaluate(THREE_TIMES_ENTER)
    page.context.set_offline(False)
    notice_is_shown(page, shown=False)
    expect(live).to_be_visible()
    expect(lost).to_be_hidden()
    expect(box).to_have_value("")
    page.get_by_test_id("stop-button").click()
    finished(page)
    page.get_by_test_id("queued-send-now").click()
    expect(page.get_by_test_id("assistant-message").last).to_contain_text("1 + 2 = 3")
    finished(page)
    expect(page.get_by_test_id("queued-message")).to_have_count(0)
    expect(page.get_by_test_id("user-message")).to_have_count(2)


@pytest.mark.long
def test_an_answer_that_ended_while_nobody_heard_it_is_shown_whole(page: Page) -> None:
    line = Line(page)
    page.reload()
    start_session(page)
    page.get_by_test_id("chat-input").fill(SUM)
    line.deaf = True
    page.get_by_test_id("chat-input").press("Enter")
    line.wait_until_lost("5 + 10 = 15")
    line.leave()
    wait_until(lambda: _status_of_newest_run(page) == "completed")
    line.come_back()
    answer = page.get_by_test_id("assistant-message")
    expect(answer).to_contain_text(ANSWER)
    finished(page)
    expect(answer.get_by_test_id("tool-call")).to_have_count(2)
    expect(page.get_by_test_id("user-message")).to_have_count(1)
    expect(page.get_by_test_id("chat-input")).to_have_value("")


@pytest.mark.blank
def test_what_is_typed_before_a_page_has_its_connection_arrives_in_its_order(page: Page) -> None:
    line, box = Line(page), page.get_by_test_id("agent-search")
    line.deaf_from(lambda: page.goto("/agents"), box)
    box.press_sequentially("python", delay=200)  # each letter is said by itself
    line.catch_up()
    expect(page).to_have_url(re.compile(r"\?q=python$"))


@pytest.mark.blank
def test_what_is_typed_over_a_suggestion_before_the_page_has_its_connection_stays(page: Page) -> None:
    box, head = page.get_by_test_id("doctor-model"), page.locator("[data-provider=openai]")
    page.goto("/settings?provider=openai")
    expect(box).not_to_have_value("")
    line = Line(page)
    line.deaf_from(page.reload, box)
    expect(box).not_to_have_value("")
    box.fill("mine")
    line.catch_up()
    for shown in (False, True):  # which the app is asked for
        head.click()
        expect(box).to_be_visible(visible=shown)
    expect(box).to_have_value("mine")


@pytest.mark.long
def test_an_app_that_was_started_again_finds_the_page_and_what_was_typed(
    page: Page, app_process: AppProcess, complaints: Complaints
) -> None:
    complaints.expect(LOST)
    start_session(page)
    send(page, SUM)
    finished(page)
    app_process.stop()
    notice_is_shown(page, shown=True)
    page.get_by_test_id("chat-input").fill("Typed while nobody listened")
    app_process.start()
    notice_is_shown(page, shown=False)
    expect(page.get_by_test_id("assistant-message")).to_contain_text(ANSWER)
    expect(page.get_by_test_id("chat-input")).to_have_value("Typed while nobody listened")


@pytest.mark.long
def test_a_tab_that_lay_idle_has_after_a_restart_what_was_typed_elsewhere(
    page: Page, app_process: AppProcess, complaints: Complaints
) -> None:
    complaints.expect(LOST)
    start_session(page)
    elsewhere = page.context.new_page()
    elsewhere.goto(page.url)
    elsewhere.get_by_test_id("chat-input").fill("Typed elsewhere")
    opened_again_with(page, "Typed elsewhere")
    app_process.stop()
    notice_is_shown(page, shown=True)
    app_process.start()
    expect(page.get_by_test_id("chat-input")).to_have_value("Typed elsewhere")


def test_typed_text_that_is_lost_on_its_way_outlives_a_reload(page: Page) -> None:
    line = Line(page)
    page.reload()
    start_session(page)
    line.mute = True
    page.get_by_test_id("chat-input").fill("told to nobody")
    line.wait_until_lost("told to nobody")
    line.mute = False
    page.reload()
    expect(page.get_by_test_id("chat-input")).to_have_value("told to nobody")
    opened_again_with(page, "told to nobody")


def _status_of_newest_run(page: Page) -> str:
    return page.request.get("/api/v1/runs").json()["data"][0]["status"]
