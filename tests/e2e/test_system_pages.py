"""Overview, Monitoring and Resources with a month of runs, in four sizes, light and dark: whole, and for everybody."""

import random
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from app.domain.provenance import AgentRef
from app.store.folder.folder import DataFolder
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on, workbench_on
from tests.e2e.conftest import SCREENSHOTS, WINDOW
from tests.e2e.test_accessible import STILL
from tests.seeds import seed_rows, seeded_row

pytestmark = pytest.mark.blank

SIZES: tuple[ViewportSize, ...] = (
    {"width": 1440, "height": 900},
    WINDOW,
    {"width": 820, "height": 1180},
    {"width": 390, "height": 844},
)
LONG = "openrouter/anthropic/claude-sonnet-4.5-20250929-with-a-name-that-goes-on"
FAILURES = ("network", "rate_limit", "timeout", "invalid_key", "node")
CUT = """() => [...document.querySelectorAll('.page, .page *')].filter((one) => {
  const cuts = getComputedStyle(one).overflowX;
  return one.clientWidth && one.scrollWidth > one.clientWidth + 1 && cuts !== 'visible' && cuts !== 'clip'
    && getComputedStyle(one).textOverflow !== 'ellipsis' && !one.closest('.visually-hidden, thead, .q-field');
}).map((one) => one.className)"""
"""What is wider than the place it has, and so is scrolled or cut."""


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("month"), seed) as app:
        yield app


async def seed(folder: Path) -> None:
    """Of several agents, models with and without a price, and many errors."""
    async with workbench_on(folder):
        pass  # its start plants the sample agents
    await seed_rows(folder, 300, days=33)
    data, chance = DataFolder.open(folder), random.Random(3)
    long = AgentRef(id="triage", slug="triage", name="Triage of all questions that come in, and of answers", variant=2)
    for number in range(60):
        row = seeded_row(1000 + number, chance, back=timedelta(hours=9 * number))
        tally = row.models[0].model_copy(update={"model": LONG, "provider": "openrouter", "unpriced": number % 2})
        failure = FAILURES[number % 5] if row.status == "failed" else None
        said = {"agent": long, "model": LONG, "models": (tally,), "unpriced": bool(number % 2), "failure": failure}
        await data.rows.save(row.model_copy(update=said))
    await data.close()


SLOW = [pytest.param(one, marks=pytest.mark.long) for one in ("/", "/resources?at=openai/gpt-4o")]


@pytest.mark.parametrize("address", ["/monitoring?over=month", *SLOW])
@pytest.mark.long
def test_a_month_of_runs_is_shown_whole_in_every_size_and_theme(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator(".chart-mark").last).to_be_attached()
    expect(page.locator("[role=status], .muted").get_by_text(re.compile("Adding up|Looking"))).to_have_count(0)
    page.add_style_tag(content=STILL)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("body")).to_have_class(re.compile(f"body--{scheme}"))
        for size in SIZES:
            page.set_viewport_size(size)
            expect(page.get_by_test_id("nav-overview")).to_be_visible(visible=size["width"] > 1000)
            where = f"{address.strip('/').partition('?')[0] or 'overview'}-{size['width']}-{scheme}"
            page.screenshot(path=SCREENSHOTS / f"{where}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], where
            cut = page.evaluate(CUT)
            assert [one for one in cut if size["width"] > 600 or "chart-scroll" not in one] == [], where
            if (scheme == "dark") == (size["width"] < 1000):
                assert violations(page) == [], where
    page.emulate_media(color_scheme="no-preference")
    page.set_viewport_size(WINDOW)
