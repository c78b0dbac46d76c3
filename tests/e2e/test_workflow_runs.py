"""Runs of workflows in a real browser: on the canvas, beside the chat, on the run's own page."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.conftest import WINDOW
from tests.e2e.playground import start_session
from tests.e2e.test_keyboard import go_to, press

pytestmark = pytest.mark.blank

NUMBERS = {"type": "array", "items": {"type": "integer"}, "default": [1, 2, 3]}
TAKES = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "numbers": NUMBERS},
    "required": ["text"],
}
DOUBLE = {
    "operation": {"kind": "value", "value": "multiply"},
    "x": {"kind": "path", "path": "item"},
    "y": {"kind": "value", "value": 2},
}


def document(takes: dict[str, object]) -> dict[str, object]:
    """Each number is doubled, beside that the assistant is asked; a branch leaves one way dead."""
    numbers = "input.numbers" if "numbers" in str(takes) else "`[1, 2]`"
    nodes = [
        {"kind": "input", "id": "input", "title": "Question", "takes": takes, "y": 100},
        {"kind": "map", "id": "each", "title": "Each number", "items": {"kind": "path", "path": numbers},
         "gives": {"kind": "path", "path": "double"}, "x": 260},
        {"kind": "tool", "id": "double", "title": "Double it", "tool": "calculator", "arguments": DOUBLE,
         "scope": "each", "x": 20, "y": 50},
        {"kind": "agent", "id": "ask", "title": "Ask", "agent": "assistant", "x": 260, "y": 300,
         "message": {"kind": "text", "text": "What is 5 + 10, then multiply by 3?"}},
        {"kind": "branch", "id": "many", "title": "Many?", "cases": [{"name": "many", "formula": "1 > 2"}], "x": 700},
        {"kind": "transform", "id": "shrink", "title": "Shrink", "code": "`1`", "x": 950, "y": 200},
        {"kind": "output", "id": "small", "title": "Small", "value": {"kind": "text", "text": "x"}, "x": 1200},
        {"kind": "output", "id": "output", "title": "Answer", "value": {"kind": "text", "text": "{{ask}}"}, "x": 950},
    ]  # fmt: skip
    wires = ["input > each", "input > ask", "each > many", "many:many > shrink", "shrink > small", "many:else > output",
             "ask > output"]  # fmt: skip
    edges = [(one.partition(" > ")[0].partition(":"), one.partition(" > ")[2]) for one in wires]
    return {
        "nodes": nodes,
        "edges": [{"source": source, "port": port or "next", "target": to} for (source, _, port), to in edges],
    }


def made(context: BrowserContext, app: AppProcess, name: str, takes: dict[str, object]) -> str:
    """Its slug."""
    headers = {"Authorization": f"Bearer {app.token}"}
    body = {"name": name, "workflow": document(takes)}
    reply = context.request.post("/api/v1/workflows", headers=headers, data=body)
    assert reply.ok, reply.text()
    return str(reply.json()["data"]["slug"])


def states(page: Page, **wanted: str) -> None:
    for id_, state in wanted.items():
        expect(page.locator(f".wf-node[data-id={id_}]")).to_have_class(re.compile(rf"\bis-{state}\b"))


def test_nodes_light_up_while_they_run_and_any_moment_can_be_looked_at(
    page: Page, context: BrowserContext, app_process: AppProcess
):
    page.goto(f"/build/{made(context, app_process, 'Numbers', TAKES)}")
    page.get_by_test_id("workflow-run-button").click()
    form = page.get_by_test_id("run-form")
    form.get_by_role("textbox").first.fill("hello")
    assert [one for one in violations(page) if not one.startswith("color-contrast")] == []  # while it fades in
    page.get_by_test_id("run-form-run").click()
    states(page, ask="running")
    states(page, input="done", each="done", double="done", ask="done", output="done", shrink="skipped", small="skipped")
    expect(page.get_by_test_id("try-chat").get_by_test_id("assistant-message")).to_contain_text("45")
    expect(page.locator(".wf-edges .is-dead")).to_have_count(2)

    page.locator(".wf-node[data-id=double]").click()
    values = page.get_by_test_id("node-values")
    expect(values.get_by_test_id("node-output")).to_contain_text("3 * 2 = 6")
    values.get_by_test_id("node-round").select_option("item 1")
    expect(values.get_by_test_id("node-inputs")).to_contain_text('"x": 1')
    page.locator(".wf-node[data-id=output]").click()
    assert "ask = Step by step" in page.locator("select[aria-label='Insert a value into Answer']").inner_text()

    slider = page.get_by_test_id("run-slider")
    slider.click(position={"x": 2, "y": 10})
    expect(page.locator(".wf-node.is-done")).to_have_count(0)
    page.keyboard.press("End")
    states(page, output="done")
    assert violations(page) == []
    page.get_by_test_id("run-bar-close").click()
    expect(page.locator(".wf-node.is-done")).to_have_count(0)


def test_the_last_runs_are_offered_where_none_goes_on(page: Page, context: BrowserContext, app_process: AppProcess):
    slug = made(context, app_process, "Looked back at", {"type": "object", "properties": {"text": {"type": "string"}}})
    page.goto(f"/build/{slug}")
    page.get_by_test_id("show-run").click()
    expect(page.get_by_test_id("run-bar")).to_contain_text("has not run yet")
    headers = {"Authorization": f"Bearer {app_process.token}"}
    assert context.request.post(f"/api/v1/workflows/{slug}/run", headers=headers, data={"input": "over the API"}).ok
    page.get_by_test_id("show-run").click()
    states(page, output="done", small="skipped")
    expect(page.get_by_test_id("run-pick")).to_contain_text("over the API")


@pytest.mark.long
def test_the_nodes_light_up_beside_the_chat(page: Page, context: BrowserContext, app_process: AppProcess):
    made(context, app_process, "Talked to", {"type": "object", "properties": {"text": {"type": "string"}}})
    page.goto("/playground")
    start_session(page, "Talked to")
    page.get_by_test_id("chat-input").fill("hi")
    page.keyboard.press("Enter")
    states(page, ask="running")
    expect(page.get_by_test_id("assistant-message")).to_contain_text("45")
    states(page, output="done", shrink="skipped")
    used = page.get_by_test_id("assistant-message").locator(".message-actions")
    expect(used).to_have_text(re.compile(r"[1-9][\d,]* tokens"))  # those of its agent
    graph = page.get_by_test_id("run-graph")
    graph.locator("[data-node=double]").click()
    expect(graph.get_by_test_id("node-output")).to_contain_text("2 * 2 = 4")
    graph.locator(".wf-view").press("Delete")
    expect(graph.get_by_test_id("workflow-node")).to_have_count(8)
    assert violations(page) == []


@pytest.mark.long
def test_a_session_asks_for_what_the_input_takes(page: Page, context: BrowserContext, app_process: AppProcess):
    made(context, app_process, "Takes numbers", TAKES)
    page.goto("/playground")
    start_session(page, "Takes numbers")
    expect(page.get_by_test_id("input-offer")).to_contain_text("It takes text, numbers.")
    assert violations(page) == []
    press(page, page.get_by_test_id("input-form-button"), back=True)
    form = page.get_by_test_id("run-form")
    go_to(page, form.get_by_role("textbox").first)
    page.keyboard.type("hello")
    form.get_by_role("spinbutton").first.fill("7")
    press(page, form.get_by_test_id("run-form-run"))
    expect(page.get_by_test_id("user-message")).to_contain_text("hello")
    expect(page.get_by_test_id("assistant-message")).to_contain_text("45")
    graph = page.get_by_test_id("run-graph")
    graph.locator("[data-node=each]").click()
    expect(graph.get_by_test_id("node-output")).to_contain_text("7 * 2 = 14")
    page.reload()
    page.get_by_test_id("input-form-button").click()
    expect(form.get_by_role("spinbutton").first).to_have_value("7")


def test_a_run_is_told_node_by_node_on_its_page(page: Page, context: BrowserContext, app_process: AppProcess):
    slug = made(context, app_process, "Told", {"type": "object", "properties": {"text": {"type": "string"}}})
    headers = {"Authorization": f"Bearer {app_process.token}"}
    reply = context.request.post(f"/api/v1/workflows/{slug}/run", headers=headers, data={"input": "hi"})
    page.goto(f"/runs/{reply.json()['data']['run_id']}")
    cards = page.locator("[data-step-type=node]")
    expect(cards).to_have_count(9)
    expect(page.get_by_test_id("model-chip")).to_have_text("its nodes' models")
    double = page.locator("[data-node=double]").last
    expect(double).to_contain_text("Double it, item 2")
    double.get_by_test_id("tool-call").locator("summary").click()
    expect(double.get_by_test_id("tool-result").last).to_contain_text("4")
    page.locator("[data-node=ask]").get_by_test_id("child-steps").locator("summary").first.click()
    expect(page.locator("[data-node=ask]").get_by_test_id("run-step").last).to_contain_text("45")
    expect(page.locator("[data-node=shrink]")).to_have_attribute("data-state", "skipped")
    assert violations(page) == []
    page.get_by_role("tab", name="Waterfall").click()
    expect(page.locator("[data-testid=waterfall-row][data-kind=node]")).to_have_count(7)
    expect(page.locator("[data-testid=waterfall-row][data-depth='2']").first).to_contain_text("calculator")
    page.get_by_role("tab", name="Trajectory").click()
    expect(page.get_by_test_id("trajectory-step").filter(has_text="Ask")).to_contain_text("The answer is")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("tab", name="Timeline").click()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390, wide
    page.set_viewport_size(WINDOW)
