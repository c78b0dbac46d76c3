"""Datasets, cases and experiments in a real browser."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.agents import PromptBehaviour, ToolChoice, WorkflowBehaviour, new_agent, with_variant
from app.domain.evals.cases import CaseContent, DatasetChanges, new_cases
from app.domain.evals.scorers import Contains
from app.domain.messages import FilePart
from app.domain.workflows.document import AgentNode, Template
from app.workbench.cluster.dask_workers import can_connect
from tests.app_process import AppProcess
from tests.domain.workflows.worlds import chain
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on, workbench_on
from tests.e2e.complaints import Complaints
from tests.e2e.evals import ENDS, add_scorer, save_into_new
from tests.e2e.playground import SUM, ask, start_session
from tests.e2e.test_attachments import DRAG, NOTE, PASTE, SUNSET, pick

pytestmark = pytest.mark.blank


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("evals"), prepare) as app:
        yield app


async def prepare(folder: Path) -> None:
    async with workbench_on(folder) as workbench:
        calculating = PromptBehaviour(system_prompt="Count.", tools=(ToolChoice(name="calculator"),))
        counter = new_agent("Counter", calculating, taken_slugs=workbench.agents.slugs())
        await workbench.agents.create(with_variant(counter, PromptBehaviour(system_prompt="Count."), origin=1))
        ask = AgentNode(id="ask", agent="counter", message=Template(text="{{input.text}}"))
        asking = WorkflowBehaviour(workflow=chain(ask, answer="{{ask}}"))
        await workbench.agents.create(new_agent("Asking", asking, taken_slugs=workbench.agents.slugs()))
        many = await workbench.collecting.new_dataset("Many sums", "For Counter")
        sums = (CaseContent(input=f"What is {n} + 1?", reference=str(n + 1), tags=(f"t{n % 2}",)) for n in range(60))
        await workbench.collecting.add_all(many.id, new_cases(many.id, sums))
        await workbench.collecting.change_dataset(many.id, DatasetChanges(scorers=(Contains(),)))
        filed = await workbench.collecting.new_dataset("With files")
        parts = [FilePart(artifact=n * 64, media_type="text/csv", filename=f"{n}.csv", size=3) for n in "12"]
        await workbench.collecting.add_all(filed.id, new_cases(filed.id, [CaseContent(input="", attachments=parts)]))


def test_the_buttons_of_a_list_keep_the_focus_while_the_list_changes(page: Page) -> None:
    page.goto("/evals")
    delete = page.get_by_role("button", name="Delete Many sums")
    delete.focus()
    elsewhere = page.context.new_page()
    elsewhere.goto("/evals?new=1")
    elsewhere.get_by_test_id("question-input").fill("Made elsewhere")
    elsewhere.get_by_test_id("question-confirm").click()
    expect(page.get_by_role("button", name="Delete Made elsewhere")).to_be_visible()
    expect(delete).to_be_focused()


@pytest.mark.long
def test_from_a_run_to_a_verdict(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.goto("/playground")
    start_session(page, "Counter")
    answer = ask(page, SUM)
    answer.get_by_test_id("save-as-case-button").press("Enter")
    dialog = page.get_by_test_id("save-case-dialog")
    dialog.get_by_test_id("case-must-pass").click()
    dialog.get_by_test_id("case-note").fill("The first one")
    save_into_new(page, "Additions")
    expect(dialog.get_by_test_id("case-saved")).to_contain_text("2 expected calls, the recorded results of its tools")
    expect(dialog.get_by_test_id("case-open")).to_be_focused()
    page.keyboard.press("Enter")

    case = page.get_by_test_id("case-dialog")
    expect(case.get_by_test_id("field-note")).to_have_value("The first one")
    case.get_by_test_id("field-reference").fill("45")
    case.get_by_test_id("case-dialog-save").click()
    row = page.get_by_test_id("case-row")
    expect(row).to_contain_text("must pass")
    expect(row.locator(".case-reference")).to_have_text("45")
    row.get_by_test_id("case-run").click()

    page.get_by_test_id("save-as-case-button").first.click()
    page.get_by_test_id("case-save").click()
    page.get_by_test_id("case-open").click()
    expect(page.get_by_test_id("case-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("case-row")).to_have_count(2)

    add_scorer(page)
    expect(page.get_by_test_id("scorer-row")).to_contain_text("Decides")

    page.get_by_test_id("try-dataset-button").click()
    estimate = page.get_by_test_id("experiment-estimate")
    expect(estimate).to_contain_text("4 runs. It costs nothing.")
    expect(estimate).to_contain_text("2 cases can show no gain reliably")
    screenshot("try-dataset")
    page.get_by_test_id("experiment-start-button").click()
    page.wait_for_url("**/experiments/*")
    expect(page.get_by_test_id("experiment-progress")).to_contain_text("4 of 4", timeout=ENDS)
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_contain_text("Cannot tell")
    expect(verdict).to_contain_text("0 better, 2 worse of 2")
    columns = page.get_by_test_id("experiment-columns")
    expect(columns).to_contain_text("2 of 2 passed (34–100 %)")
    expect(columns).to_contain_text("0 of 2 passed")
    expect(page.get_by_test_id("experiment-cell")).to_have_count(2)
    screenshot("experiment")

    page.goto("/evals")
    expect(page.get_by_test_id("dataset-row").filter(has_text="Additions")).to_contain_text("variant 2: cannot tell")
    page.get_by_test_id("evals-experiments").click()
    expect(page.get_by_test_id("experiment-row")).to_contain_text("variant 2: cannot tell")
    page.get_by_test_id("experiment-row").get_by_role("link").click()
    page.get_by_test_id("experiment-more").click()
    page.get_by_test_id("experiment-delete").click()
    expect(page.get_by_test_id("experiment-deleted")).to_be_visible()
    page.get_by_test_id("undo-button").click()
    expect(columns).to_be_visible()


@pytest.mark.long
def test_a_step_is_saved_and_outlives_its_run(page: Page, app_process: AppProcess) -> None:
    page.goto(f"{app_process.url}/playground")
    start_session(page, "Counter")
    ask(page, SUM).get_by_test_id("open-run").click()
    step = page.locator("[data-step-type=tool-call]").first.get_by_test_id("save-as-case-button")
    step.press("Enter")
    dialog = page.get_by_role("dialog", name="Save step 1 as case")
    save_into_new(page, "Steps")
    dialog.get_by_test_id("case-open").click()
    expect(page.get_by_test_id("field-reference")).to_have_value("")
    expect(page.get_by_test_id("field-expected_calls")).to_have_value(re.compile("^calculator .*add.*}$"))
    page.keyboard.press("Escape")
    run = page.get_by_test_id("case-run")
    expect(run).to_have_text("a run, step 1")
    run.click()
    page.get_by_test_id("run-more").click()
    page.get_by_test_id("run-delete").click()
    expect(page.get_by_test_id("run-deleted")).to_be_visible()
    page.goto("/evals/steps")
    expect(page.get_by_test_id("case-row")).to_contain_text("its run is gone")


@pytest.mark.long
def test_a_conversation_becomes_one_case(page: Page) -> None:
    page.goto("/playground")
    start_session(page, "Counter")
    ask(page, "What is 2 + 2?")
    ask(page, "What is 3 + 3?").get_by_test_id("save-as-case-button").click()
    page.get_by_test_id("case-with-turns").click()
    page.get_by_test_id("case-expected").click()
    save_into_new(page, "Talks")
    expect(page.get_by_test_id("case-saved")).to_contain_text("the message, 1 further message, the recorded results")
    page.get_by_test_id("case-open").click()
    expect(page.get_by_test_id("field-turns")).to_have_value("What is 3 + 3?")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("case-row")).to_contain_text("2 messages")


@pytest.mark.long
def test_the_palette_leads_to_datasets(page: Page) -> None:
    page.goto("/evals")
    expect(page.get_by_test_id("dataset-row").first).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_test_id("palette-input").fill("Many sums")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Many sums")
    expect(page.get_by_test_id("command-palette")).to_have_count(0)
    page.keyboard.press("Control+k")
    page.get_by_test_id("palette-input").fill("New dataset")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("question-input")).to_be_focused()


def test_a_scorer_of_ones_own_is_looked_at_before_it_may_run(page: Page, app_process: AppProcess) -> None:
    folder = app_process.data / "scorers"
    folder.mkdir(exist_ok=True)
    (folder / "short.py").write_text('"""Is it short?"""\n\ndef score(answer):\n    return len(answer) < 50\n')
    page.goto(f"{app_process.url}/evals/many-sums?show=scorers")
    file = page.get_by_test_id("scorer-file")
    expect(file).to_contain_text("Is it short?")
    expect(file).to_contain_text("may not run yet")
    file.get_by_role("button").click()
    expect(page.get_by_role("dialog")).to_contain_text("return len(answer) < 50")
    page.get_by_test_id("scorer-file-allow").click()
    expect(file.get_by_text("may run", exact=True)).to_be_visible()
    page.get_by_test_id("new-scorer-button").click()
    page.get_by_test_id("scorer-type").click()
    page.get_by_role("option", name="A Python file judges").click()
    expect(page.get_by_test_id("field-file")).to_have_value("short.py: Is it short?")
    page.get_by_test_id("scorer-save").click()
    expect(page.get_by_test_id("scorer-row").last).to_contain_text("A Python file judges: short.py")
    file.get_by_role("button").click()
    expect(file).to_contain_text("may not run yet")


@pytest.mark.long
def test_what_is_tried_can_be_chosen_and_its_price_follows(page: Page) -> None:
    page.goto("/evals/many-sums")
    page.get_by_test_id("try-dataset-button").click()
    estimate = page.get_by_test_id("experiment-estimate")
    expect(estimate).to_contain_text("120 runs")
    live = page.get_by_test_id("try-live-tool")
    expect(live).to_have_attribute("aria-checked", "true")  # nothing is recorded, and it changes nothing
    page.get_by_role("textbox", name="Repeats").fill("3")
    expect(estimate).to_contain_text("360 runs")
    page.get_by_role("textbox", name="Repeats").fill("many")
    expect(estimate).to_contain_text("Repeats: 'many' is no number")
    expect(page.get_by_test_id("experiment-start-button")).to_be_disabled()
    page.get_by_role("textbox", name="Repeats").fill("1")
    if can_connect():
        page.get_by_test_id("try-workers").fill("10.0.0.5")
        expect(estimate).to_contain_text("'10.0.0.5' is no address of a scheduler")
        page.get_by_test_id("try-workers").fill("")
    expect(estimate).to_contain_text("120 runs")
    page.locator(".q-chip__icon--remove").first.click()
    expect(estimate).to_contain_text("60 runs")
    expect(live).to_have_count(0)  # the variant that is left has no tools


@pytest.mark.long
def test_a_workflow_is_tried_beside_a_plain_agent(page: Page) -> None:
    page.goto("/evals/with-files")
    page.get_by_test_id("try-dataset-button").click()
    estimate = page.get_by_test_id("experiment-estimate")
    expect(estimate).to_contain_text("1 run.")
    expect(page.get_by_test_id("agent-select")).to_contain_text("Asking")
    page.get_by_test_id("try-beside").click()
    page.get_by_role("option", name="Counter").click()
    page.keyboard.press("Escape")
    expect(estimate).to_contain_text("2 runs")
    page.get_by_test_id("experiment-start-button").click()
    page.wait_for_url("**/experiments/*")
    expect(page.get_by_text("counter variant 1").first).to_be_visible()


def test_an_experiment_is_paused_resumed_and_stopped(page: Page) -> None:
    page.goto("/evals/many-sums")
    page.get_by_test_id("try-dataset-button").click()
    page.get_by_test_id("experiment-start-button").click()
    page.get_by_test_id("experiment-pause").click()
    resume = page.get_by_test_id("experiment-resume")
    expect(resume).to_be_visible()
    expect(page.get_by_test_id("verdict")).to_contain_text("no verdict before all cells are done")
    expect(page.get_by_test_id("experiment-progress")).not_to_contain_text("running", timeout=ENDS)
    resume.click()
    page.get_by_test_id("experiment-cancel").click()
    expect(page.locator(".pill")).to_have_text("Stopped")
    expect(page.get_by_test_id("experiment-progress")).to_contain_text("skipped")


def test_cases_are_written_found_changed_and_brought_back(page: Page, app_process: AppProcess) -> None:
    page.goto(f"{app_process.url}/evals?new=1")
    page.get_by_test_id("question-input").fill("By hand")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("By hand")
    expect(page.get_by_text("No cases yet")).to_be_visible()
    page.get_by_test_id("try-dataset-button").click()
    expect(page.get_by_text("This dataset has no cases yet")).to_be_visible()
    page.get_by_test_id("new-case-button").click()
    dialog = page.get_by_test_id("case-dialog")
    dialog.get_by_test_id("case-dialog-save").click()
    expect(page.get_by_text("Write the message that the agent gets.")).to_be_visible()
    dialog.get_by_test_id("field-input").fill("Refund me")
    expect(dialog.get_by_test_id("case-checks")).to_contain_text("Nobody asks them yet")
    dialog.get_by_test_id("field-expected_calls").fill('refund {"order": 5}')
    dialog.get_by_test_id("field-tags").fill("shop, urgent")
    dialog.locator("summary").click()
    dialog.get_by_test_id("field-turns").fill("Order 5\n---\nThanks")
    dialog.get_by_test_id("case-dialog-save").click()
    row = page.get_by_test_id("case-row")
    for words in ("Refund me", "refund", "shop", "urgent", "3 messages", "by hand"):
        expect(row).to_contain_text(words)
    page.get_by_role("button", name="Delete the case").click()
    expect(row).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(row).to_have_count(1)


@pytest.mark.long
def test_files_are_attached_to_a_case_and_taken_off_while_it_still_says_something(
    page: Page, screenshot: Callable[[str], Path]
) -> None:
    page.goto("/evals/with-files")
    page.get_by_test_id("case-edit").click()
    files = page.get_by_test_id("attachment-name")
    expect(files).to_have_text(["1.csv", "2.csv"])
    page.get_by_role("button", name="Remove 1.csv").click()
    pick(page, SUNSET, NOTE)
    expect(page.get_by_text("3 of 3 files attached")).to_be_attached()
    page.evaluate(PASTE, ["[data-testid=field-input]", ""])
    page.evaluate(DRAG, ["[data-testid=case-dialog]", "dragover"])
    expect(page.get_by_test_id("drop-zone")).to_be_visible()
    page.evaluate(DRAG, ["[data-testid=case-dialog]", "drop"])
    expect(page.get_by_text("6 of 6 files attached")).to_be_attached()
    screenshot("case-files")
    page.get_by_test_id("case-dialog-save").click()
    row = page.get_by_test_id("case-row")
    expect(row).to_contain_text("6 files")
    row.get_by_test_id("case-edit").click()
    expect(files).to_have_text(["2.csv", "sunset.png", "note.txt", "pasted.txt", "dropped.csv", "second.txt"])
    for left in range(5, -1, -1):
        page.get_by_test_id("attachment-remove").first.click()
        expect(files).to_have_count(left)
    page.get_by_test_id("case-dialog-save").click()
    expect(page.get_by_text("Write the message that the agent gets.")).to_be_visible()


@pytest.mark.long
def test_many_cases_come_by_pages_and_are_filtered(page: Page) -> None:
    page.goto("/evals/many-sums")
    rows = page.get_by_test_id("case-row")
    expect(rows).to_have_count(50)
    page.get_by_test_id("next-page").click()
    expect(rows).to_have_count(10)
    expect(page).to_have_url(re.compile("page=2"))
    page.get_by_test_id("case-search").fill("What is 27")
    expect(rows).to_have_count(2)  # 26 + 1 is 27 too
    expect(page).not_to_have_url(re.compile("page=2"))
    page.reload()
    expect(rows).to_have_count(2)
    page.get_by_test_id("case-search").fill("")
    page.get_by_test_id("case-tag").click()
    page.get_by_role("option", name="t1").click()
    expect(page.get_by_test_id("cases-count")).to_have_text("30 of 60 cases")


@pytest.mark.long
def test_a_file_comes_in_with_what_was_not_taken_and_goes_out_again(page: Page, tmp_path: Path) -> None:
    tests = [{"vars": {"question": "Hi"}, "assert": [{"type": "contains", "value": "hello"}, {"type": "javascript"}]}]
    file = tmp_path / "greetings.json"
    file.write_text(json.dumps({"prompts": ["{{question}}"], "tests": tests}))
    page.goto("/evals")
    page.locator("[data-testid=dataset-file] input[type=file]").set_input_files(file)
    expect(page.get_by_test_id("import-format")).to_contain_text("promptfoo")
    page.get_by_test_id("import-confirm").click()
    report = page.get_by_test_id("import-report")
    expect(report).to_contain_text("1 case taken in")
    expect(report).to_contain_text("javascript")
    expect(page.get_by_test_id("import-open")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("case-row")).to_contain_text("Hi")
    page.get_by_test_id("export-dataset-button").click()
    with page.expect_download() as download:
        page.get_by_test_id("export-csv").click()
    assert "Hi" in download.value.path().read_text()


def test_a_file_that_cannot_be_read_leaves_no_dataset(page: Page, complaints: Complaints, tmp_path: Path) -> None:
    complaints.expect("422")
    file = tmp_path / "broken.jsonl"
    file.write_text("no json")
    page.goto("/evals")
    page.locator("[data-testid=dataset-file] input[type=file]").set_input_files(file)
    page.get_by_test_id("import-confirm").click()
    expect(page.get_by_text("broken.jsonl, line 1")).to_be_visible()
    expect(page.get_by_test_id("dataset-row").filter(has_text="broken")).to_have_count(0)


def test_a_deleted_dataset_comes_back(page: Page) -> None:
    page.goto("/evals?q=many")
    row = page.get_by_test_id("dataset-row")
    expect(row).to_have_count(1)
    page.get_by_role("button", name="Delete Many sums").click()
    expect(row).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(row).to_have_count(1)


@pytest.mark.parametrize("testid", ["try-dataset-button", pytest.param("new-case-button", marks=pytest.mark.long)])
def test_dialogs_can_be_used_by_everybody(page: Page, testid: str) -> None:
    page.goto("/evals/many-sums")
    page.get_by_test_id(testid).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert [one for one in violations(page) if not one.startswith("color-contrast")] == []  # it sees the page behind


@pytest.mark.parametrize("address", ["/evals/nothing", "/experiments/nothing"])
def test_what_is_not_there_is_said(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_test_id("trouble")).to_contain_text("nothing")
