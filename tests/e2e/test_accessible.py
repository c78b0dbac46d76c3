"""Every page as axe-core sees it: nothing of any weight is wrong, in a light window and on a dark phone.

And as the keyboard walks through it: nothing that it reaches is covered (WCAG 2.2, 2.4.11).
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.e2e.accessible import violations
from tests.e2e.conftest import WINDOW
from tests.e2e.evals import add_scorer, save_into_new, try_it
from tests.e2e.playground import SUM, ask, start_session
from tests.e2e.test_build import created

pytestmark = pytest.mark.blank
PHONE: ViewportSize = {"width": 390, "height": 844}
MADE = {"{session}": "", "{run}": "", "{comparison}": "", "{dataset}": "", "{experiment}": ""}
STILL = "*, *::before, *::after { animation: none !important; transition: none !important; }"
"""Colours in the middle of their change are nobody's."""
UNDER_A_BAR = "/agents/assistant?tab=tools"
"""Where something stays at the top while much goes by below it."""
SAY = "(message) => Quasar.Notify.create(message)"
LEAST_STEPS, MOST_STEPS = 5, 150
REACHED = """() => new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const reached = document.activeElement;
  if (reached === document.body) return told(null);
  const { left, top, width, height } = reached.getBoundingClientRect();
  const spots = [[0.5, 0.5], [0.1, 0.5], [0.9, 0.5], [0.5, 0.1], [0.5, 0.9]];
  const there = spots.map(([x, y]) => document.elementFromPoint(left + x * width, top + y * height));
  const seen = there.some((one) => one && one !== document.body && (one.contains(reached) || reached.contains(one)));
  const names = [reached.dataset.testid, reached.getAttribute("aria-label"), reached.textContent, reached.tagName];
  told([names.find(Boolean).trim().slice(0, 60), seen]);
})))"""
"""What has the focus, and whether any of it is seen; nothing once the keyboard has left the page."""
ADDRESSES = (
    "/",
    "/playground",
    "/playground/{session}",
    "/agents",
    *(f"/agents/assistant?tab={tab}" for tab in ("prompt", "model", "tools", "limits", "output")),
    "/agents/math-tutor/suggest",
    "/build",
    "/build/walked",
    "/tools",
    "/tools/calculator",
    "/tools/sources/all",
    "/tools/new/request",
    "/compare",
    "/compare/{comparison}",
    "/evals",
    "/evals?show=experiments",
    *(f"/evals/{{dataset}}?show={part}" for part in ("cases", "scorers", "experiments")),
    "/experiments/{experiment}",
    "/matrix",
    "/matrix/{experiment}?all=1",
    "/review",
    "/review?queue=failures",
    "/review/judges",
    "/runs",
    *(f"/runs/{{run}}?view={view}" for view in ("timeline", "trajectory", "waterfall", "messages", "review", "raw")),
    "/jobs",
    "/monitoring",
    "/resources",
    "/integrations",
    "/settings",
    "/setup",
    "/runs/nothing",
)


@pytest.fixture(autouse=True)
def made(page: Page) -> Iterator[None]:
    """A session with a run and its tools, a case and an experiment on it, a comparison, a workflow: for addresses."""
    if not MADE["{run}"]:
        page.goto("/playground")
        start_session(page)
        answer = ask(page, SUM)
        link = answer.get_by_role("link", name="See this run step by step").get_attribute("href") or ""
        MADE["{session}"] = page.url.rsplit("/", 1)[1]
        MADE["{run}"] = link.rsplit("/", 1)[1]
        answer.get_by_test_id("save-as-case-button").click()
        save_into_new(page)
        page.get_by_test_id("case-open").click()
        page.wait_for_url("**/evals/*")
        MADE["{dataset}"] = page.url.rsplit("/", 1)[1].partition("?")[0]
        expect(page.get_by_test_id("case-dialog")).to_be_visible()
        page.keyboard.press("Escape")
        add_scorer(page)
        MADE["{experiment}"] = try_it(page)
        created(page, "Walked", template="Ask before sending")
        page.goto("/compare")
        page.get_by_test_id("compare-start").click()
        expect(page.get_by_test_id("chat-input")).to_be_focused()
        page.wait_for_url("**/compare/*")
        MADE["{comparison}"] = page.url.rsplit("/", 1)[1]
    yield
    page.set_viewport_size(WINDOW)


@pytest.mark.parametrize(
    "address",
    [pytest.param(one, marks=[pytest.mark.long] if number % 3 else []) for number, one in enumerate(ADDRESSES)],
)
def test_everybody_can_use_every_page(page: Page, address: str) -> None:
    for name, made in MADE.items():
        address = address.replace(name, made)
    page.goto(address)
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.add_style_tag(content=STILL)
    found: dict[str, str] = {}
    for dark, width in ((False, WINDOW), (True, PHONE)):
        page.evaluate("dark => Quasar.Dark.set(dark)", dark)
        expect(page.locator("body")).to_have_class(re.compile("body--dark" if dark else "body--light"))
        page.set_viewport_size(width)
        found |= dict.fromkeys(violations(page), "dark phone" if dark else "light window")
    assert found == {}


@pytest.mark.parametrize("dark", [False, True])
def test_short_messages_can_be_read(page: Page, dark: bool) -> None:
    page.goto("/jobs")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.add_style_tag(content=STILL)
    page.evaluate("dark => Quasar.Dark.set(dark)", dark)
    for kind in (None, "positive", "negative"):
        page.evaluate(SAY, {"message": "That is so.", "type": kind, "actions": [{"label": "Open"}], "group": False})
    expect(page.get_by_role("button", name="Open")).to_have_count(3)
    assert violations(page) == []


@pytest.mark.parametrize(
    "address",
    [UNDER_A_BAR, *(pytest.param(one, marks=pytest.mark.long) for one in ADDRESSES if one != UNDER_A_BAR)],
)
def test_nothing_that_the_keyboard_reaches_is_covered(page: Page, address: str) -> None:
    for name, made in MADE.items():
        address = address.replace(name, made)
    covered: list[str] = []
    for width in (WINDOW, PHONE):
        page.set_viewport_size(width)
        page.goto(address)
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.add_style_tag(content=STILL)
        walked = {key: reached_by(page, key) for key in ("Tab", "Shift+Tab")}  # the first of them from where it begins
        assert max(map(len, walked.values())) >= LEAST_STEPS, f"reached was {walked}"
        covered += [f"{name}, by {key}" for key, reached in walked.items() for name, seen in reached if not seen]
    assert covered == [], "\n".join(covered)


def reached_by(page: Page, key: str) -> list[tuple[str, bool]]:
    """What that key reaches, and whether it is seen: to the edge of the page, or so many steps."""
    walked: list[tuple[str, bool]] = []
    for _ in range(MOST_STEPS):
        page.keyboard.press(key)
        if (reached := page.evaluate(REACHED)) is None:
            break
        name, seen = reached
        walked.append((name, seen))
    return walked
