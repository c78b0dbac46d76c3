"""The hostile views are hostile: where nothing holds them they get what they try for, and it is seen."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.browser import chromium
from tests.e2e.conftest import FLAGS, WINDOW
from tests.faults.hostile_apps import BRIEFLY
from tests.hostile_servers import collector
from tests.hostile_views import VIEWS
from tests.hostile_views.hostile_view import HostileView
from tests.hostile_views.naive_host import naive_host
from tests.hostile_views.trial import Outcome, Trial, policy_faults

SAMPLE = ("page_dom", "cookies", "fetches", "as_the_sandbox", "tools_for_models_only", "sends_messages", "enormous")


def outcomes(views: Sequence[HostileView], calls: Path) -> list[Outcome]:
    """What they get of a host that holds nothing back, each in a browser profile of its own."""
    with collector() as (elsewhere, hits), naive_host(calls, elsewhere) as host, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        found: list[Outcome] = []
        for view in views:
            context = browser.new_context(viewport=WINDOW)
            context.new_page()
            found.append(Trial(context, host, calls=calls, hits=hits, elsewhere=elsewhere).outcome(view))
            context.close()
        browser.close()
    return found


def test_a_host_that_holds_nothing_back_is_seen_to_lose(tmp_path: Path) -> None:
    views = [view for view in VIEWS if view.name in SAMPLE]
    with ThreadPoolExecutor(1) as beside:  # Playwright's own event loop may run in this thread
        found = beside.submit(outcomes, views, tmp_path / "calls.jsonl").result()
    assert [one.view.name for one in found if not one.got] == []
    assert len(found) == len(SAMPLE)


def test_there_are_enough_of_them_and_each_says_what_it_tries() -> None:
    assert len({view.name for view in VIEWS}) == len(VIEWS) >= 40
    assert all(view.tries and view.script for view in VIEWS)
    assert {view.name for view in VIEWS} >= {*BRIEFLY, *SAMPLE}
    assert all(json.dumps(dict(view.csp or {})) for view in VIEWS)


@pytest.mark.parametrize(
    "sources",
    [
        "*",
        "https:",
        "http://127.0.0.1:8765",
        "http://127.1",
        "https://a.example/path",
        "'unsafe-eval'",
        "http://router",
    ],
)
def test_a_policy_that_says_too_much_is_seen(sources: str) -> None:
    policy = f"default-src 'none'; connect-src https://a.example {sources}; object-src 'none'; frame-ancestors http://x"
    assert policy_faults({"content-security-policy": policy}) == [f"connect-src {sources}"]
    assert policy_faults({"content-security-policy": policy.replace(f" {sources};", ";")}) == []
