"""The Tools page in a real browser: found, called by hand, described, turned off."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on

pytestmark = pytest.mark.blank


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    """The app with tools of all kinds."""
    with app_on(tmp_path_factory.mktemp("tools"), module="tests.tools_app") as app:
        yield app


def opened(page: Page, name: str) -> None:
    """The tool's page, settled."""
    page.goto(f"/tools/{name}")
    expect(page.locator(f"[data-tool-shown={name}]")).to_be_visible()
    expect(page.get_by_test_id("tool-run-button")).to_be_enabled()


def row(page: Page, name: str) -> Locator:
    return page.locator(f"[data-testid=tool-row][data-tool={name}]")


def result(page: Page) -> Locator:
    return page.get_by_test_id("tool-call-by-hand-result")


def form(page: Page) -> Locator:
    return page.get_by_test_id("tool-form")


def as_json(page: Page) -> object:
    """What the JSON tab says of the form, which is shown again afterwards."""
    page.get_by_test_id("arguments-json-tab").click()
    box = page.get_by_test_id("arguments-json")
    expect(box).to_be_visible()
    expect(box).not_to_have_value("")
    said = json.loads(box.input_value())
    page.get_by_test_id("arguments-form-tab").click()
    expect(form(page)).to_be_visible()
    return said


@pytest.mark.long
def test_a_tool_is_given_to_agents_and_taken_back(page: Page) -> None:
    page.goto("/agents/math-tutor")
    page.get_by_test_id("prompt-editor").locator(".cm-content").click()
    page.keyboard.type("Typed. ")
    expect(page.get_by_test_id("editor-state")).to_contain_text("draft kept")
    opened(page, "forms__rows")
    page.get_by_test_id("give-tool").click()
    dialog = page.get_by_test_id("give-dialog")
    expect(page.get_by_test_id("give-confirm")).to_be_disabled()
    dialog.get_by_label("Math tutor").focus()
    page.keyboard.press("Space")
    dialog.get_by_test_id("give-policy-ask").click()
    expect(dialog.get_by_label("Math tutor")).to_be_checked()
    page.get_by_test_id("give-confirm").click()
    expect(page.get_by_test_id("undo-bar")).to_contain_text("given to Math tutor (v2), for the next runs")
    expect(page.locator(".tool-users")).to_contain_text("Math tutor")
    assert violations(page) == []
    page.get_by_test_id("undo-button").click()
    expect(page.locator(".tool-users")).not_to_contain_text("Math tutor")
    page.goto("/agents/math-tutor?tab=tools")
    expect(page.get_by_text("v1 is active")).to_be_visible()
    expect(page.get_by_test_id("editor-tab-prompt")).to_contain_text("not saved")
    expect(page.get_by_test_id("editor-tab-tools")).not_to_contain_text("not saved")


def test_a_tool_is_found_and_called_by_hand(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.goto("/")
    page.get_by_test_id("nav-tools").click()
    expect(page.get_by_test_id("tools-count")).to_have_text("7 tools")
    page.get_by_test_id("tool-search").fill("two numbers")
    expect(page.get_by_test_id("tool-row")).to_have_count(1)
    row(page, "calculator").click()
    expect(page).to_have_url(re.compile("/tools/calculator$"))
    expect(row(page, "calculator").locator(".tool-link")).to_have_attribute("aria-current", "page")
    expect(page.get_by_test_id("tool-schema")).to_contain_text('"operation"')
    expect(page.locator(".tool-users")).to_contain_text("Math tutor")
    page.get_by_test_id("tool-run-button").click()
    expect(form(page).get_by_role("alert")).to_have_count(3)
    form(page).get_by_label("operation").select_option("add")
    form(page).get_by_label("x", exact=True).fill("5")
    form(page).get_by_label("y", exact=True).fill("10")
    form(page).get_by_label("y", exact=True).press("Control+Enter")
    expect(result(page)).to_contain_text("5 + 10 = 15")
    expect(page.get_by_test_id("call-status")).to_have_text("Done")
    screenshot("tools")
    page.goto("/tools/calculator")
    expect(form(page).get_by_label("x", exact=True)).to_have_value("5")
    expect(result(page)).to_contain_text("5 + 10 = 15")


def test_the_list_is_walked_by_keyboard(page: Page) -> None:
    page.goto("/tools/there_is_none")
    expect(page.get_by_test_id("trouble")).to_contain_text("There is no tool 'there_is_none'")
    page.get_by_test_id("tool-search").fill("forms")
    expect(page.get_by_test_id("tool-row")).to_have_count(2)
    page.get_by_test_id("tool-search").press("ArrowDown")
    expect(row(page, "forms__all_kinds").locator("a")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(row(page, "forms__rows").locator("a")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("tool-title")).to_have_text("Rows")
    page.get_by_test_id("tool-search").fill("there is none of it")
    expect(page.get_by_test_id("tool-list")).to_have_text("")
    expect(page.get_by_text("No tool fits")).to_be_visible()


def test_a_form_of_everything_a_schema_can_ask(page: Page, screenshot: Callable[[str], Path]) -> None:
    opened(page, "forms__all_kinds")
    fields = form(page)
    fields.get_by_label("title", exact=True).fill("Hello")
    fields.get_by_label("colour", exact=True).select_option("green")
    fields.get_by_label("urgent", exact=True).select_option("Yes (true)")
    fields.get_by_label("day", exact=True).fill("2024-02-29")
    for place, name in enumerate(("Ann", "Bob")):
        fields.get_by_label("Add an item to guests").click()
        fields.locator(f"[data-field='guests[{place}]'] textarea").fill(name)
    fields.locator("[data-field='guests[1]'] > .field-head [data-action=up]").click()
    expect(fields.locator("[data-field='guests[0]'] textarea")).to_have_value("Bob")
    expect(fields.locator("[data-field='guests[1]'] textarea")).to_have_value("Ann")
    expect(fields.locator("[data-field='guests[0]'] > .field-head [data-action=up]")).to_be_focused()
    people = fields.locator("[data-field=people]")
    expect(people.get_by_label("Schema")).to_contain_text("What they are called.")
    people.get_by_label("people", exact=True).fill('[{"name": "Bob"}, {"name": "Ann", "age": 200}]')
    expect(people).to_contain_text("[1].age: At most 150, please.")
    people.get_by_label("people", exact=True).fill('[{"name": "Bob"}, {"name": "Ann", "age": 20}]')
    fields.get_by_label("labels", exact=True).fill('{"key": "word"}')
    fields.get_by_label("Kind of shape").select_option("square")
    fields.get_by_label("side", exact=True).fill("1.5")
    screenshot("tools-form")
    sent = {
        "title": "Hello",
        "colour": "green",
        "count": 3,
        "urgent": True,
        "day": "2024-02-29",
        "guests": ["Bob", "Ann"],
        "people": [{"name": "Bob"}, {"name": "Ann", "age": 20}],
        "labels": {"key": "word"},
        "shape": {"kind": "square", "side": 1.5},
    }
    assert as_json(page) == sent
    page.get_by_test_id("tool-run-button").click()
    page.get_by_test_id("result-tree").click()
    expect(result(page).locator(".json-tree")).to_contain_text("Bob")


def test_broken_json_stays_as_it_was_typed(page: Page) -> None:
    opened(page, "forms__rows")
    page.get_by_test_id("arguments-json-tab").click()
    box = page.get_by_test_id("arguments-json")
    expect(box).to_be_visible()
    box.fill('{"number":\n 2')
    expect(page.get_by_test_id("arguments-fault")).to_contain_text("Line 2, column 3")
    page.get_by_test_id("arguments-form-tab").click()
    expect(page.get_by_text("The JSON cannot be read")).to_be_visible()
    page.get_by_test_id("arguments-json-tab").click()
    expect(box).to_have_value('{"number":\n 2')
    box.fill('{"number": 2}')
    expect(page.get_by_test_id("arguments-fault")).to_have_text("")
    box.press("Control+Enter")
    page.get_by_test_id("result-table").click()
    expect(result(page).locator("tbody tr")).to_have_count(2)
    page.get_by_test_id("arguments-form-tab").click()
    expect(form(page).get_by_label("number", exact=True)).to_have_value("2")


def test_a_call_shows_how_far_it_is_and_is_cancelled(page: Page, screenshot: Callable[[str], Path]) -> None:
    opened(page, "live__slow")
    page.get_by_test_id("tool-run-button").click()
    expect(page.get_by_test_id("live-printed")).to_contain_text("step 3")
    expect(page.get_by_test_id("call-live")).to_contain_text("of 100")
    screenshot("tools-live")
    page.reload()
    expect(page.get_by_test_id("live-printed")).to_contain_text("step 5")
    page.get_by_test_id("tool-cancel-button").click()
    expect(page.get_by_test_id("call-status")).to_have_text("Stopped")
    expect(page.get_by_test_id("call-printed")).to_contain_text("step 5")


@pytest.mark.long
def test_questions_pictures_files_and_failures_are_shown(page: Page) -> None:
    opened(page, "live__asks")
    page.get_by_test_id("tool-run-button").click()
    question = page.get_by_test_id("call-question")
    expect(question).to_contain_text("The doorman asks")
    question.get_by_label("who").fill("Me")
    question.get_by_test_id("answer-button").click()
    expect(result(page)).to_contain_text("accept: {'who': 'Me'}")
    opened(page, "live__picture")
    page.get_by_test_id("tool-run-button").click()
    expect(result(page).locator("img")).to_have_js_property("naturalWidth", 1)
    with page.expect_download() as download:
        result(page).locator(".call-file", has_text="table.csv").get_by_test_id("artifact-download").click()
    assert Path(download.value.path()).read_text() == "a,b\n1,2\n"
    expect(result(page)).to_contain_text("/notes.txt")
    opened(page, "live__breaks")
    page.get_by_test_id("tool-run-button").click()
    expect(page.get_by_test_id("call-error")).to_contain_text("ZeroDivisionError: it broke")
    trace = result(page).locator("details.traceback")
    expect(trace.locator("pre")).not_to_be_visible()
    trace.locator("summary").click()
    expect(trace.locator("pre")).to_contain_text("tools_app.py")


@pytest.mark.long
def test_what_models_are_told_is_replaced_and_brought_back(page: Page) -> None:
    opened(page, "forms__rows")
    page.get_by_test_id("describe-tool").click()
    page.get_by_test_id("description-input").fill('Make rows, "many" of them.')
    page.get_by_test_id("save-description").click()
    expect(page.get_by_test_id("told-description")).to_have_text('Make rows, "many" of them.')
    expect(page.get_by_test_id("own-description")).to_have_text("Return that many rows.")
    expect(page.get_by_test_id("tool-schema")).to_contain_text("Make rows")
    expect(row(page, "forms__rows").locator(".badge")).to_have_count(1)
    page.get_by_test_id("reset-description").click()
    expect(page.get_by_test_id("told-description")).to_have_count(0)
    expect(page.get_by_test_id("tool-schema")).to_contain_text("Return that many rows.")


@pytest.mark.long
def test_a_tool_is_turned_off_here_and_there(page: Page) -> None:
    opened(page, "live__breaks")
    switch, here = row(page, "live__breaks").get_by_test_id("tool-switch"), page.get_by_test_id("detail-switch")
    switch.click()
    expect(here).not_to_be_checked()
    expect(switch).to_be_focused()
    page.reload()
    expect(switch).not_to_be_checked()
    expect(here).not_to_be_checked()
    here.click()
    expect(switch).to_be_checked()
    switch.click()
    expect(here).not_to_be_checked()
    here.click()
    expect(switch).to_be_checked()


@pytest.mark.long
def test_a_call_is_saved_loaded_and_deleted(page: Page) -> None:
    opened(page, "forms__rows")
    form(page).get_by_label("number", exact=True).fill("7")
    page.get_by_test_id("save-call-button").click()
    page.get_by_test_id("question-input").fill("Seven")
    page.get_by_test_id("question-confirm").click()
    saved = page.get_by_test_id("saved-call")
    expect(saved).to_have_text(re.compile("Seven"))
    page.get_by_test_id("reset-arguments").click()
    expect(form(page).get_by_label("number", exact=True)).to_have_value("3")
    saved.locator(".saved-load").click()
    expect(form(page).get_by_label("number", exact=True)).to_have_value("7")
    saved.get_by_label("Delete the saved call Seven").click()
    expect(saved).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(saved).to_have_count(1)


# Browsers beside this one share its clipboard.
KEEP_COPIED = """() => {
  const write = navigator.clipboard.writeText.bind(navigator.clipboard);
  navigator.clipboard.writeText = (text) => { window.copied = text; return write(text); };
}"""


@pytest.mark.long
def test_the_copied_python_calls_the_tool(page: Page, app_process: AppProcess) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, "forms__rows")
    page.evaluate(KEEP_COPIED)
    page.get_by_test_id("copy-python").click()
    expect(page.get_by_text("Copied as Python")).to_be_visible()
    program = page.evaluate("window.copied")
    environment = {"AGENT_PLAYGROUND_KEY": app_process.token}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout)[0]["name"] == "row 0"


def test_list_and_tool_take_turns_on_a_narrow_screen(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/tools")
    expect(row(page, "calculator")).to_be_visible()
    row(page, "calculator").click()
    expect(page.get_by_test_id("tool-title")).to_have_text("Calculator")
    expect(row(page, "calculator")).not_to_be_visible()
    screenshot("tools-narrow")
    page.get_by_role("link", name="All tools").click()
    expect(row(page, "calculator")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
