"""The real app and a real browser; a test fails on whatever the console, the network or the log complains about."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from tests.app_process import ROOT, AppProcess
from tests.browser import WITHOUT_WINDOWS, chromium
from tests.e2e.complaints import Complaints

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
UNUSED = (
    "WebUIOmniboxPopup",  # two pages of the browser's own in each window, half a second of work
    "WebUIOmniboxAimPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",  # and what Playwright switches off: the last such switch counts alone
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "PreconnectToSearch",
)
"""Features of the browser that no test has a use for."""
CHEAPER = (
    "--js-flags=--no-opt --no-maglev",  # pages live too briefly to gain by what optimising their code takes
    "--in-process-gpu",
    f"--disable-features={','.join(UNUSED)}",
)
"""What takes less of the processor, and would falsify what is measured."""
WINDOW: ViewportSize = {"width": 1280, "height": 720}
SCREENSHOTS = ROOT / "build" / "screenshots"
PATIENCE = 60_000
"""Milliseconds: a machine that does much else is slow."""
expect.set_options(timeout=PATIENCE)
REPORT = pytest.StashKey[pytest.TestReport]()
BLANK = "blank"
PAST_THE_DOOR = re.compile(r"/playground$")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{BLANK}: the page is empty, because the test begins by opening one of its own")


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    """The app on a data folder of its own, shared by the tests of one file: what they make is in no other's way."""
    app = AppProcess(tmp_path_factory.mktemp("agent-playground"))
    app.start()
    yield app
    app.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        size = f"--window-size={WINDOW['width']},{WINDOW['height']}"
        chrome = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, *CHEAPER, size])
        yield chrome
        chrome.close()


@pytest.fixture(scope="module")
def context(browser: Browser, app_process: AppProcess) -> Iterator[BrowserContext]:
    """A browser profile past the door; relative addresses are the app's.

    The tests of one file share it, so that what every page loads is fetched and compiled once.
    """
    if chromium().name in WITHOUT_WINDOWS:  # a page has that size from the beginning, and is not laid out twice
        profile = browser.new_context(base_url=app_process.url, no_viewport=True)
    else:
        profile = browser.new_context(base_url=app_process.url, viewport=WINDOW)
    profile.set_default_timeout(PATIENCE)
    profile.request.get(app_process.address, max_redirects=0)
    profile.new_page().goto("/favicon.ico")  # stays, so that the process that draws the app's pages does
    yield profile
    profile.close()


@pytest.fixture
def complaints(context: BrowserContext, app_process: AppProcess) -> Iterator[Complaints]:
    """For tests that do what makes the browser complain: `complaints.expect("ERR_CONNECTION_REFUSED")`."""
    complaints = Complaints(context, app_process)
    yield complaints
    complaints.stop()


@pytest.fixture
def page(
    request: pytest.FixtureRequest, context: BrowserContext, app_process: AppProcess, complaints: Complaints
) -> Iterator[Page]:
    """A new tab past the door, on the Playground; the picture of a failure goes to `build/screenshots`."""
    if request.node.get_closest_marker(BLANK) is None:
        tab = beside_the_first(context, app_process.playground)
        tab.wait_for_url(PAST_THE_DOOR)
    else:
        tab = beside_the_first(context)
    yield tab
    report = request.node.stash.get(REPORT, None)
    if report is None or report.failed:
        tab.screenshot(path=SCREENSHOTS / f"failed-{request.node.name}.png")
    leave(context)
    assert not complaints.all(), "\n".join(complaints.all())


def beside_the_first(profile: BrowserContext, address: str = "about:blank") -> Page:
    """A new tab that the first one opened: one process draws both, and has compiled already what every page loads."""
    first = profile.pages[0]
    with first.expect_popup() as opened:
        first.evaluate(f"void window.open({json.dumps(address)})")
    return opened.value


def leave(profile: BrowserContext) -> None:
    """Close what a test opened, all but the profile's first tab, and take back what it was allowed."""
    for tab in profile.pages[1:]:
        tab.close()
    profile.clear_permissions()


@pytest.fixture
def screenshot(page: Page) -> Callable[[str], Path]:
    """Takes a picture of the page under a name, and says where it lies."""

    def take(name: str) -> Path:
        picture = SCREENSHOTS / f"{name}.png"
        page.screenshot(path=picture)
        return picture

    return take


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.stash[REPORT] = report
    return report
