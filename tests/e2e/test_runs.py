"""The Runs pages in a real browser, over runs that were stored before the app started."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.events import Entry
from app.domain.streaming import Draft
from app.export.bundle import bundle, read_bundle
from app.export.json_lines import json_lines
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on, workbench_on
from tests.e2e.complaints import Complaints
from tests.e2e.playground import STORY, send, start_session
from tests.export.runs import PNG, digest
from tests.seeds import seed_long_run, seed_runs, seed_trace
from tests.traces import ADD, MULTIPLY, asked, called, finished, ran, returned, said, started, the_sum, trace_of

pytestmark = pytest.mark.blank

HOSTILE = "</pre><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"
SCROLLED = """(top) => {
  const list = document.querySelector("[role=listbox]");
  list.scrollTop = top;
  return list.scrollTop === top;
}"""
"""Scrolls the list there; false while it is not that long yet."""
SUM_STEPS = ["user-request", *["agent-thought", "tool-call", "tool-result"] * 2, "agent-response"]


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("runs"), seed) as app:
        yield app


async def seed(folder: Path) -> None:
    async with workbench_on(folder):
        pass  # its start plants the sample agents
    await seed_runs(folder, 130)
    await seed_long_run(folder, 20_000)
    await seed_trace(folder, named(the_sum(), "the-sum"))
    await seed_trace(folder, hostile_run())
    cut_off = trace_of(started(), asked("Tell me a story"), called("m1"), run_id="cut-off")
    await seed_trace(folder, cut_off, draft=Draft(text="Once upon a **time**"))


def named(entries: list[Entry], run_id: str) -> list[Entry]:
    return [entry.model_copy(update={"run_id": run_id}) for entry in entries]


def hostile_run() -> list[Entry]:
    """Parallel calls of which one fails, everything in it hostile."""
    bad = MULTIPLY.model_copy(update={"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}})
    return trace_of(
        started(model=HOSTILE),
        asked(HOSTILE),
        called("m1"),
        said(HOSTILE, ADD, bad, reasoning=HOSTILE),
        returned("m1"),
        *ran(ADD, HOSTILE),
        *ran(bad, HOSTILE, status="error"),
        called("m2"),
        said(f"[link](javascript:window.hurt=1) {HOSTILE}"),
        returned("m2"),
        finished(),
        run_id="hostile",
    )


def rows(page: Page) -> Locator:
    return page.get_by_test_id("run-row")


def test_the_list_leads_to_a_run_and_back_and_from_a_filter_to_all(page: Page):
    page.goto("/")
    page.get_by_test_id("nav-runs").click()
    expect(rows(page)).to_have_count(50)
    rows(page).first.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"/runs/seeded-000129$"))
    expect(page.get_by_test_id("run-step").first).to_be_visible()
    page.get_by_test_id("back-to-runs").click()
    expect(rows(page)).to_have_count(50)
    page.get_by_test_id("runs-search").fill("no such words")
    expect(page.get_by_text("No run fits")).to_be_visible()
    page.get_by_test_id("nav-runs").click()
    expect(rows(page)).to_have_count(50)


def test_filters_stand_in_the_address_and_survive_reload_back_and_forward(page: Page):
    page.goto("/runs")
    count = page.get_by_test_id("runs-count")
    expect(count).to_have_text("Runs 1 to 50 of 134")
    page.get_by_test_id("next-page").click()
    expect(page).to_have_url(re.compile(r"/runs\?page=2$"))
    expect(count).to_have_text("Runs 51 to 100 of 134")
    page.get_by_test_id("runs-search").fill("haiku")
    expect(page).to_have_url(re.compile(r"\?q=haiku$"))
    page.get_by_test_id("runs-search").fill("haiku analyst")
    expect(page).to_have_url(re.compile(r"\?q=haiku\+analyst$"))
    page.get_by_label("Status", exact=True).select_option("Completed")
    expect(page).to_have_url(re.compile(r"status=completed"))
    page.reload()
    expect(page.get_by_test_id("runs-search")).to_have_value("haiku analyst")
    expect(page.get_by_test_id("filter-chip")).to_have_text(["Text: haiku analyst", "Completed"])
    for row in rows(page).all():
        expect(row).to_contain_text("Write a haiku")
        expect(row).to_contain_text("Completed")
    page.go_back()
    expect(page.get_by_test_id("filter-chip")).to_have_text(["Text: haiku analyst"])
    page.go_back()  # what was typed on is one step
    expect(count).to_have_text("Runs 51 to 100 of 134")
    expect(page.get_by_test_id("runs-search")).to_have_value("")
    page.go_back()
    expect(count).to_have_text("Runs 1 to 50 of 134")
    page.go_forward()
    page.go_forward()
    expect(page.get_by_test_id("filter-chip")).to_have_text(["Text: haiku analyst"])
    expect(page.get_by_test_id("runs-search")).to_have_value("haiku analyst")


def test_words_of_a_tool_call_are_found_and_lead_to_their_step(page: Page):
    page.goto("/runs")
    page.get_by_test_id("runs-search").fill('"15 * 3"')
    expect(rows(page)).to_have_count(1)
    found = page.get_by_test_id("run-found")
    expect(found).to_have_text("Result of calculator: 15 * 3 = 45")
    expect(found.locator("mark")).to_have_text("15 * 3")
    rows(page).get_by_role("link").click()
    expect(page.locator("[data-testid=run-step].is-wanted")).to_contain_text("45")
    page.go_back()
    expect(page.get_by_test_id("runs-search")).to_have_value('"15 * 3"')
    expect(rows(page)).to_have_count(1)


@pytest.mark.long
def test_chips_say_what_is_set_and_take_it_away_and_a_popover_asks_for_costs(page: Page):
    page.goto("/runs?agent=writer&variant=2&error=network&max_seconds=60&min_cost=nonsense&from=2026-11-01")
    chips = page.get_by_test_id("filter-chip")
    words = ["writer", "Variant 2", "The provider could not be reached", "From 2026-11-01", "Took at most 1 min 0 s"]
    expect(chips).to_have_text(words)
    expect(page.get_by_test_id("runs-count")).not_to_have_text("Loading runs…")
    for row in rows(page).all():
        expect(row).to_contain_text("Failed")
    chips.filter(has_text="writer").click()
    expect(page).to_have_url(re.compile(r"/runs\?error=network&max_seconds=60&from=2026-11-01$"))
    expect(page.get_by_test_id("runs-variant")).to_be_hidden()
    page.get_by_test_id("clear-filters").click()
    expect(page).to_have_url(re.compile(r"/runs$"))
    expect(chips).to_have_count(0)
    expect(rows(page)).to_have_count(50)
    page.get_by_test_id("more-filters").click()
    page.get_by_test_id("runs-min_cost").fill("0.004")
    expect(page).to_have_url(re.compile(r"min_cost=0\.004$"))
    page.get_by_test_id("runs-to").fill("2026-11-02")
    expect(page).to_have_url(re.compile(r"min_cost=0\.004&to=2026-11-02$"))
    page.keyboard.press("Escape")
    expect(chips).to_have_text(["Up to 2026-11-02", "Cost at least $0.0040"])


@pytest.mark.long
def test_provider_tool_purpose_and_price_are_asked_for_by_keyboard_on_a_telephone(page: Page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/runs")
    chips = page.get_by_test_id("filter-chip")
    page.get_by_test_id("more-filters").focus()
    page.keyboard.press("Enter")
    for field, words in (("provider", "demo"), ("tool", "calculator"), ("purpose", "Chat")):
        box = page.get_by_role("combobox", name=field.capitalize(), exact=True)
        expect(box).to_be_in_viewport()
        box.focus()
        while box.input_value() != words:
            page.keyboard.press("ArrowDown")
        expect(page).to_have_url(re.compile(rf"{field}={words.lower()}"))
        expect(box).to_be_focused()
    page.get_by_test_id("runs-unpriced").press(" ")
    expect(page).to_have_url(re.compile(r"/runs\?provider=demo&tool=calculator&purpose=chat&unpriced=1$"))
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(chips).to_have_text(["Provider: demo", "Called calculator", "Chat", "Unpriced"])
    chips.get_by_text("Called calculator").click()
    expect(page).to_have_url(re.compile(r"/runs\?provider=demo&purpose=chat&unpriced=1$"))
    page.get_by_test_id("more-filters").click()
    expect(page.get_by_role("combobox", name="Tool", exact=True)).to_have_value("All tools")
    page.keyboard.press("Escape")
    page.get_by_test_id("clear-filters").click()
    expect(page).to_have_url(re.compile(r"/runs$"))
    page.get_by_test_id("more-filters").click()
    expect(page.get_by_test_id("runs-unpriced")).to_have_attribute("aria-checked", "false")


@pytest.mark.long
def test_a_filter_is_kept_under_a_name_and_forgotten_with_undo(page: Page):
    page.goto("/runs?status=failed")
    page.get_by_test_id("saved-filters").click()
    page.get_by_test_id("save-filter").click()
    page.get_by_test_id("question-input").fill("What <b>broke</b>")
    page.get_by_test_id("question-confirm").click()
    page.get_by_test_id("question-input").wait_for(state="detached")
    page.get_by_test_id("clear-filters").click()
    expect(page).to_have_url(re.compile(r"/runs$"))
    page.get_by_test_id("saved-filters").click()
    page.get_by_test_id("saved-filter").filter(has_text="What <b>broke</b>").click()
    expect(page).to_have_url(re.compile(r"status=failed"))
    page.get_by_test_id("saved-filters").click()
    page.get_by_test_id("forget-filter").click()
    page.get_by_test_id("undo-button").click()
    expect(page.get_by_test_id("undo-button")).to_have_count(0)
    page.get_by_test_id("saved-filters").click()
    expect(page.get_by_test_id("saved-filter")).to_have_count(1)


@pytest.mark.long
def test_rows_are_chosen_by_mouse_and_by_keys(page: Page):
    page.goto("/runs")
    boxes = rows(page).get_by_role("checkbox")
    expect(boxes).to_have_count(50)
    delete = page.get_by_test_id("delete-runs")
    boxes.nth(1).click()
    expect(delete).to_have_text(re.compile("Delete 1 run$"))
    boxes.nth(4).click(modifiers=["Shift"])
    expect(delete).to_have_text(re.compile("Delete 4 runs$"))
    expect(boxes.nth(2)).to_be_checked()
    page.get_by_test_id("export-runs").click()
    expect(page.get_by_test_id("export-dialog")).to_contain_text("Export 4 runs")
    page.keyboard.press("Escape")
    page.get_by_test_id("export-dialog").wait_for(state="detached")
    page.keyboard.press("/")
    expect(page.get_by_test_id("runs-search")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(rows(page).nth(0).get_by_role("link")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    expect(rows(page).nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("x")
    expect(delete).to_have_text(re.compile("Delete 3 runs$"))
    wanted = rows(page).nth(1).get_attribute("data-run")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/runs/{wanted}$"))


def test_a_click_on_a_column_sorts_by_it(page: Page):
    page.goto("/runs")
    page.get_by_role("button", name="Tokens").click()
    expect(page.get_by_role("columnheader", name="Tokens")).to_have_attribute("aria-sort", "descending")
    expect(rows(page).first).to_have_attribute("data-run", "long-run")
    page.get_by_role("button", name="Tokens").click()
    expect(page.get_by_role("columnheader", name="Tokens")).to_have_attribute("aria-sort", "ascending")
    expect(page).to_have_url(re.compile(r"sort=total_tokens&order=asc"))


def test_chosen_runs_are_deleted_and_brought_back(page: Page):
    page.goto("/runs?q=Summarise")
    expect(rows(page).first).to_be_visible()
    first = rows(page).first.get_attribute("data-run")
    rows(page).first.get_by_role("checkbox").check()
    page.get_by_test_id("delete-runs").click()
    expect(page.locator(f"[data-run={first}]")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(page.locator(f"[data-run={first}]")).to_have_count(1)


def test_a_short_run_is_read_step_by_step(page: Page):
    page.goto("/runs/the-sum?step=12")
    steps = page.get_by_test_id("run-step")
    expect(steps).to_have_count(8)
    assert [step.get_attribute("data-step-type") for step in steps.all()] == SUM_STEPS
    expect(steps.last).to_contain_text("The answer is 45.")
    wanted = page.locator("[data-testid=run-step].is-wanted")
    expect(wanted).to_be_in_viewport()
    expect(wanted).to_have_attribute("data-seq", "13")
    thought = page.locator("[data-step-type=agent-thought]").first
    expect(thought.get_by_text("First the sum.")).to_be_visible()
    expect(thought.get_by_test_id("fork-button")).to_have_text(re.compile("Run on from here"))
    page.get_by_test_id("tab-trajectory").click()
    expect(page.get_by_test_id("trajectory-step")).to_have_count(3)
    expect(page.get_by_test_id("tool-call")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"view=trajectory"))


def test_a_run_is_judged_on_its_page_and_found_by_that(page: Page):
    page.goto("/runs/the-sum")
    page.get_by_test_id("thumb-up").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("thumb-up")).to_have_attribute("aria-pressed", "true")
    page.get_by_test_id("add-tag").click()
    page.get_by_test_id("question-input").fill("Refund")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("run-tag")).to_have_text(re.compile("Refund"))
    page.get_by_test_id("review-note").click()
    page.get_by_test_id("question-input").fill("Ask Ada")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("run-note")).to_have_text("Ask Ada")
    assert violations(page) == []

    page.goto("/runs?tag=refund")
    expect(rows(page)).to_have_count(1)
    expect(rows(page).get_by_test_id("run-answer")).to_contain_text("The answer is 45.")
    expect(rows(page).get_by_test_id("run-marks")).to_contain_text("Rated goodNote: Ask AdaRefund")
    page.get_by_test_id("filter-chip").click()
    expect(page.get_by_test_id("runs-count")).to_contain_text("of ")
    page.get_by_test_id("runs-marks").select_option("Rated good")
    expect(page).to_have_url(re.compile(r"rating=good"))
    expect(rows(page)).to_have_count(1)

    rows(page).get_by_role("link").click()
    page.get_by_test_id("run-tag").click()
    expect(page.get_by_test_id("run-tag")).to_have_count(0)
    page.get_by_test_id("run-more").click()
    page.get_by_test_id("run-delete").click()
    expect(page.get_by_test_id("run-deleted")).to_be_visible()
    page.get_by_test_id("undo-button").click()
    expect(page.get_by_test_id("run-deleted")).to_be_hidden()
    page.get_by_test_id("thumb-up").click()
    expect(page.get_by_test_id("thumb-up")).to_have_attribute("aria-pressed", "false")


@pytest.mark.long
def test_two_chosen_runs_open_side_by_side(page: Page):
    page.goto("/runs?model=demo%2Fagent")
    expect(page.get_by_test_id("compare-runs")).to_be_hidden()
    boxes = rows(page).locator("input[type=checkbox]")
    boxes.nth(0).click()
    boxes.nth(1).click()
    page.get_by_test_id("compare-runs").click()
    dialog = page.get_by_test_id("run-comparison")
    expect(dialog.get_by_role("columnheader")).to_have_count(3)
    expect(dialog).to_contain_text("Step 1")
    expect(page).to_have_url(re.compile(r"beside="))


@pytest.mark.long
def test_a_trajectory_of_another_program_is_taken_in_and_says_what_was_left_out(page: Page, tmp_path: Path):
    steps = [
        {"step_id": 1, "source": "user", "message": "Fix it"},
        {"step_id": 2, "source": "agent", "message": "Done"},
    ]
    told = {"schema_version": "ATIF-v1.6", "agent": {"name": "Mini", "version": "1"}, "steps": steps, "mood": "good"}
    file = tmp_path / "trajectory.json"
    file.write_text(json.dumps(told))
    page.goto("/runs")
    page.get_by_test_id("bundle-input").locator("input[type=file]").set_input_files(file)
    expect(page.get_by_test_id("imported-from")).to_contain_text("Imported from ATIF-v1.6")
    page.get_by_test_id("import-notes").locator("summary").click()
    expect(page.get_by_test_id("import-notes")).to_contain_text("does not know it: mood")
    expect(page.get_by_test_id("run-step").last).to_contain_text("Done")


def test_a_long_run_holds_only_the_lines_in_view(page: Page):
    page.goto("/runs/long-run")
    expect(page.get_by_text("12,000 cards")).to_be_visible()
    listed = page.get_by_role("listbox", name="Cards of this run")
    listed.press("End")
    last = page.get_by_role("option").last
    expect(last).to_contain_text("Every row was **checked**.")
    expect(page.get_by_test_id("step-detail")).to_contain_text("Every row was checked.")
    listed.press("PageUp")
    expect(page.get_by_test_id("step-detail")).not_to_contain_text("Every row was checked.")
    assert page.get_by_role("option").count() < 150
    assert page.evaluate("document.querySelectorAll('*').length") < 1500


@pytest.mark.long
def test_scrolling_a_long_run_brings_the_lines_along(page: Page):
    page.goto("/runs/long-run")
    expect(page.get_by_text("12,000 cards")).to_be_visible()
    line = page.get_by_role("option").filter(has_text="6,003")
    page.wait_for_function(SCROLLED, arg=6000 * 40)
    expect(line).to_be_in_viewport()
    line.click()
    expect(line).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile(r"step=\d+"))
    page.reload()
    chosen = page.locator("[role=option].is-chosen").filter(has_text="6,003")
    expect(chosen).to_be_in_viewport()
    page.get_by_test_id("tab-trajectory").click()
    expect(page.get_by_text("3,999 steps")).to_be_visible()
    expect(page.get_by_test_id("decision-detail")).to_contain_text("Make 1 tool call")
    page.get_by_test_id("tab-timeline").click()
    expect(chosen).to_be_in_viewport()


@pytest.mark.long
def test_the_rest_of_a_long_run_does_not_move_its_opening(page: Page):
    page.goto("/runs/long-run")
    page.get_by_role("option").first.wait_for()
    page.get_by_role("listbox").evaluate("element => { element.scrollTop = element.scrollHeight; }")
    expect(page.get_by_text("12,000 cards")).to_be_visible()
    expect(page.get_by_role("option").filter(has_text="12,000 Answer")).to_have_count(0)


def test_an_interrupted_run_says_so_with_its_text(page: Page):
    page.goto("/runs/cut-off")
    expect(page.get_by_test_id("status-pill")).to_have_text("Interrupted")
    expect(page.get_by_test_id("run-draft")).to_contain_text("Once upon a time")


def test_hostile_texts_do_nothing(page: Page):
    for address in ("/runs?q=hurt", "/runs/hostile", "/runs/hostile?view=trajectory"):
        page.goto(address)
        expect(page.get_by_text("window.hurt").locator("visible=true").first).to_be_visible()
        page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.hurt") is None
        assert page.locator("a[href^='javascript']").count() == 0


def test_a_run_grows_on_its_page(page: Page):
    page.goto("/playground")
    page.get_by_test_id("agent-card").first.click()
    page.get_by_test_id("chat-input").fill("What is 5 + 10, then multiply by 3?")
    page.keyboard.press("Enter")
    page.get_by_test_id("user-message").wait_for()
    page.get_by_test_id("nav-runs").click()
    rows(page).first.get_by_role("link", name="What is 5 + 10, then").click()
    expect(page.get_by_test_id("status-pill")).to_have_text("Completed", timeout=30_000)
    expect(page.get_by_test_id("run-step")).to_have_count(8)


def test_a_press_on_a_row_that_changes_under_it_opens_the_run(page: Page):
    page.goto("/playground")
    start_session(page)
    send(page, STORY)
    page.get_by_test_id("nav-runs").click()
    link = rows(page).first.get_by_role("link", name=STORY)
    expect(rows(page).first.locator(".runs-status")).to_have_text("Running")
    took = rows(page).first.locator(".runs-duration")
    link.hover()
    before = took.inner_text()
    page.mouse.down()
    expect(took).not_to_have_text(before)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"/runs/[^/?]+$"))
    page.get_by_test_id("run-stop").click()
    expect(page.get_by_test_id("status-pill")).to_have_text("Stopped")


@pytest.mark.long
def test_nothing_sticks_out_of_the_window(page: Page):
    shown = "[data-testid=run-row], [data-testid=run-step], [data-testid=trajectory-step]"
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 720})
        for address in ("/runs?status=failed&q=provider", "/runs/the-sum", "/runs/hostile?view=trajectory"):
            page.goto(address)
            expect(page.locator(shown).first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address


@pytest.mark.long
def test_a_bundle_larger_than_a_page_takes_is_imported_and_found(page: Page, tmp_path: Path):
    file = tmp_path / "sum.zip"
    file.write_bytes(large_bundle(page.request.get("/api/v1/runs/the-sum/export?format=bundle").body()))
    page.goto("/runs")
    chosen = page.get_by_test_id("bundle-input").locator("input[type=file]")
    chosen.set_input_files(file)
    expect(page).to_have_url(re.compile(r"/runs/(?!the-sum).+"))
    expect(page.get_by_test_id("run-step")).to_have_count(8)
    page.goto("/runs")
    page.get_by_test_id("runs-search").fill('"15 * 3" "First the sum"')
    expect(page.get_by_test_id("run-found")).to_have_count(2)


def test_what_is_no_bundle_is_refused_in_words(page: Page, complaints: Complaints, tmp_path: Path):
    complaints.expect("422")
    torn = tmp_path / "torn.zip"
    torn.write_bytes(b"PK nothing of the kind")
    page.goto("/runs")
    chosen = page.get_by_test_id("bundle-input").locator("input[type=file]")
    chosen.set_input_files(torn)
    expect(page.get_by_role("alert")).to_contain_text("This bundle is damaged, or no zip file")
    expect(page.get_by_test_id("import-bundle-button")).to_be_enabled()


def large_bundle(content: bytes) -> bytes:
    """The bundle with an image of 5 MiB more."""
    picture = PNG + random.Random(7).randbytes(5 * 1024**2)
    found = read_bundle(content)
    return bundle(found.entries, json_lines(found.entries, app="1"), app="1", artifacts={digest(picture): picture})
