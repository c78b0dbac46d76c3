"""Every page of the app in a browser: what it shows, and what goes over its connections."""

from collections.abc import AsyncIterator, Mapping

from playwright.async_api import Page, WebSocket, async_playwright

from tests.app_process import AppProcess
from tests.browser import chromium
from tests.faults.door_walk import PAGES

MORE = (
    "/tools/sources/servers",
    "/tools/server/planted",
    "/tools/server/elsewhere",
    "/tools/request/echo",
    "/tools/tell_all",
    "/agents/teller",
)


async def visited(app: AppProcess, runs: Mapping[str, str], pasted: str) -> AsyncIterator[tuple[str, bytes]]:
    """The HTML of each page, and all that was received meanwhile; also of an answer while it is written.

    `runs`: the session of each run, by its id.
    """
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        page = await (await browser.new_context(base_url=app.url)).new_page()
        heard = _heard(page)
        await page.goto(app.address)
        told = [f"/runs/{run}" for run in runs] + [f"/playground/{session}" for session in runs.values()]
        for place in (*PAGES, *MORE, *told):
            await page.goto(place)
            await page.locator("[data-testid=nav-playground]").first.wait_for()
            yield f"page {place}", (await page.content()).encode()
            yield f"traffic of {place}", b"\n".join(heard)
            heard.clear()
        await _asked(page, told[-1], pasted)
        yield "page of an answer", (await page.content()).encode()
        yield "traffic of an answer", b"\n".join(heard)
        await browser.close()


async def _asked(page: Page, session: str, text: str) -> None:
    """Ask in the session's page, and wait for the answer."""
    await page.goto(session)
    answers = page.get_by_test_id("assistant-message")
    await answers.first.wait_for()
    before = await answers.count()
    await page.get_by_test_id("chat-input").fill(text)
    await page.get_by_test_id("chat-input").press("Enter")
    await answers.nth(before).wait_for()
    await page.get_by_test_id("message-streaming").wait_for(state="detached")


def _heard(page: Page) -> list[bytes]:
    """What comes over the sockets of the page, as it comes."""
    heard: list[bytes] = []

    def took(payload: str | bytes) -> None:
        heard.append(payload.encode() if isinstance(payload, str) else payload)

    def opened(socket: WebSocket) -> None:
        socket.on("framereceived", took)

    page.on("websocket", opened)
    return heard
