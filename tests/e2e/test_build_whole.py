"""Five nodes from an empty canvas to an approved answer, and back again: by keyboard alone, by mouse, by touch."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app_process import AppProcess
from tests.e2e.test_build import PHONE, add, canvas, created, edges, node, nodes, said, wire
from tests.e2e.test_keyboard import go_to, press
from tests.e2e.test_workflow_runs import states

pytestmark = pytest.mark.blank

QUESTION = "Shall {{transform}} be sent?"
CODE = "join('', [input.text, '!'])"
VALUE = "Sent {{transform}}"
FIELDS = {"transform": ("node-code", CODE), "approval": ("node-question", QUESTION), "output": ("node-value", VALUE)}
"""By kind that is added: the box of its settings that is filled in."""
DENIED = "Connected Approval at “denied” to Output."


def whole(page: Page) -> None:
    expect(page.get_by_test_id("node-count")).to_have_text("5 nodes · no faults")


def asked(page: Page) -> None:
    expect(page.get_by_text("Shall bees! be sent?").first).to_be_visible()


def sent(page: Page) -> None:
    expect(page.get_by_test_id("try-chat").get_by_test_id("assistant-message")).to_contain_text("Sent bees!")


def begun(page: Page) -> None:
    """All is taken back."""
    expect(page.get_by_test_id("node-count")).to_contain_text("2 nodes")
    expect(page.get_by_test_id("undo-button")).to_be_disabled()


@pytest.mark.long
def test_by_keyboard_alone(page: Page) -> None:
    page.goto("/build")
    press(page, page.get_by_test_id("new-workflow-button"))
    expect(page.get_by_test_id("agent-name-input")).to_be_focused()
    page.keyboard.type("Whole by keyboard")
    press(page, page.get_by_test_id("template-option").filter(has_text="Blank workflow"))
    press(page, page.get_by_test_id("create-agent-button"))
    nodes(page, 2)
    go_to(page, canvas(page))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("e")
    expect(page.get_by_test_id("workflow-said")).to_contain_text("Edge from Input to Output")
    page.keyboard.press("Delete")
    edges(page, 0)
    find(page, "input")
    for kind, (field, text) in FIELDS.items():
        add_by_key(page, kind)
        go_to(page, page.get_by_test_id(field))
        page.keyboard.press("Control+a")
        page.keyboard.type(text)
        go_to(page, canvas(page), back=True)
    connect_denied(page)
    nodes(page, 5)
    edges(page, 4)
    whole(page)
    press(page, page.get_by_test_id("workflow-run-button"), back=True)
    expect(page.get_by_test_id("try-chat").locator("textarea")).to_be_focused()
    page.keyboard.type("bees")
    page.keyboard.press("Enter")
    asked(page)
    states(page, approval="waiting", transform="done")
    press(page, page.get_by_test_id("answer-button"), back=True)
    sent(page)
    states(page, output_2="done", output="skipped")
    go_to(page, canvas(page), back=True)
    for _ in range(30):
        page.keyboard.press("Control+z")
    begun(page)


def find(page: Page, id_: str) -> None:
    """Choose the node by its name."""
    page.keyboard.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.type(id_)
    expect(node(page, id_)).to_have_class(re.compile("is-chosen"))
    page.keyboard.press("Escape")
    expect(canvas(page)).to_be_focused()


def add_by_key(page: Page, kind: str) -> None:
    """After the chosen node."""
    page.keyboard.press("a")
    press(page, page.get_by_test_id(f"add-{kind}"), back=kind == "output")  # it begins at the agent
    expect(page.get_by_test_id("add-node-dialog")).to_have_count(0)
    expect(page.get_by_test_id("node-title")).to_be_focused()
    expect(page.get_by_test_id("node-settings")).to_contain_text(kind)


def connect_denied(page: Page) -> None:
    find(page, "approval")
    page.keyboard.press("c")
    page.keyboard.press("c")
    heard = page.get_by_test_id("workflow-said")
    expect(heard).to_contain_text("at denied")
    for key in ("ArrowLeft", "ArrowUp", "ArrowDown", "ArrowRight") * 3:
        page.keyboard.press(key)
        expect(heard).to_have_text(re.compile("Enter connects|No node there"))
        if heard.inner_text() == "Output. Enter connects." and "is-chosen" in str(
            node(page, "output").get_attribute("class")
        ):
            break
    page.keyboard.press("Enter")
    said(page, DENIED)


def test_by_mouse(page: Page) -> None:
    created(page, "Whole by mouse")
    node(page, "input").click()
    page.get_by_label("Take away the edge to Output").click()
    edges(page, 0)
    for kind, (field, text) in FIELDS.items():
        add(page, kind)
        expect(page.get_by_test_id("node-settings")).to_contain_text(kind)
        page.get_by_test_id(field).fill(text)
    page.get_by_test_id("tidy-button").click()
    said(page, "Tidied.")
    page.get_by_label("Fit all").click()
    wire(page, "approval", "output", "denied")
    said(page, DENIED)
    edges(page, 4)
    whole(page)
    page.get_by_test_id("workflow-run-button").click()
    page.get_by_test_id("try-chat").locator("textarea").fill("bees")
    page.get_by_test_id("try-send-button").click()
    asked(page)
    page.get_by_test_id("answer-button").click()
    sent(page)
    states(page, output_2="done", output="skipped")
    for _ in range(9):  # three nodes with a text each, the edge that went and the one that came, and the tidying
        page.get_by_test_id("undo-button").click()
    begun(page)


@pytest.fixture
def phone(browser: Browser, app_process: AppProcess) -> Iterator[Page]:
    profile = browser.new_context(base_url=app_process.url, viewport=PHONE, has_touch=True, is_mobile=True)
    profile.request.get(app_process.address, max_redirects=0)
    yield profile.new_page()
    profile.close()


@pytest.mark.long
def test_by_touch(phone: Page) -> None:
    created(phone, "Whole by touch")
    phone.locator("li[data-node=input]").get_by_test_id("list-open").tap()
    phone.get_by_label("Take away the edge to Output").tap()
    before = "input"
    for kind, (field, text) in FIELDS.items():
        phone.locator(f"li[data-node={before}]").get_by_test_id("list-add").tap()
        phone.get_by_test_id(f"add-{kind}").tap()
        expect(phone.get_by_test_id("node-settings")).to_contain_text(kind)
        phone.get_by_test_id(field).fill(text)
        before = kind
    phone.locator("li[data-node=approval]").get_by_test_id("list-open").tap()
    phone.get_by_label("Connect at denied to").select_option("Output")
    expect(phone.locator("li[data-node=approval]")).to_contain_text("denied: Output")
    whole(phone)
    phone.get_by_test_id("workflow-run-button").tap()
    phone.get_by_test_id("try-chat").locator("textarea").fill("bees")
    phone.get_by_test_id("try-send-button").tap()
    asked(phone)
    phone.get_by_test_id("answer-button").tap()
    sent(phone)
    for _ in range(8):
        phone.get_by_test_id("undo-button").tap()
    begun(phone)
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
