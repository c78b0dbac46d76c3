"""Working on a prompt beside its conversation, in a real browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.agents import PromptBehaviour, ToolChoice, Variable, new_agent
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on
from tests.e2e.playground import SUM, ask

pytestmark = pytest.mark.blank

PROMPT = "You write for {{audience}}. Keep a {{tone}} tone."
VARIABLES = (
    Variable(name="audience", default="curious adults", description="Who asks"),
    Variable(name="tone", default="friendly"),
)
GOOD = PromptBehaviour(system_prompt=PROMPT, variables=VARIABLES, tools=(ToolChoice(name="calculator"),))
NAMES = (
    "Writer",
    "Saver",
    "Keeper",
    "Resetter",
    "Switcher",
    "Twice",
    "Valued",
    "Sets",
    "Replaced",
    "Long",
    "Changed",
    "Chooser",
)
AGENTS = dict.fromkeys(NAMES, GOOD) | {
    "Toolless": GOOD.model_copy(update={"tools": (ToolChoice(name="calculator"), ToolChoice(name="abacus"))}),
    "Keyless": GOOD.model_copy(update={"model": "openai/gpt-4o"}),
    "Typist": GOOD,
    "Hostile": PromptBehaviour(
        system_prompt="Say <img src=x onerror=alert(1)>.", variables=(Variable(name=":onclick", default="alert(2)"),)
    ),
    "Homemade": GOOD.model_copy(update={"model": "ollama/none-such"}),
}


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(
        tmp_path_factory.mktemp("panel"), prepare, environment={"OPENAI_API_KEY": "", "COMPATIBLE_BASE_URL": ""}
    ) as app:
        yield app


async def prepare(folder: Path) -> None:
    workbench = Workbench.open(folder)
    for name, behaviour in AGENTS.items():
        await workbench.agents.create(new_agent(name, behaviour, taken_slugs=workbench.agents.slugs()))
    await workbench.close()


def talk_to(page: Page, agent: str) -> None:
    page.goto("/playground")
    page.get_by_test_id("agent-card").filter(has_text=agent).click()
    expect(editor(page)).to_be_visible()
    expect(page.get_by_test_id("context-tokens").or_(page.get_by_test_id("next-turn-trouble"))).to_be_visible()


def editor(page: Page) -> Locator:
    return page.get_by_test_id("prompt-editor").get_by_role("textbox")


def write(page: Page, text: str) -> None:
    """Put this in place of the whole prompt, as somebody who pastes it."""
    editor(page).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def save(page: Page, number: int) -> None:
    page.get_by_test_id("save-variant-button").click()
    expect(page.get_by_test_id("variant-select")).to_have_value(f"v{number} · newer")


def preview(page: Page) -> Locator:
    page.get_by_test_id("prompt-preview-tab").click()
    return page.get_by_test_id("prompt-preview")


def test_the_preview_shows_what_the_model_reads(page: Page) -> None:
    talk_to(page, "Writer")
    expect(preview(page)).to_have_text("You write for curious adults. Keep a friendly tone.")
    page.get_by_role("textbox", name="Value of tone").fill("stern")
    expect(preview(page)).to_contain_text("Keep a stern tone.")
    page.get_by_test_id("prompt-edit-tab").click()
    editor(page).click()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type(" Be brief.")
    expect(preview(page)).to_have_text("You write for curious adults. Keep a stern tone. Be brief.")


@pytest.mark.long
def test_braces_in_a_value_are_not_filled_in_again(page: Page) -> None:
    talk_to(page, "Valued")
    page.get_by_role("textbox", name="Value of audience").fill("{{tone}} people")
    expect(preview(page)).to_have_text("You write for {{tone}} people. Keep a friendly tone.")


@pytest.mark.long
def test_a_variable_is_completed_and_gets_a_box(page: Page) -> None:
    talk_to(page, "Changed")
    editor(page).click()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type(" Always {{aud")
    completion = page.locator(".cm-tooltip-autocomplete li")
    expect(completion).to_have_text("audienceWho asks")
    completion.click()
    page.keyboard.type(" in a {{")
    expect(completion).to_have_count(2)
    page.keyboard.type("ton", delay=50)  # as people do: CodeMirror takes no Enter 75 ms after the list came up
    expect(completion).to_have_text("tone")
    page.keyboard.press("Enter")
    expect(editor(page)).to_contain_text("in a {{tone}}")
    page.keyboard.type(" tone and {{language")
    expect(editor(page)).to_contain_text("Always {{audience}} in a {{tone}} tone and {{language}}")
    expect(page.get_by_role("textbox", name="Value of language")).to_be_visible()
    expect(page.get_by_test_id("variable-input")).to_have_count(3)
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type(" {{two words}}")
    expect(page.get_by_test_id("prompt-faults")).to_contain_text("“{{two words}}” is no variable")


@pytest.mark.long
def test_a_prompt_is_saved_as_a_variant_that_answers_next(page: Page, screenshot: Callable[[str], Path]) -> None:
    talk_to(page, "Saver")
    ask(page, "What is 1 + 1?")
    expect(page.get_by_test_id("save-variant-button")).to_be_disabled()
    write(page, "Answer in {{language}}.")
    expect(page.get_by_test_id("changes-chip")).to_contain_text("Since active v1")
    expect(page.get_by_test_id("unsaved-prompt")).to_contain_text("answers use variant 1 until you save")
    page.get_by_test_id("variant-note").fill("In any language")
    save(page, 2)
    expect(page.get_by_test_id("save-variant-button")).to_be_disabled()
    page.get_by_role("textbox", name="Value of language").fill("French")
    expect(page.get_by_test_id("system-changed")).to_be_visible()
    screenshot("prompt-panel")
    ask(page, "What is 2 + 2?")
    expect(page.get_by_test_id("system-changed")).to_have_count(0)
    page.get_by_test_id("open-run").last.click()
    page.wait_for_url("**/runs/**")
    expect(page.locator(".skip-target")).to_contain_text("v2")


@pytest.mark.long
def test_what_changed_since_the_active_variant_is_shown_in_words(page: Page) -> None:
    talk_to(page, "Changed")
    write(page, PROMPT.replace("Keep", "Hold"))
    page.get_by_test_id("changes-chip").filter(has_text="1 word added, 1 word removed").click()
    diff = page.get_by_test_id("variant-diff")
    expect(diff.locator("ins")).to_have_text("Hold")
    expect(diff.locator("del")).to_have_text("Keep")
    page.keyboard.press("Escape")
    expect(diff).to_have_count(0)


def test_what_was_typed_survives_closing_the_tab(page: Page, app_process: AppProcess) -> None:
    talk_to(page, "Keeper")
    write(page, "Typed and never saved.")
    expect(page.get_by_test_id("unsaved-prompt")).to_be_visible()
    address = page.url
    other = page.context.new_page()
    page.close()
    other.goto(address)
    expect(editor(other)).to_have_text("Typed and never saved.")
    expect(other.get_by_test_id("unsaved-prompt")).to_be_visible()


@pytest.mark.long
def test_reset_goes_back_and_can_be_taken_back(page: Page) -> None:
    talk_to(page, "Resetter")
    write(page, "Something else.")
    page.get_by_test_id("reset-prompt-button").click()
    expect(editor(page)).to_have_text(PROMPT)
    expect(page.get_by_test_id("unsaved-prompt")).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(editor(page)).to_have_text("Something else.")
    page.get_by_test_id("reset-prompt-button").click()
    expect(editor(page)).to_have_text(PROMPT)
    page.reload()
    expect(editor(page)).to_have_text(PROMPT)


def test_variant_and_model_are_switched_in_mid_session(page: Page) -> None:
    talk_to(page, "Switcher")
    write(page, "Second.")
    save(page, 2)
    page.get_by_test_id("variant-select").click()
    page.get_by_role("option", name="v1 · active").click()
    expect(editor(page)).to_have_text(PROMPT)
    page.reload()
    expect(page.get_by_test_id("variant-select")).to_have_value("v1 · active")
    page.get_by_test_id("model-select").click()
    page.get_by_test_id("model-search").fill("gpt-4o-mini")
    page.get_by_test_id("model-option").filter(has_text=re.compile("^gpt-4o-mini(?!-)")).first.click()
    page.get_by_test_id("key-later").click()
    expect(page.get_by_test_id("model-select")).to_have_attribute("aria-label", re.compile("needs a key"))
    expect(page.get_by_test_id("context-cost")).to_contain_text("$")
    page.get_by_test_id("model-select").press("Enter")
    expect(page.get_by_test_id("model-option").first).to_have_text(re.compile("Use the variant's model"))
    expect(page.get_by_test_id("model-search")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("model-select")).to_contain_text("demo/agent")


@pytest.mark.long
def test_a_model_chosen_for_the_session_is_saved_with_the_variant(page: Page) -> None:
    talk_to(page, "Chooser")
    expect(page.get_by_test_id("save-variant-button")).to_be_disabled()
    page.get_by_test_id("model-select").click()
    page.get_by_test_id("model-search").fill("gpt-4o-mini")
    page.get_by_test_id("model-option").filter(has_text=re.compile("^gpt-4o-mini(?!-)")).first.click()
    page.get_by_test_id("key-later").click()
    expect(page.get_by_test_id("changes-chip")).to_contain_text("model")
    write(page, "Another prompt.")
    save(page, 2)
    expect(page.get_by_test_id("model-select")).to_contain_text("gpt-4o-mini")
    expect(page.get_by_test_id("save-variant-button")).to_be_disabled()
    page.get_by_test_id("variant-select").click()
    page.get_by_role("option", name="v1 · active").click()
    expect(page.get_by_test_id("model-select")).to_contain_text("demo/agent")
    page.get_by_test_id("variant-select").click()
    page.get_by_role("option", name="v2 · newer").click()
    expect(page.get_by_test_id("model-select")).to_contain_text("gpt-4o-mini")


@pytest.mark.long
def test_the_agents_page_counts_a_prompt_as_the_panel_does(page: Page) -> None:
    talk_to(page, "Valued")
    shown = page.get_by_test_id("prompt-tokens")
    expect(shown).to_have_text(re.compile(r"^about \d+ tokens$"))
    panel = shown.inner_text()
    page.goto("/agents/valued")
    expect(page.get_by_test_id("prompt-tokens")).to_have_text(panel)


@pytest.mark.long
def test_two_tabs_that_save_at_once_make_two_variants(page: Page) -> None:
    talk_to(page, "Twice")
    other = page.context.new_page()
    other.goto(page.url)
    expect(editor(other)).to_have_text(PROMPT)
    write(page, "From the first tab.")
    write(other, "From the second tab.")
    page.get_by_test_id("save-variant-button").click()
    other.get_by_test_id("save-variant-button").click()
    page.get_by_test_id("variant-select").click()
    expect(page.get_by_role("option")).to_have_count(3)


@pytest.mark.long
def test_values_are_kept_under_a_name(page: Page) -> None:
    talk_to(page, "Sets")
    tone = page.get_by_role("textbox", name="Value of tone")
    tone.fill("grave")
    expect(preview(page)).to_contain_text("grave")
    page.get_by_test_id("keep-values-button").click()
    page.get_by_test_id("question-input").fill("Serious")
    page.get_by_test_id("question-confirm").click()
    kept = page.get_by_test_id("variable-set")
    expect(kept).to_have_text("Serious")
    tone.fill("silly")
    expect(kept).to_have_attribute("aria-pressed", "false")
    kept.click()
    expect(tone).to_have_value("grave")
    expect(preview(page)).to_contain_text("grave")
    page.get_by_role("button", name="Delete the values “Serious”").click()
    expect(kept).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(kept).to_have_count(1)


@pytest.mark.long
def test_values_that_take_the_place_of_others_of_their_name_give_it_back(page: Page) -> None:
    talk_to(page, "Replaced")
    tone = page.get_by_role("textbox", name="Value of tone")
    name = "The values that are wanted when somebody asks at the end of a long day"
    for value in ("grave", "silly"):
        tone.fill(value)
        expect(preview(page)).to_contain_text(value)
        page.get_by_test_id("keep-values-button").click()
        page.get_by_test_id("question-input").fill(name)
        page.get_by_test_id("question-confirm").click()
        expect(page.get_by_test_id("question-confirm")).to_have_count(0)
        expect(page.get_by_test_id("variable-set")).to_have_text(name[:60])
    page.get_by_test_id("undo-button").click()
    expect(page.get_by_test_id("variable-set")).to_have_attribute("aria-pressed", "false")
    page.get_by_test_id("variable-set").click()
    expect(tone).to_have_value("grave")


def test_the_next_turn_is_counted_before_it_is_sent(page: Page) -> None:
    talk_to(page, "Homemade")
    expect(page.get_by_test_id("context-history")).to_have_text("0")
    expect(page.get_by_test_id("context-system")).not_to_have_text("0")
    expect(page.get_by_test_id("context-tools")).not_to_have_text("0")
    expect(page.get_by_test_id("context-message")).to_have_text("0")
    page.get_by_test_id("chat-input").fill("How many tokens are these?")
    expect(page.get_by_test_id("context-message")).not_to_have_text("0")
    total = page.get_by_test_id("context-tokens")
    expect(total).to_have_text(re.compile(r"^about \d+ tokens"))
    tokens = re.findall(r"about \d+ tokens", total.inner_text())[0]
    expect(page.get_by_test_id("composer-cost")).to_have_text(f"Next turn: {tokens}, $0.00 to send")


@pytest.mark.long
def test_what_a_turn_costs_is_said_where_it_is_written(page: Page) -> None:
    talk_to(page, "Keyless")
    cost = page.get_by_test_id("composer-cost")
    expect(cost).to_have_text(re.compile(r"^Next turn: about \d+ tokens, (< )?\$0\.\d+ to send$"))
    before, place = cost.inner_text(), page.get_by_test_id("chat-input").bounding_box()
    page.get_by_test_id("chat-input").fill("a longer question " * 3)
    expect(cost).not_to_have_text(before)
    assert page.get_by_test_id("chat-input").bounding_box() == place


def test_a_model_without_a_key_is_marked(page: Page) -> None:
    talk_to(page, "Keyless")
    expect(page.get_by_test_id("model-select")).to_have_attribute("title", re.compile("OPENAI_API_KEY"))


@pytest.mark.long
def test_a_tool_that_is_gone_is_marked_with_the_way_out(page: Page) -> None:
    talk_to(page, "Toolless")
    expect(page.get_by_test_id("missing-tool")).to_contain_text("“abacus” does not exist any more")
    expect(page.get_by_test_id("next-turn-trouble")).to_contain_text("abacus")
    page.get_by_test_id("remove-tool-button").click()
    expect(page.get_by_test_id("changes-chip")).to_contain_text("abacus")
    save(page, 2)
    expect(page.get_by_test_id("missing-tool")).to_have_count(0)
    expect(page.get_by_test_id("context-tokens")).to_be_visible()
    expect(ask(page, SUM)).to_contain_text("45")


@pytest.mark.long
def test_200_000_characters_are_edited_without_waiting(page: Page) -> None:
    talk_to(page, "Long")
    line = "Every word of this long prompt counts for {{audience}}. "
    write(page, (line * 20 + "\n") * (200_000 // (len(line) * 20 + 1)))
    expect(page.get_by_test_id("prompt-tokens")).to_contain_text(re.compile(r"\d\d\.\dk tokens"))
    page.keyboard.press("ControlOrMeta+End")
    began = page.evaluate("performance.now()")
    page.keyboard.type("The end of it.")
    taken = page.evaluate("performance.now()") - began
    assert taken < 14 * 150, f"{taken / 14:.0f} ms for a character"
    expect(preview(page)).to_contain_text("The end of it.")
    save(page, 2)
    page.reload()
    expect(preview(page)).to_contain_text("The end of it.")


@pytest.mark.long
def test_the_panel_is_hidden_and_shown(page: Page) -> None:
    talk_to(page, "Writer")
    panel = page.get_by_test_id("side-panel")
    page.get_by_test_id("side-panel-button").click()
    expect(panel).to_be_hidden()
    page.get_by_test_id("side-panel-button").press("Enter")
    expect(panel).to_be_visible()
    page.reload()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(panel).to_be_hidden()
    page.get_by_test_id("side-panel-button").click()
    expect(panel).to_be_visible()
    expect(page.get_by_test_id("side-close")).to_be_focused()
    page.get_by_role("button", name="Close this panel").click()
    expect(panel).to_be_hidden()
    expect(page.get_by_test_id("side-panel-button")).to_be_focused()


@pytest.mark.long
def test_on_a_phone_a_tap_beside_the_panel_and_escape_close_it_and_reach_nothing_behind(page: Page) -> None:
    talk_to(page, "Writer")
    page.set_viewport_size({"width": 390, "height": 844})
    panel, opener = page.get_by_test_id("side-panel"), page.get_by_test_id("side-panel-button")
    opener.click()
    expect(panel).to_be_visible()
    assert violations(page) == []
    box = page.get_by_test_id("attach-button").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 4, box["y"] + 4)  # which would ask for a file
    expect(panel).to_be_hidden()
    expect(opener).to_be_focused()
    opener.click()
    editor(page).click()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(opener).to_be_focused()


def test_a_prompt_is_edited_and_saved_by_keyboard_alone(page: Page) -> None:
    talk_to(page, "Typist")
    editor(page).focus()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type(" Be brief.")
    expect(page.get_by_test_id("changes-chip")).to_be_visible()
    for stop in ("variant-note", "save-variant-button"):
        page.keyboard.press("Tab")
        expect(page.get_by_test_id(stop)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("variant-select")).to_have_value("v2 · newer")
    editor(page).focus()
    page.keyboard.type("Now. ")
    page.keyboard.press("ControlOrMeta+s")  # at once, before anybody heard of what was typed
    expect(page.get_by_test_id("variant-select")).to_have_value("v3 · newer")
    page.keyboard.press("ControlOrMeta+s")
    expect(page.get_by_text("Nothing to save")).to_be_visible()


@pytest.mark.long
def test_markup_in_prompt_and_values_is_only_text(page: Page) -> None:
    talk_to(page, "Hostile")
    evil = "<img src=x onerror=alert(1)>"
    expect(preview(page)).to_contain_text(evil)
    expect(page.get_by_test_id("variable-input")).to_have_count(1)
    page.get_by_test_id("prompt-edit-tab").click()
    write(page, f"{evil} {{{{tone}}}}")
    page.get_by_role("textbox", name="Value of tone").fill(evil)
    expect(preview(page)).to_have_text(f"{evil} {evil}")
    page.get_by_test_id("changes-chip").click()
    expect(page.get_by_test_id("variant-diff")).to_contain_text("onerror")
    assert page.locator("img[src=x]").count() == 0
