"""What a person does on the Playground, for tests that do it too."""

from playwright.sync_api import Locator, Page, expect

SUM = "What is 5 + 10, then multiply by 3?"
STORY = "Tell me a long story"
ANSWER_SECONDS = 90_000
THREE_TIMES_ENTER = """(box) => [1, 2, 3].forEach(() =>
  box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true })))"""


def start_session(page: Page, agent: str = "Assistant") -> None:
    page.get_by_test_id("agent-card").filter(has_text=agent).click()
    expect(page.get_by_test_id("chat-input")).to_be_focused()
    page.wait_for_url("**/playground/*")  # the browser shows it once the page is built


def send(page: Page, text: str) -> Locator:
    """The answer that the message begins."""
    before = page.get_by_test_id("assistant-message").count()
    page.get_by_test_id("chat-input").fill(text)
    page.get_by_test_id("chat-input").press("Enter")
    answer = page.get_by_test_id("assistant-message").nth(before)
    expect(answer).to_be_visible()
    return answer


def ask(page: Page, text: str) -> Locator:
    """The whole answer to the message."""
    answer = send(page, text)
    finished(page)
    return answer


def finished(page: Page) -> None:
    expect(page.get_by_test_id("message-streaming")).to_have_count(0, timeout=ANSWER_SECONDS)
    expect(page.get_by_test_id("stream-state")).to_have_text("Idle")


def opened_again_with(page: Page, typed: str) -> Page:
    """A second tab on what `page` shows, once the app knows that this was typed."""
    elsewhere = page.context.new_page()
    box = elsewhere.get_by_test_id("chat-input")
    for _ in range(100):
        elsewhere.goto(page.url)
        expect(box).to_be_focused()
        if box.input_value() == typed:
            break
    expect(box).to_have_value(typed)
    return elsewhere


def streamed(page: Page) -> str:
    return page.get_by_test_id("message-streaming").inner_text()


def wait_for_text(page: Page, length: int) -> str:
    page.wait_for_function(
        "length => document.querySelector('[data-testid=message-streaming]')?.innerText.length > length", arg=length
    )
    return streamed(page)
