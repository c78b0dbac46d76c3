"""The page of one run in a real browser: its tabs, search, errors, what stands out, links to steps."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.events import Entry, ModelFailed
from app.domain.messages import system_message
from tests.app_process import AppProcess
from tests.e2e.apps import app_on, workbench_on
from tests.seeds import seed_long_run, seed_trace
from tests.traces import ADD, BEGAN, MULTIPLY, asked, called, finished, ran, returned, said, started, the_sum, trace_of

pytestmark = pytest.mark.blank

READ = 30_000
"""Milliseconds in which also a busy machine has read all of a long trace."""
HOSTILE = "</pre><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("run-page"), seed) as app:
        yield app


async def seed(folder: Path) -> None:
    async with workbench_on(folder):
        pass  # its start plants the sample agents
    await seed_long_run(folder, 20_000)
    await seed_trace(folder, [entry.model_copy(update={"run_id": "the-sum"}) for entry in the_sum()])
    await seed_trace(folder, troubled_run())


def troubled_run() -> list[Entry]:
    """Two calls side by side of which one fails unmentioned, then a model call that is made twice."""
    hostile = MULTIPLY.model_copy(update={"arguments": {HOSTILE: HOSTILE}})
    [one_called, one_back], [other_called, other_back] = ran(ADD, "15"), ran(hostile, HOSTILE, status="error")
    failed = ModelFailed(call_id="m2", failure="rate_limit", text="429", attempt=1, retry_at=BEGAN)
    return trace_of(
        started(system=system_message(f"Be brief. {HOSTILE}")),
        asked("Add and multiply"),
        called("m1"),
        said("Both at once.", ADD, hostile, reasoning="They do not need each other."),
        returned("m1"),
        one_called,
        other_called,
        one_back,
        other_back,
        called("m2"),
        failed,
        called("m3").model_copy(update={"attempt": 2, "message_count": 4}),
        said("The sum is 15."),
        returned("m3"),
        finished(),
        run_id="troubled",
    )


def opened(page: Page) -> Locator:
    return page.get_by_test_id("step-detail")


def test_what_stands_out_leads_to_its_step(page: Page):
    page.goto("/runs/troubled?view=raw")
    finding = page.locator("[data-rule=error_ignored]")
    expect(finding).to_contain_text("calculator failed")
    finding.get_by_test_id("finding-step").click()
    expect(page.get_by_test_id("tab-timeline")).to_have_attribute("aria-selected", "true")
    wanted = page.locator(".timeline .is-wanted")
    expect(wanted).to_have_attribute("data-seq", "8")
    expect(wanted).to_be_in_viewport()
    expect(page).to_have_url(re.compile(r"step=8$"))


def test_a_good_run_says_nothing_about_itself(page: Page):
    page.goto("/runs/the-sum")
    expect(page.get_by_test_id("run-step")).to_have_count(8)
    expect(page.get_by_test_id("findings")).to_be_hidden()
    expect(page.get_by_test_id("next-error")).to_have_count(0)


def test_a_row_of_the_waterfall_marks_its_step_and_opens_it(page: Page):
    page.goto("/runs/troubled?view=waterfall")
    bars = page.get_by_test_id("waterfall-row")
    expect(bars).to_have_count(6)
    kinds = [row.get_attribute("data-kind") for row in bars.all()]
    assert kinds == ["model", "tool", "tool", "model", "retry", "model"]
    bars.nth(2).hover()
    marked = page.locator(".trace-line.is-marked")
    expect(marked).to_contain_text("calculator")
    expect(marked).to_be_in_viewport()
    bars.nth(5).click()
    expect(opened(page)).to_contain_text("The sum is 15.")
    expect(page).to_have_url(re.compile(r"step=12&view=waterfall$"))


@pytest.mark.long
def test_a_long_waterfall_holds_only_the_rows_in_view(page: Page):
    page.goto("/runs/long-run?view=waterfall")
    expect(page.get_by_text("7,997 spans")).to_be_visible(timeout=READ)
    spans = page.get_by_role("listbox", name="Spans of this run")
    spans.press("End")
    expect(opened(page)).to_contain_text("Every row was checked.")
    last = page.get_by_test_id("waterfall-row").last
    expect(last).to_have_attribute("aria-posinset", "7997")
    expect(last.locator(".waterfall-span")).to_be_in_viewport()
    assert page.get_by_test_id("waterfall-row").count() < 60
    put = "(place) => getElement(+place.id.slice(1)).put(3, [], 3, [], 1000)"
    page.get_by_test_id("waterfall").evaluate(put)  # as when runs below are gone
    expect(page.get_by_test_id("waterfall-row")).to_have_count(3)
    assert page.evaluate("document.querySelectorAll('*').length") < 1000


def test_messages_show_what_changed_since_the_call_before(page: Page):
    page.goto("/runs/the-sum?view=messages")
    calls = page.get_by_test_id("model-call")
    expect(calls).to_have_count(3)
    calls.nth(2).click()
    detail = page.get_by_test_id("request-detail")
    expect(detail.get_by_test_id("unchanged-messages")).to_contain_text("3 unchanged messages")
    new = detail.locator(".is-new")
    expect(new).to_have_count(2)
    expect(new.last).to_contain_text("15 * 3 = 45")


def test_a_request_is_copied_as_json(page: Page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/runs/the-sum?view=messages")
    page.get_by_test_id("copy-request").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert '"model": "demo/agent"' in page.evaluate("navigator.clipboard.readText()")


REFUSE = "() => { navigator.clipboard.writeText = () => Promise.reject(new DOMException('No', 'NotAllowedError')); }"


@pytest.mark.long
def test_what_the_browser_lets_nobody_copy_is_not_said_to_be_copied(page: Page):
    page.goto("/runs/the-sum?view=messages")
    page.evaluate(REFUSE)
    page.get_by_test_id("copy-request").click()
    expect(page.get_by_text("Nothing was copied: the browser does not let this page.")).to_be_visible()
    expect(page.get_by_text("Copied")).to_have_count(0)
    page.goto("/runs/the-sum?step=1")
    page.evaluate(REFUSE)
    page.get_by_role("button", name="Copy link to this step").first.click()
    expect(page.get_by_text("Nothing was copied")).to_be_visible()
    expect(page.get_by_text("Link copied.")).to_have_count(0)


@pytest.mark.long
def test_search_counts_in_all_steps_and_leads_through_them(page: Page):
    page.goto("/runs/long-run")
    expect(page.get_by_text("12,000 cards")).to_be_visible(timeout=READ)
    page.locator("body").press("/")
    box = page.get_by_test_id("run-find")
    expect(box).to_be_focused()
    box.fill("1234 + 10 =")
    expect(page.get_by_test_id("run-find-count")).to_have_text("1 of 1")
    expect(opened(page)).to_contain_text("1234 + 10 = 1244")
    box.fill("Row 77")
    expect(page.get_by_test_id("run-find-count")).to_have_text("1 of 11")  # round the end, to the first
    box.press("Enter")
    expect(page.get_by_test_id("run-find-count")).to_have_text("2 of 11")
    box.press("Shift+Enter")
    expect(page.get_by_test_id("run-find-count")).to_have_text("1 of 11")
    box.fill("no such words")
    expect(page.get_by_test_id("run-find-count")).to_have_text("no match")


def test_keys_lead_through_steps_and_errors(page: Page):
    page.goto("/runs/troubled")
    expect(page.get_by_test_id("next-error")).to_have_text("Next error (2)")
    body, wanted = page.locator("body"), page.locator(".timeline .is-wanted")
    body.press("e")
    expect(wanted).to_have_attribute("data-seq", "8")
    body.press("k")
    expect(wanted).to_have_attribute("data-seq", "7")
    body.press("j")
    expect(wanted).to_have_attribute("data-seq", "8")
    body.press("e")
    expect(wanted).to_have_attribute("data-seq", "12")  # the failed model call stands right above it
    expect(page.get_by_test_id("trace-mark")).to_contain_text("Attempt 1 failed")


def test_a_step_leads_to_what_the_model_got(page: Page):
    page.goto("/runs/the-sum")
    page.get_by_test_id("step-request").last.click()
    expect(page.get_by_test_id("request-detail")).to_contain_text("3 unchanged messages")
    expect(page).to_have_url(re.compile(r"step=13&view=messages$"))


@pytest.mark.long
def test_raw_shows_each_event_as_it_is_stored(page: Page):
    page.goto("/runs/long-run?view=raw&step=19995")
    expect(page.get_by_text("20,000 events")).to_be_visible(timeout=READ)
    expect(page.get_by_test_id("raw-entry-detail")).to_contain_text('"seq": 19995')
    page.get_by_role("listbox", name="Entries of this run").press("Home")
    expect(page.get_by_test_id("raw-entry-detail")).to_contain_text('"type": "run_started"')
    page.get_by_test_id("raw-step").click()
    expect(page).to_have_url(re.compile(r"/runs/long-run\?step=0$"))


def test_the_review_reads_as_a_document(page: Page):
    page.goto("/runs/the-sum?view=review")
    review = page.get_by_test_id("run-review")
    expect(review.get_by_role("heading", name="Step 1", exact=True)).to_be_visible()
    expect(review.get_by_role("heading", name="Final response")).to_be_visible()


def test_hostile_texts_do_nothing_and_nothing_sticks_out(page: Page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/runs/troubled")
    expect(page.get_by_test_id("finding").first).to_be_visible()
    for view in ("waterfall", "messages", "review", "raw", "timeline"):
        page.get_by_test_id(f"tab-{view}").click()
        shown = page.locator(f".run-panel-{view}")
        expect(shown.get_by_text(re.compile("window.hurt")).first).to_be_attached()
        shown.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
    assert page.evaluate("window.hurt") is None
