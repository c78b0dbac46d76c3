"""Agents and their variants in a real browser."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from app.domain.agents import Parameters, PromptBehaviour, ToolChoice, Variable, new_agent, with_variant
from app.export.agent_file import agent_file
from app.export.limits import LARGEST_AGENT
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.playground import STORY, SUM, ask

pytestmark = pytest.mark.blank
EDITOR = re.compile("/esm/.*/index")
"""Where CodeMirror is."""


def created(page: Page, name: str, template: str = "Blank agent") -> None:
    """A new agent, its editor open."""
    page.goto("/agents")
    page.get_by_test_id("new-agent-button").click()
    page.get_by_test_id("agent-name-input").fill(name)
    page.get_by_test_id("template-option").filter(has_text=template).click()
    page.get_by_test_id("create-agent-button").click()
    expect(page.get_by_test_id("agent-name")).to_have_text(name)
    expect(editor(page)).to_be_visible()


def editor(page: Page) -> Locator:
    return page.get_by_test_id("prompt-editor").locator(".cm-content")


def write_prompt(page: Page, text: str) -> None:
    """Type over the whole prompt, as somebody would, without the help of closing braces."""
    editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def kept(page: Page) -> None:
    expect(page.get_by_test_id("editor-state")).to_contain_text("draft kept")


def save_variant(page: Page, note: str = "") -> None:
    before = page.get_by_test_id("variant-row").count()
    page.get_by_test_id("variant-note").fill(note)
    page.get_by_test_id("save-variant-button").click()
    expect(page.get_by_test_id("variant-row")).to_have_count(before + 1)


def tab(page: Page, name: str) -> None:
    """Turn the editor to that tab."""
    page.get_by_test_id(f"editor-tab-{name}").click()
    expect(page.get_by_role("tabpanel", name=name.capitalize())).to_be_visible()


def variants(page: Page) -> None:
    """Show the variants beside the editor."""
    side = page.get_by_test_id("side-variants")
    if side.get_attribute("aria-pressed") != "true":
        side.click()
    expect(page.get_by_test_id("versions")).to_be_visible()


def row(page: Page, number: int) -> Locator:
    variants(page)
    return page.locator(f"[data-testid=variant-row][data-variant='{number}']")


def card(page: Page, name: str) -> Locator:
    return page.get_by_test_id("agent-card").filter(has=page.get_by_role("link", name=name, exact=True))


@pytest.mark.long
def test_from_a_new_agent_to_a_promoted_variant_and_back(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.goto("/")
    page.get_by_test_id("nav-agents").click()
    expect(page).to_have_url(re.compile("/agents$"))
    created(page, "Poet")
    write_prompt(page, "You write about {{theme}} in two lines.")
    expect(page.locator(".cm-variable")).to_have_text("{{theme}}")
    page.locator("[data-testid=variable-input][data-variable=theme]").fill("rivers")
    page.get_by_test_id("prompt-mode-preview").click()
    expect(page.get_by_test_id("prompt-preview")).to_have_text("You write about rivers in two lines.")
    kept(page)
    save_variant(page, "shorter")
    expect(row(page, 2)).to_contain_text("shorter")
    expect(row(page, 2).get_by_test_id("variant-status")).to_have_text("Newer")
    expect(row(page, 2)).to_contain_text("from v1")
    row(page, 2).get_by_test_id("diff-button").click()
    difference = page.get_by_test_id("variant-diff")
    expect(difference.locator("ins").filter(has_text="rivers")).to_have_count(1)
    screenshot("agent-diff")
    page.get_by_test_id("close-diff").click()
    row(page, 2).get_by_test_id("promote-button").click()
    expect(row(page, 2).get_by_test_id("variant-status")).to_have_text("Active")
    expect(row(page, 1).get_by_test_id("variant-status")).to_have_text("Previous")
    expect(row(page, 1).get_by_test_id("promote-button")).to_have_text("Roll back")
    screenshot("agent")
    row(page, 1).get_by_test_id("promote-button").click()
    expect(row(page, 1).get_by_test_id("variant-status")).to_have_text("Active")
    expect(row(page, 2).get_by_test_id("variant-status")).to_have_text("Newer")


def test_a_promotion_can_be_taken_back(page: Page) -> None:
    created(page, "Wavering")
    write_prompt(page, "Another prompt")
    save_variant(page)
    row(page, 2).get_by_test_id("promote-button").click()
    page.get_by_test_id("undo-button").click()
    expect(row(page, 1).get_by_test_id("variant-status")).to_have_text("Active")


@pytest.mark.long
def test_what_was_typed_survives_a_closed_tab_and_a_restart_of_the_app(page: Page, app_process: AppProcess) -> None:
    created(page, "Forgetful")
    address = page.url
    write_prompt(page, "Typed and never saved")
    page.close()
    reopened = page.context.new_page()
    reopened.goto(address)
    expect(editor(reopened)).to_have_text("Typed and never saved")
    kept(reopened)
    reopened.goto("about:blank")
    app_process.stop()
    app_process.start()
    reopened.goto(f"{app_process.url}/agents/forgetful?token={app_process.token}")
    expect(editor(reopened)).to_have_text("Typed and never saved")
    reopened.get_by_test_id("reset-prompt-button").click()
    expect(editor(reopened)).to_have_text("You are a helpful assistant.")
    reopened.get_by_test_id("undo-button").click()
    expect(editor(reopened)).to_have_text("Typed and never saved")
    reopened.get_by_test_id("reset-prompt-button").click()
    expect(reopened.get_by_test_id("editor-state")).to_contain_text("No changes")


@pytest.mark.long
def test_two_tabs_that_save_at_once_make_two_variants(page: Page) -> None:
    created(page, "Shared")
    other = page.context.new_page()
    other.goto(page.url)
    expect(editor(other)).to_be_visible()
    write_prompt(page, "From the first tab")
    write_prompt(other, "From the second tab")
    expect(page.get_by_test_id("changed-elsewhere")).to_be_visible()
    page.get_by_test_id("save-variant-button").click()
    other.get_by_test_id("save-variant-button").click()
    for tab in (page, other):
        expect(tab.get_by_test_id("variant-row")).to_have_count(3)
    expect(editor(page)).to_have_text("From the first tab")
    expect(editor(other)).to_have_text("From the second tab")
    row(page, 3).get_by_test_id("diff-button").click()
    expect(page.get_by_test_id("variant-diff").locator("ins").filter(has_text="second")).to_have_count(1)


def test_a_saved_variant_goes_back_into_the_editor_and_into_the_archive(page: Page) -> None:
    created(page, "Archivist")
    write_prompt(page, "Second")
    save_variant(page)
    row(page, 1).get_by_test_id("variant-copy").click()
    expect(editor(page)).to_have_text("You are a helpful assistant.")
    row(page, 2).get_by_test_id("variant-archive").click()
    expect(row(page, 2)).to_have_count(0)
    page.get_by_text("Show 1 archived variant").click()
    expect(row(page, 2).get_by_test_id("variant-status")).to_have_text("Archived")
    row(page, 2).get_by_test_id("variant-unarchive").click()
    expect(row(page, 2).get_by_test_id("variant-status")).to_have_text("Newer")


@pytest.mark.long
def test_a_session_is_started_with_a_version_that_is_not_active(page: Page) -> None:
    created(page, "Sampler")
    write_prompt(page, "Second")
    save_variant(page)
    row(page, 2).get_by_test_id("variant-talk").click()
    expect(page.get_by_test_id("chat-input")).to_be_visible()
    ask(page, "What is 2 + 2?")
    page.goto("/runs?agent=sampler")
    expect(page.get_by_test_id("run-row")).to_contain_text("v2")


@pytest.mark.long
def test_settings_tools_limits_and_schema_are_saved_and_shown_as_differences(page: Page) -> None:
    created(page, "Settled")
    tab(page, "model")
    page.get_by_test_id("setting-temperature").fill("0.3")
    tab(page, "limits")
    page.get_by_test_id("setting-max-steps").fill("4")
    tab(page, "tools")
    page.locator("[data-tool=read_file]").get_by_test_id("policy-ask").check()
    tab(page, "output")
    page.get_by_test_id("output-schema").fill('{"type": "object", "properties": {"sum": {"type": "number"}}}')
    expect(page.get_by_test_id("schema-note")).to_contain_text("sum")
    kept(page)
    page.get_by_test_id("what-changed-button").click()
    difference = page.get_by_test_id("variant-diff")
    for words in ("temperature", "0.3", "max steps", "read_file", "ask", "schema"):
        expect(difference).to_contain_text(words)
    page.get_by_test_id("close-diff").click()
    save_variant(page)
    page.reload()
    row(page, 2).get_by_test_id("variant-copy").click()
    expect(page.get_by_test_id("editor-state")).to_contain_text("v2")
    expect(page).to_have_url(re.compile(r"/agents/settled\?tab=output$"))
    tab(page, "model")
    expect(page.get_by_test_id("setting-temperature")).to_have_value("0.3")
    tab(page, "tools")
    expect(page.locator("[data-tool=read_file]").get_by_test_id("policy-ask")).to_be_checked()


def test_what_cannot_be_is_said_at_its_box_and_changes_nothing(page: Page) -> None:
    created(page, "Impossible")
    tab(page, "model")
    page.get_by_test_id("setting-temperature").fill("7")
    expect(page.get_by_text("At most 2", exact=True)).to_be_visible()
    tab(page, "limits")
    page.get_by_test_id("setting-max-steps").fill("0")
    expect(page.get_by_text("At least 1", exact=True)).to_be_visible()
    tab(page, "output")
    faults = page.get_by_test_id("editor-faults")
    expect(faults).to_contain_text("Limits: Steps at most: at least 1.")
    faults.get_by_role("button", name="Show Model").click()
    expect(page.get_by_text("At most 2", exact=True)).to_be_visible()
    page.get_by_test_id("setting-temperature").fill("1")
    expect(faults).not_to_contain_text("Model")
    page.get_by_test_id("setting-temperature").fill("")
    tab(page, "output")
    page.get_by_test_id("output-schema").fill('{"type": "objekt"}')
    expect(page.get_by_test_id("schema-note")).to_contain_text("no JSON Schema")
    page.get_by_test_id("output-schema").fill('{"type": ')
    expect(page.get_by_test_id("schema-note")).to_contain_text("not JSON")
    expect(page.get_by_test_id("editor-state")).to_contain_text("No changes")


@pytest.mark.long
def test_faults_of_variables_are_marked(page: Page) -> None:
    created(page, "Faulty", "Summariser")
    write_prompt(page, "Hello {{first name}} and {{ {{nested}} }}\nand {{open")
    faults = page.get_by_test_id("prompt-faults")
    expect(faults).to_contain_text("“{{first name}}” is no variable")
    expect(faults).to_contain_text("Line 2")
    expect(faults).to_contain_text("is never closed")
    expect(page.locator(".variable").filter(has_text="reader")).to_contain_text("not used")
    write_prompt(page, "")
    expect(faults).to_contain_text("The prompt is empty")
    save_variant(page)


@pytest.mark.long
def test_braces_in_a_value_are_not_expanded(page: Page) -> None:
    created(page, "Twice")
    write_prompt(page, "Say {{one}} and {{two}}")
    page.locator("[data-testid=variable-input][data-variable=one]").fill("{{two}}")
    page.locator("[data-testid=variable-input][data-variable=two]").fill("2")
    page.get_by_test_id("prompt-mode-preview").click()
    expect(page.get_by_test_id("prompt-preview")).to_have_text("Say {{two}} and 2")


@pytest.mark.long
def test_a_prompt_of_200_000_characters_is_taken_whole(page: Page) -> None:
    created(page, "Long")
    line = "Answer every question about {{topic}} with care. "
    write_prompt(page, (line * 4100)[:200_000])
    expect(page.get_by_test_id("prompt-tokens")).to_contain_text("k tokens")
    page.keyboard.press("Control+End")
    page.keyboard.type("THE END")
    kept(page)
    save_variant(page)
    page.reload()
    row(page, 2).get_by_test_id("variant-copy").click()
    expect(page.get_by_text("Variant 2 is in the editor")).to_be_visible()
    page.get_by_test_id("prompt-mode-preview").click()
    preview = page.get_by_test_id("prompt-preview")
    expect(preview).to_contain_text("THE END")
    row(page, 2).get_by_test_id("diff-button").click()
    expect(page.get_by_test_id("variant-diff")).to_be_visible()


def test_a_taken_name_is_said_while_typing(page: Page) -> None:
    page.goto("/agents")
    page.get_by_test_id("new-agent-button").click()
    note = page.get_by_test_id("agent-name-note")
    page.get_by_test_id("agent-name-input").press_sequentially("Math-Tutor")
    expect(note).to_have_text("There is already an agent called “Math tutor”. Choose another name.")
    expect(page.get_by_test_id("create-agent-button")).to_be_disabled()
    page.get_by_test_id("agent-name-input").press_sequentially(" of mine")
    expect(note).to_have_text("Its address will be /agents/math-tutor-of-mine")
    expect(page.get_by_test_id("create-agent-button")).to_be_enabled()


@pytest.mark.long
def test_a_renamed_agent_keeps_its_address(page: Page) -> None:
    created(page, "Old name")
    page.get_by_test_id("rename-agent").click()
    page.get_by_test_id("question-input").fill("Assistant")
    page.get_by_test_id("question-confirm").click()
    expect(page.get_by_text("There is already an agent called “Assistant”")).to_be_visible()
    page.get_by_test_id("rename-agent").click()
    page.get_by_test_id("question-input").fill("New name")
    page.get_by_test_id("question-confirm").click()
    expect(page.get_by_test_id("agent-name")).to_have_text("New name")
    page.goto("/agents/old-name")
    expect(page.get_by_test_id("agent-name")).to_have_text("New name")


def test_an_agent_is_duplicated_deleted_and_brought_back(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.goto("/agents")
    card(page, "Python analyst").get_by_test_id("agent-duplicate").click()
    expect(card(page, "Python analyst (copy)")).to_be_visible()
    card(page, "Python analyst (copy)").get_by_test_id("agent-delete").click()
    expect(card(page, "Python analyst (copy)")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(card(page, "Python analyst (copy)")).to_be_visible()
    card(page, "Python analyst (copy)").get_by_test_id("agent-delete").click()
    page.get_by_test_id("trash-button").click()
    expect(page).to_have_url(re.compile(r"/agents\?trash=1$"))
    deleted = page.get_by_test_id("trash-row").filter(has_text="Python analyst (copy)")
    screenshot("agents-trash")
    page.goto("/agents/python-analyst-copy")
    expect(page.get_by_test_id("trouble")).to_contain_text("Restore it from the Trash")
    page.go_back()
    deleted.get_by_test_id("restore-button").click()
    page.get_by_test_id("trash-button").click()
    card(page, "Python analyst (copy)").get_by_role("link").first.click()
    page.wait_for_url("**/agents/python-analyst-copy")
    page.get_by_test_id("agent-name").wait_for()
    page.get_by_test_id("agent-delete").click()  # on its own page, which is gone with it
    page.get_by_test_id("undo-button").wait_for()
    expect(page).to_have_url(re.compile("/agents$"))
    expect(card(page, "Python analyst (copy)")).to_have_count(0)
    page.get_by_test_id("undo-button").press("Enter")
    expect(card(page, "Python analyst (copy)")).to_be_visible()


def test_an_exported_agent_comes_back_with_its_tools_off(page: Page, tmp_path: Path) -> None:
    page.goto("/agents")
    with page.expect_download() as download:
        card(page, "Assistant").get_by_test_id("agent-export").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "assistant.agent.json"
    page.get_by_test_id("agent-file-input").locator("input[type=file]").set_input_files(path)
    expect(page).to_have_url(re.compile("/agents/assistant-2$"))
    tab(page, "tools")
    expect(page.get_by_test_id("tools-off-notice")).to_contain_text("6 tools came with this agent and are off")
    for box in page.get_by_test_id("policy-off").all():
        expect(box).to_be_checked()
    page.locator("[data-tool=calculator]").get_by_test_id("policy-auto").check()
    expect(page.get_by_test_id("tools-off-notice")).to_contain_text("5 tools")
    page.goto("/agents")
    twin = page.get_by_test_id("agent-card").filter(has_text="assistant-2")
    expect(twin).to_contain_text("Tools off")


@pytest.mark.long
def test_a_file_that_is_no_agent_is_refused_in_words(page: Page) -> None:
    page.goto("/agents")
    picker = page.get_by_test_id("agent-file-input").locator("input[type=file]")

    def offered(content: bytes, words: str) -> None:
        picker.set_input_files({"name": "x.json", "mimeType": "application/json", "buffer": content})
        expect(page.get_by_text(words)).to_be_visible()

    offered(b"PK\x03\x04", "This is no agent's file: it is not JSON")
    offered(b"{}", "it does not say")
    newer = {"format": "agent-playground/agent", "version": 99, "agent": {}}
    offered(json.dumps(newer).encode(), "newer Agent Playground")
    offered(b" " * (LARGEST_AGENT + 1), "larger than 16 MiB")
    expect(page).to_have_url(re.compile("/agents$"))


@pytest.mark.long
def test_an_agent_with_many_long_prompts_is_imported(page: Page) -> None:
    agent = new_agent("Long history", PromptBehaviour(system_prompt="Be brief."), taken_slugs=())
    for number in range(40):
        agent = with_variant(agent, PromptBehaviour(system_prompt=f"{number:02} " * 60_000), origin=1)
    page.goto("/agents")
    content = {"name": "x.json", "mimeType": "application/json", "buffer": agent_file(agent)}
    page.get_by_test_id("agent-file-input").locator("input[type=file]").set_input_files(content)
    expect(page).to_have_url(re.compile("/agents/long-history$"))
    expect(page.get_by_test_id("agent-name")).to_be_visible()


def test_agents_are_found_by_any_word(page: Page) -> None:
    page.goto("/agents")
    page.get_by_test_id("agent-search").fill("sandbox python")
    expect(page.get_by_test_id("agents-count")).to_have_text(re.compile(r"^\d agents?$"))
    expect(card(page, "Python analyst")).to_be_visible()
    expect(card(page, "Math tutor")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"\?q=sandbox\+python$"))
    page.reload()
    expect(card(page, "Python analyst")).to_be_visible()
    expect(card(page, "Math tutor")).to_have_count(0)
    page.get_by_test_id("agent-search").fill("nothing like this")
    expect(page.get_by_text("No agent fits")).to_be_visible()


def test_everything_from_prompt_to_promotion_works_by_keyboard(page: Page) -> None:
    created(page, "Typist")
    editor(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("Answer with {{mood}} ")
    expect(editor(page)).to_have_text("Answer with {{mood}} ")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("variant-note")).to_be_visible()  # it shows with the first change
    page.get_by_test_id("variant-note").focus()
    page.keyboard.type("by keyboard")
    expect(page.get_by_test_id("save-variant-button")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(row(page, 2)).to_contain_text("by keyboard")
    row(page, 2).get_by_test_id("promote-button").focus()
    page.keyboard.press("Enter")
    expect(row(page, 2).get_by_test_id("variant-status")).to_have_text("Active")
    page.get_by_test_id("editor-tab-prompt").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Tools")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("tabpanel", name="Tools")).to_be_visible()
    page.locator("[data-tool=calculator]").get_by_test_id("policy-auto").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-tool=calculator]").get_by_test_id("policy-ask")).to_be_checked()
    expect(page.get_by_test_id("editor-state")).to_contain_text("Changed")


@pytest.mark.long
def test_what_is_typed_is_tried_before_it_is_saved(page: Page, screenshot: Callable[[str], Path]) -> None:
    page.goto("/agents/math-tutor")
    expect(page.get_by_test_id("try-chat-input")).to_be_visible()
    expect(page.get_by_test_id("try-chat-input")).not_to_be_focused()
    write_prompt(page, "You calculate for {{who}}.")
    expect(page.get_by_test_id("editor-tab-prompt")).to_contain_text("not saved")
    page.get_by_test_id("try-chat-input").fill(SUM)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("tool-call")).to_have_count(2)
    expect(page.get_by_test_id("assistant-message")).to_contain_text("The answer is 45")
    expect(page.get_by_test_id("try-state")).to_have_text("Working copy")
    screenshot("agent-try")
    page.reload()
    expect(page.get_by_test_id("user-message")).to_have_text(re.compile("5 \\+ 10"))
    expect(page.get_by_text("never ran")).to_be_visible()
    page.get_by_test_id("try-clear").click()
    expect(page.get_by_test_id("user-message")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(page.get_by_test_id("user-message")).to_have_count(1)
    page.get_by_test_id("try-chat-input").fill(STORY)
    page.keyboard.press("Enter")
    page.get_by_test_id("try-stop-button").click()
    expect(page.get_by_test_id("try-send-button")).to_be_visible()
    page.get_by_test_id("try-runs").click()
    expect(page).to_have_url(re.compile(r"/runs\?agent=math-tutor&variant=0&behind=1$"))
    expect(page.get_by_test_id("run-row")).to_have_count(2)
    expect(page.get_by_test_id("run-row").first).to_contain_text("working copy")
    page.get_by_test_id("run-row").last.get_by_role("link").click()
    expect(page.get_by_text("Tried in the editor")).to_be_visible()
    page.get_by_role("link", name="Open its session").click()
    expect(page).to_have_url(re.compile("/agents/math-tutor$"))
    expect(page.get_by_test_id("user-message")).to_have_count(2)


@pytest.mark.long
def test_a_step_back_from_the_editor_leads_to_the_run_whose_session_was_opened(page: Page) -> None:
    page.goto("/agents/assistant")
    page.get_by_test_id("try-chat-input").fill(SUM)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("assistant-message")).to_contain_text("The answer is 45")
    page.get_by_test_id("try-runs").click()
    page.get_by_test_id("run-row").get_by_role("link").click()
    link = page.get_by_role("link", name="Open its session")
    link.wait_for()
    run, session = page.url, str(link.get_attribute("href"))
    for go in (link.click, partial(page.goto, session)):
        go()
        expect(page).to_have_url(re.compile("/agents/assistant$"))
        expect(page.get_by_test_id("user-message")).to_have_count(1)
        page.go_back()
        expect(page).to_have_url(run)
        link.wait_for()


@pytest.mark.long
def test_an_empty_prompt_and_the_variants_are_accessible(page: Page) -> None:
    page.goto("/agents/assistant")
    write_prompt(page, "")
    expect(page.locator(".cm-placeholder")).to_be_visible()
    variants(page)
    assert violations(page) == []


def test_an_unknown_agent_is_said_to_be_unknown(page: Page) -> None:
    page.goto("/agents/nobody")
    expect(page.get_by_test_id("trouble")).to_contain_text("There is no agent at this address")


@pytest.mark.long
def test_both_pages_fit_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for address, there in (("/agents", "agent-card"), ("/agents/assistant", "try-chat")):
        page.goto(address)
        expect(page.get_by_test_id(there).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.long
def test_versions_are_compared_side_by_side_from_their_row(page: Page) -> None:
    created(page, "Compared")
    write_prompt(page, "Second")
    save_variant(page)
    row(page, 2).get_by_test_id("variant-compare").click()
    expect(page).to_have_url(re.compile(r"/compare\?agent=compared&variant=1&variant=2$"))


def run_command(page: Page, typed: str, command: str) -> None:
    page.get_by_test_id("palette-button").focus()
    page.keyboard.press("Control+k")
    page.get_by_test_id("palette-input").fill(typed)
    expect(page.locator(".palette-item[aria-selected=true]")).to_contain_text(command)
    page.keyboard.press("Enter")


@pytest.mark.long
def test_the_palette_opens_an_editor_and_begins_a_new_agent(page: Page) -> None:
    page.goto("/")
    run_command(page, "edit math", "Edit Math tutor")
    expect(page.get_by_test_id("agent-name")).to_have_text("Math tutor")
    run_command(page, "new agent", "New agent")
    expect(page.get_by_test_id("agent-name-input")).to_be_focused()
    expect(page).to_have_url(re.compile("/agents$"))  # neither a reload nor a step back asks again
    page.keyboard.type("From the palette")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("agent-name")).to_have_text("From the palette")


@pytest.mark.long
def test_another_model_is_chosen_and_marked_when_nobody_knows_it(page: Page) -> None:
    created(page, "Modelled")
    tab(page, "model")
    page.get_by_test_id("model-select").click()
    page.get_by_test_id("model-search").press_sequentially("nobody/knows")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("model-select")).to_have_text(re.compile("nobody/knows"))
    expect(page.get_by_test_id("model-facts")).to_contain_text("nobody")
    kept(page)
    page.reload()
    expect(page.get_by_test_id("model-facts")).to_contain_text("nobody")
    page.get_by_test_id("reset-prompt-button").click()
    expect(page.get_by_test_id("model-facts")).to_contain_text("free")


def test_a_hostile_file_shows_its_text_and_runs_nothing(page: Page) -> None:
    bad = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>{{constructor}}"
    behaviour = PromptBehaviour(
        system_prompt=bad,
        variables=(Variable(name=bad, default=bad, description=bad), Variable(name=":x", default="window.hurt = 1")),
        model=f"openai/{bad}",
        parameters=Parameters(stop=(bad,)),
        tools=(ToolChoice(name=bad),),
        output_schema={bad: bad, ":type": "window.hurt = 1"},
    )
    agent = with_variant(
        new_agent(bad, behaviour, taken_slugs=()), PromptBehaviour(system_prompt=bad), origin=1, note=bad
    )
    content = agent_file(agent.model_copy(update={"description": bad, "examples": (bad,)}))
    page.goto("/agents")
    picker = page.get_by_test_id("agent-file-input").locator("input[type=file]")
    picker.set_input_files({"name": f"{bad}.json", "mimeType": "application/json", "buffer": content})
    expect(page.get_by_test_id("agent-name")).to_have_text(bad)
    tab(page, "tools")
    expect(page.locator(".policy-row.is-missing")).to_contain_text(bad)
    tab(page, "prompt")
    page.get_by_test_id("prompt-mode-both").click()
    row(page, 2).get_by_test_id("diff-button").click()
    expect(page.get_by_test_id("variant-diff")).to_be_visible()
    page.get_by_test_id("close-diff").click()
    page.get_by_test_id("nav-agents").click()
    expect(page.get_by_test_id("agent-card").filter(has_text="window.hurt")).to_be_visible()
    assert page.evaluate("window.hurt") is None


def test_who_presses_on_a_prompt_before_its_editor_is_loaded_types_into_it(page: Page) -> None:
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route(EDITOR, hold, times=1)
    page.goto("/agents/assistant")
    text = page.get_by_test_id("prompt-editor").locator(".prompt-text")
    expect(text).to_be_visible()
    text.click()
    waiting[0].continue_()
    expect(page.get_by_test_id("prompt-editor").locator(".cm-content")).to_be_focused()
