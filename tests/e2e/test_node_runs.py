"""Parts of a workflow run from one of its nodes in a real browser, and values pinned in place of what nodes give."""

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.conftest import WINDOW
from tests.e2e.test_connection import Line
from tests.e2e.test_keyboard import go_to, press
from tests.e2e.test_workflow_runs import states

pytestmark = pytest.mark.blank

INSIDE = """() => document.querySelector(".wf-node[data-id=b]").getBoundingClientRect().bottom
  < document.querySelector(".wf-view").getBoundingClientRect().bottom"""


def made(context: BrowserContext, app: AppProcess, name: str, *, asks: bool = False) -> str:
    """Its slug; nodes in a row, of which each adds a letter, or the second one asks."""
    steps = [
        {"kind": "transform", "id": id_, "title": title, "code": f"join('', [{before}, '{id_}'])", "x": 260 * place}
        for place, (id_, title, before) in enumerate([("a", "First", "input.text"), ("b", "Second", "a")], 1)
    ]
    if asks:
        steps[1] = {"kind": "approval", "id": "b", "title": "Second", "question": "Is {{a}} right?", "x": 520}
    answer = {"kind": "text", "text": "{{b}}!" if not asks else "{{a}}!"}
    ends = [
        {"kind": "input", "id": "input", "x": 0},
        {"kind": "output", "id": "output", "value": answer, "x": 780},
    ]
    edges = [{"source": one, "target": other} for one, other in (("input", "a"), ("a", "b"), ("b", "output"))]
    edges[-1]["port"] = "approved" if asks else "next"
    body = {"name": name, "workflow": {"nodes": [ends[0], *steps, ends[1]], "edges": edges}}
    headers = {"Authorization": f"Bearer {app.token}"}
    reply = context.request.post("/api/v1/workflows", headers=headers, data=body)
    assert reply.ok, reply.text()
    return str(reply.json()["data"]["slug"])


def ran(context: BrowserContext, app: AppProcess, slug: str, text: str) -> None:
    headers = {"Authorization": f"Bearer {app.token}"}
    reply = context.request.post(f"/api/v1/workflows/{slug}/run", headers=headers, data={"input": text})
    assert reply.ok, reply.text()


def choose(page: Page, id_: str) -> None:
    page.locator(f".wf-node[data-id={id_}]").click()
    expect(page.get_by_test_id("node-settings").locator("code").first).to_have_text(id_)


def line(page: Page, id_: str, words: str) -> None:
    expect(page.locator(f".wf-node[data-id={id_}] .wf-line")).to_contain_text(words)


def asked_what_it_gives(page: Page, context: BrowserContext, app: AppProcess, name: str) -> Locator:
    """The dialog for the first node's pin, in a workflow that has run."""
    slug = made(context, app, name)
    ran(context, app, slug, "x")
    page.goto(f"/build/{slug}")
    page.get_by_test_id("show-run").click()
    states(page, output="done")
    choose(page, "a")
    page.get_by_test_id("node-pin").click()
    dialog = page.get_by_test_id("pin-dialog")
    expect(dialog.get_by_test_id("pin-value")).to_have_value("xa")
    return dialog


@pytest.mark.long
def test_parts_run_from_a_node_and_say_what_is_recorded(page: Page, context: BrowserContext, app_process: AppProcess):
    slug = made(context, app_process, "Parts")
    page.goto(f"/build/{slug}")
    choose(page, "b")
    expect(page.get_by_test_id("node-run-to")).to_be_disabled()
    expect(page.get_by_test_id("node-ways-why")).to_contain_text("Run the workflow once first")
    ran(context, app_process, slug, "x")
    page.get_by_test_id("show-run").click()
    states(page, output="done")
    page.get_by_test_id("node-run-only").click()
    line(page, "b", "anew")
    line(page, "a", "from the record")
    states(page, b="done")
    expect(page.locator(".wf-node[data-id=output].is-done")).to_have_count(0)
    assert violations(page) == []


def test_a_value_is_pinned_used_marked_and_taken_off(page: Page, context: BrowserContext, app_process: AppProcess):
    dialog = asked_what_it_gives(page, context, app_process, "Pinned")
    dialog.get_by_test_id("pin-json").click()
    expect(dialog.get_by_test_id("pin-value")).to_have_value('"xa"')
    dialog.get_by_test_id("pin-value").fill("{")
    dialog.get_by_test_id("pin-done").click()
    expect(dialog.get_by_test_id("pin-wrong")).to_contain_text("Line 1")
    dialog.get_by_test_id("pin-text").click()
    dialog.get_by_test_id("pin-value").fill("mine")
    dialog.get_by_test_id("pin-done").click()
    expect(page.locator(".wf-node[data-id=a] .wf-pinned")).to_have_text("Pinned")
    expect(page.get_by_test_id("node-run-only")).to_be_disabled()
    assert violations(page) == []

    canvas = page.get_by_test_id("workflow-canvas")
    canvas.focus()
    canvas.press("ArrowRight")
    canvas.press("n")
    line(page, "b", "anew")
    line(page, "a", "pinned by you")
    choose(page, "b")
    expect(page.get_by_test_id("node-output")).to_contain_text("mineb")
    page.get_by_test_id("view-list").click()
    expect(page.locator(".node-row[data-node=a]")).to_contain_text("Pinned")
    page.reload()
    expect(page.locator(".wf-node[data-id=a] .wf-pinned")).to_have_text("Pinned")
    choose(page, "a")
    page.get_by_test_id("node-unpin").click()
    expect(page.locator(".wf-pinned")).to_have_count(0)
    page.get_by_test_id("undo-bar").get_by_role("button").click()
    expect(page.locator(".wf-pinned")).to_have_count(1)


def test_what_is_typed_as_soon_as_a_box_is_filled_stays_in_it(
    page: Page, context: BrowserContext, app_process: AppProcess
):
    line = Line(page)
    dialog = asked_what_it_gives(page, context, app_process, "Typed at once")
    box = dialog.get_by_test_id("pin-value")
    line.deaf_from_words = "run_javascript"
    dialog.get_by_test_id("pin-json").click()
    expect(box).to_have_value('"xa"')
    box.fill("{")
    line.catch_up()
    dialog.get_by_test_id("pin-done").click()
    expect(dialog.get_by_test_id("pin-wrong")).to_contain_text("Line 1")
    expect(box).to_have_value("{")


@pytest.mark.long
def test_parts_run_and_a_value_is_pinned_by_keys(page: Page, context: BrowserContext, app_process: AppProcess):
    slug = made(context, app_process, "By keys")
    ran(context, app_process, slug, "x")
    page.goto(f"/build/{slug}")
    press(page, page.get_by_test_id("show-run"))
    states(page, output="done")
    go_to(page, page.get_by_test_id("workflow-canvas"))
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".wf-node[data-id=a]")).to_have_class(re.compile("is-chosen"))
    page.keyboard.press("r")
    for id_, words in (("a", "anew"), ("b", "anew"), ("output", "anew")):
        line(page, id_, words)
    page.keyboard.press("h")
    line(page, "a", "from the record")
    expect(page.locator(".wf-node[data-id=b].is-done")).to_have_count(0)
    expect(page.get_by_test_id("run-bar")).to_contain_text("Completed")
    page.keyboard.press("n")
    line(page, "a", "anew")
    page.keyboard.press("p")
    expect(page.get_by_test_id("pin-value")).to_be_focused()
    assert [one for one in violations(page) if not one.startswith("color-contrast")] == []  # while it fades in
    page.keyboard.press("Control+a")
    page.keyboard.type("mine")
    press(page, page.get_by_test_id("pin-done"))
    expect(page.locator(".wf-node[data-id=a] .wf-pinned")).to_have_text("Pinned")
    go_to(page, page.get_by_test_id("workflow-canvas"), back=True)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("n")
    line(page, "b", "anew")
    line(page, "a", "pinned by you")
    page.keyboard.press("ArrowLeft")
    press(page, page.get_by_test_id("node-unpin"))
    expect(page.locator(".wf-pinned")).to_have_count(0)


@pytest.mark.long
def test_what_a_part_waits_for_is_decided_below_the_canvas(
    page: Page, context: BrowserContext, app_process: AppProcess
):
    slug = made(context, app_process, "Asks", asks=True)
    headers = {"Authorization": f"Bearer {app_process.token}"}
    body = {"input": "x", "background": True}
    assert context.request.post(f"/api/v1/workflows/{slug}/run", headers=headers, data=body).ok
    page.goto(f"/build/{slug}")
    page.get_by_test_id("show-run").click()
    states(page, b="waiting")
    expect(page.get_by_test_id("run-bar")).to_contain_text("Paused")
    card = page.get_by_test_id("run-pause")
    expect(card).to_be_visible()
    page.wait_for_function(INSIDE)
    card.get_by_test_id("answer-button").click()
    expect(card).to_have_count(0)
    states(page, output="done")
    expect(page.get_by_test_id("run-bar")).to_contain_text("Completed")
    choose(page, "b")
    page.get_by_test_id("node-run-only").click()
    line(page, "b", "Waits for a person")
    expect(card).to_contain_text("Is xa right?")
    assert violations(page) == []
    press(page, card.get_by_test_id("decline-button"))
    line(page, "b", "denied")
    expect(card).to_have_count(0)


@pytest.mark.long
def test_a_phone_runs_from_a_node_that_was_changed(page: Page, context: BrowserContext, app_process: AppProcess):
    slug = made(context, app_process, "By phone")
    ran(context, app_process, slug, "x")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/build/{slug}")
    page.locator(".node-row[data-node=b] .node-row-open").click()
    page.get_by_test_id("node-code").fill("join('', [a, 'c'])")
    expect(page.get_by_test_id("editor-state")).to_contain_text("Changed")
    page.locator(".node-row[data-node=output] .node-row-open").click()
    page.get_by_test_id("node-run-to").click()
    expect(page.locator(".node-row[data-node=a]")).to_contain_text("from the record")
    expect(page.locator(".node-row[data-node=b]")).to_contain_text("anew")
    expect(page.get_by_test_id("node-output")).to_contain_text("xac!")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page) == []
    page.set_viewport_size(WINDOW)


@pytest.mark.long
def test_a_runs_page_runs_from_a_node(page: Page, context: BrowserContext, app_process: AppProcess):
    slug = made(context, app_process, "From its page")
    ran(context, app_process, slug, "x")
    page.goto(f"/build/{slug}")
    page.get_by_test_id("show-run").click()
    page.get_by_test_id("run-bar-open").click()
    second = page.locator("[data-node=b]")
    expect(second.get_by_test_id("step-run-only")).to_be_visible()
    first = page.url
    second.get_by_test_id("step-run-from").click()
    expect(page.locator("[data-node=a]")).to_contain_text("from the record")
    expect(page.locator("[data-node=b]")).to_contain_text("anew")
    expect(page).not_to_have_url(first)
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size(WINDOW)
