"""Settings: keys that are checked at once and never shown again, the doctor, servers of one's own, looks."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.fakes.process import openai_process

pytestmark = pytest.mark.blank

KEY = "sk-planted-0123456789-WXYZ"
WRONG = "sk-mistyped-0123456789-WXYZ"
OTHERS = "sk-ant-planted-0123456789-WXYZ"
DOCTOR_SECONDS = 60_000
STEPS = ("resolves", "connects", "certificate", "key", "listed", "call", "tool")


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """The address of a provider that takes that key alone, and quotes any other."""
    with openai_process(KEY) as address:
        yield f"{address}/v1"


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    """The app in an environment that says nothing of the provider."""
    environment = {
        "OPENAI_API_KEY": "",
        "OPENAI_BASE_URL": "",
    }
    app = AppProcess(tmp_path_factory.mktemp("agent-playground"), environment=environment)
    app.start()
    yield app
    app.stop()


LEFT_TIMES = 8
THERE_AND_AWAY = """([there, away, rest]) => {
  const follow = (href) => {
    const link = Object.assign(document.createElement("a"), { href });
    document.body.append(link);
    link.click();
    link.remove();
  };
  follow(there);
  setTimeout(() => follow(away), rest);
}"""


def opened(page: Page, query: str = "") -> Page:
    """The settings, once they know all that they show."""
    page.goto(f"/settings{query}")
    expect(page.get_by_test_id("key-place")).to_contain_text("kept in a file")
    return page


def card(page: Page, name: str) -> Locator:
    """That provider's card, opened."""
    found = page.locator(f"[data-provider-card={name}]")
    head = found.get_by_test_id("provider-head")
    if head.get_attribute("aria-expanded") == "false":
        head.click()
    expect(head).to_have_attribute("aria-expanded", "true")
    return found


def save(shown: Locator, key: str, address: str = "") -> None:
    shown.get_by_test_id("key-input").fill(key)
    if address:
        shown.get_by_test_id("provider-address").fill(address)
    shown.get_by_test_id("save-provider").click()


def with_key(shown: Locator, provider: str) -> Locator:
    """The card, once its key is there: of an earlier test, or saved now."""
    state = shown.get_by_test_id("provider-state")
    if "Key set" not in state.inner_text():
        save(shown, KEY, provider)
        expect(shown.get_by_test_id("provider-note")).to_contain_text("It works")
    expect(state).to_contain_text("Key set")
    return shown


def sent_to(page: Page) -> list[str]:
    """Grows by all that the browser is sent over the socket."""
    sent: list[str] = []

    def hear(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: sent.append(str(frame)))

    page.on("websocket", hear)
    return sent


def found_in(folder: Path, text: str) -> list[str]:
    """The files that hold it."""
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def post(app: AppProcess, path: str, body: object) -> httpx.Response:
    return httpx.post(f"{app.url}/api/v1/{path}", json=body, headers={"X-API-Key": app.token}, timeout=60)


def test_a_key_is_checked_when_it_is_saved_and_never_shown_again(
    page: Page, app_process: AppProcess, provider: str, screenshot: Callable[[str], Path]
):
    sent = sent_to(page)
    openai = card(opened(page), "openai")
    note = openai.get_by_test_id("provider-note")
    save(openai, "two words")
    expect(note).to_contain_text("There is a space in the key")
    save(openai, OTHERS)
    expect(note).to_contain_text("looks like a key of Anthropic")
    save(openai, WRONG, provider)
    expect(note).to_contain_text("does not work yet: OpenAI does not accept the key")
    expect(note).to_contain_text("[key]")
    seen = openai.get_by_test_id("provider-seen")
    expect(seen).to_have_text("Refused the key just now, by asking for its models")
    save(openai, f'export OPENAI_API_KEY="{KEY}"')
    expect(note).to_contain_text("It works")
    expect(note).to_contain_text("“OPENAI_API_KEY=” before it, the quotes around it")
    expect(openai.get_by_test_id("provider-state")).to_have_text("Key set, …WXYZ")
    expect(seen).to_have_text("Answered just now, by asking for its models")
    expect(openai.get_by_test_id("key-state")).to_contain_text("Kept in a file of the data folder")
    expect(openai.get_by_test_id("key-input")).to_have_value("")
    screenshot("settings-key")
    shown = "".join([page.content(), *sent])
    assert "Key set, …WXYZ" in shown
    assert not [key for key in (KEY, WRONG, OTHERS) if key[:-4] in shown]
    assert found_in(app_process.data, KEY) == ["provider-keys.json"]
    assert found_in(app_process.data, WRONG) == []
    assert found_in(app_process.data, OTHERS) == []


@pytest.mark.long
def test_an_answer_comes_with_the_saved_key_and_an_error_that_quotes_it_is_cleaned(
    page: Page, app_process: AppProcess, provider: str
):
    with_key(card(opened(page), "openai"), provider)
    agent = {"name": "Asker", "provider": "openai", "model": "ok", "system_prompt": "", "tools": []}
    slug = post(app_process, "agents", agent).json()["data"]["slug"]
    answered = post(app_process, f"agents/{slug}/run", {"input": "hi"}).json()["data"]
    assert answered["output_text"] == "Hello world"
    bundle = httpx.get(
        f"{app_process.url}/api/v1/runs/{answered['run_id']}/export?format=bundle",
        headers={"X-API-Key": app_process.token},
    )
    assert KEY not in bundle.text
    assert KEY not in app_process.log
    assert set(found_in(app_process.data, KEY)) == {"provider-keys.json"}


@pytest.mark.long
def test_the_doctor_ticks_each_step_and_tells_of_a_model_that_takes_no_tools(
    page: Page, provider: str, screenshot: Callable[[str], Path]
):
    openai = with_key(card(opened(page, "?provider=openai"), "openai"), provider)
    model = openai.get_by_test_id("doctor-model")
    expect(model).not_to_have_value("")
    model.fill("tools")
    openai.get_by_test_id("run-doctor").click()
    steps = openai.get_by_test_id("doctor-step")
    expect(steps.first).to_have_attribute("data-outcome", "works")
    expect(openai.get_by_test_id("run-doctor")).to_be_enabled(timeout=DOCTOR_SECONDS)
    outcomes = [steps.nth(place).get_attribute("data-outcome") for place in range(7)]
    found = dict(zip(STEPS, outcomes, strict=True))
    assert found == {**dict.fromkeys(STEPS, "works"), "certificate": "skipped"}, " · ".join(steps.all_inner_texts())
    expect(openai.get_by_test_id("stop-doctor")).to_be_hidden()
    expect(openai.get_by_test_id("provider-seen")).to_have_text("Answered just now, by the doctor")
    screenshot("settings-doctor")
    model.fill("no-tools")
    model.press("Enter")
    expect(steps.nth(6)).to_contain_text("does not support tools", timeout=DOCTOR_SECONDS)
    expect(steps.nth(6)).to_contain_text("Agents that have tools need another model")
    expect(openai.get_by_test_id("run-doctor")).to_be_enabled()


@pytest.mark.long
def test_the_model_of_new_agents_is_one_that_the_provider_listed(page: Page, screenshot: Callable[[str], Path]):
    opened(page)
    page.get_by_test_id("default-model").click()
    models, search = page.get_by_test_id("model-list"), page.get_by_test_id("model-search")
    groups = models.get_by_role("group")
    expect(groups.nth(1)).to_have_attribute("aria-label", "Recently used")
    expect(groups.filter(has_text="needs a key").first).to_be_visible()
    expect(models).to_contain_text("These need a key. Choosing one asks for it.")
    assert models.get_by_test_id("model-option").count() <= 60
    expect(search).to_have_attribute("aria-activedescendant", "model-option-0")
    search.press("ArrowDown")
    expect(search).to_have_attribute("aria-activedescendant", "model-option-1")
    screenshot("model-picker")
    assert violations(page) == []
    page.get_by_test_id("model-search").fill("openai/length-thinking")
    option = page.get_by_test_id("model-option").filter(has_text="length-thinking").first
    expect(option).to_be_visible()
    option.click()
    expect(page.get_by_test_id("default-model")).to_contain_text("openai/length-thinking")
    page.goto("/agents?new=1")
    page.get_by_test_id("agent-name-input").fill("Thinker")
    page.get_by_test_id("create-agent-button").click()
    expect(page.get_by_test_id("model-select")).to_contain_text("openai/length-thinking")


@pytest.mark.long
def test_a_server_of_ones_own_is_added_and_removed_and_so_is_a_key(
    page: Page, app_process: AppProcess, provider: str, screenshot: Callable[[str], Path]
):
    opened(page)
    page.get_by_test_id("add-provider").click()
    page.get_by_test_id("own-title").fill("Team server")
    page.get_by_test_id("own-address").fill("no address")
    page.get_by_test_id("own-key").fill(KEY)
    page.get_by_test_id("own-add").click()
    expect(page.get_by_test_id("add-provider-note")).to_contain_text("is no address")
    page.get_by_test_id("own-address").fill(provider)
    page.get_by_test_id("own-add").click()
    own = page.locator("[data-provider-card=team-server]")
    expect(own.get_by_test_id("provider-head")).to_be_focused()
    expect(own.get_by_test_id("provider-head")).to_be_in_viewport()
    expect(own.get_by_test_id("provider-seen")).to_contain_text("Answered just now")
    expect(page.get_by_test_id("add-provider-note")).to_contain_text("Team server: Added. It works")
    expect(own.get_by_test_id("models-offered")).to_be_visible()
    screenshot("settings-own-server")
    own.get_by_test_id("provider-address").fill("http://127.0.0.1:9/v1")
    own.get_by_test_id("save-provider").click()
    expect(own.get_by_test_id("provider-seen")).to_contain_text("Did not answer")
    expect(own.get_by_test_id("models-offered")).to_have_count(0)
    own.get_by_test_id("remove-provider").click()
    page.get_by_test_id("question-confirm").click()
    expect(own).to_have_count(0)
    openai = card(page, "openai")
    openai.get_by_test_id("forget-key").click()
    page.get_by_test_id("question-confirm").click()
    expect(openai.get_by_test_id("provider-state")).to_have_text("Needs a key")
    expect(openai.locator("input[type=password]").first).to_be_focused()  # the button is gone with the key
    page.get_by_test_id("undo-button").click()
    expect(openai.get_by_test_id("provider-note")).to_contain_text("from before is back")
    expect(openai.get_by_test_id("provider-state")).not_to_have_text("Needs a key")
    openai.get_by_test_id("forget-key").click()
    page.get_by_test_id("question-confirm").click()
    expect(openai.get_by_test_id("provider-state")).to_have_text("Needs a key")
    assert found_in(app_process.data, KEY) == []


@pytest.mark.long
def test_user_mode_hides_what_is_for_developers_and_says_so_where_it_is_opened_by_its_address(
    page: Page, screenshot: Callable[[str], Path]
):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, "?section=appearance")
    page.get_by_test_id("settings-mode-user").click()
    expect(page.get_by_test_id("settings-mode-user")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_test_id("nav-jobs")).to_be_hidden()
    page.get_by_test_id("settings-theme-dark").click()
    expect(page.locator("body.body--dark")).to_have_count(1)
    screenshot("settings-narrow")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto("/agents/assistant?tab=limits")
    expect(page.get_by_test_id("setting-run-cost")).to_be_visible()
    for hidden in ("setting-max-steps", "output-schema", "setting-temperature"):
        expect(page.get_by_test_id(hidden)).to_be_hidden()
    tool = page.get_by_test_id("tool-policy").first
    page.get_by_test_id("editor-tab-tools").click()
    expect(tool).to_be_visible()
    expect(tool.locator("code")).to_be_hidden()
    page.goto("/playground")
    page.get_by_test_id("agent-card").filter(has_text="Assistant").click()
    page.get_by_test_id("side-panel-button").click()
    panel = page.get_by_test_id("side-panel")
    expect(panel.get_by_test_id("tool-switch").first).to_be_visible()
    expect(page.get_by_test_id("context-tokens")).to_be_hidden()
    expect(panel.get_by_role("heading", name="Next turn")).to_have_count(0)
    screenshot("panel-user-mode")
    page.goto("/tools/calculator")
    expect(page.get_by_test_id("tool-form")).to_be_visible()
    expect(page.get_by_test_id("tool-schema")).to_be_hidden()
    page.goto("/jobs")
    note = page.get_by_test_id("developer-note")
    expect(note).to_contain_text("This is for developers")
    note.get_by_role("link").click()
    developer = page.get_by_test_id("settings-mode-developer")
    expect(developer).to_be_in_viewport()
    developer.click()
    expect(developer).to_have_attribute("aria-pressed", "true")


@pytest.mark.long
def test_it_is_accessible_in_both_themes(page: Page):
    page.set_viewport_size({"width": 1280, "height": 720})
    card(opened(page), "bedrock")
    page.get_by_test_id("add-provider").click()
    assert violations(page) == []
    page.get_by_test_id("settings-theme-light").click()
    expect(page.locator("body.body--light")).to_have_count(1)
    assert violations(page) == []
    page.get_by_test_id("show-licences").click()
    expect(page.get_by_test_id("licences")).to_contain_text("nicegui")


@pytest.mark.long
def test_a_section_that_is_asked_for_is_there_at_its_place_and_may_be_left_at_once(page: Page):
    page.goto("/settings?section=data")
    title = page.get_by_test_id("settings-data").get_by_role("heading", name="Data", exact=True)
    expect(title).to_be_focused()
    expect(title).to_be_in_viewport()
    for rest in range(LEFT_TIMES):
        page.goto("/runs")
        page.evaluate(THERE_AND_AWAY, ["/settings?section=data", "/runs", 12 * rest])
        expect(page.get_by_test_id("runs-table")).to_be_attached()
        expect(page.get_by_test_id("settings-data")).to_have_count(0)
