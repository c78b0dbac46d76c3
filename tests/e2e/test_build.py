"""Workflows built in a real browser: by mouse, by keyboard alone, by touch."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.conftest import WINDOW

pytestmark = pytest.mark.blank

PHONE = {"width": 390, "height": 844}
HOSTILE = '<img src=x onerror="document.title=1">\u202e{{input.text}}'


def created(page: Page, name: str, template: str = "Blank workflow") -> None:
    """A new workflow, its editor open."""
    page.goto("/build?new=1")
    page.get_by_test_id("agent-name-input").fill(name)
    page.get_by_test_id("template-option").filter(has_text=template).click()
    page.get_by_test_id("create-agent-button").click()
    expect(page.get_by_test_id("agent-name")).to_have_text(name)
    expect(page.get_by_test_id("node-count")).to_contain_text("nodes")


def canvas(page: Page) -> Locator:
    return page.get_by_test_id("workflow-canvas")


def node(page: Page, id_: str) -> Locator:
    return canvas(page).locator(f"[data-id={id_}]")


def fitted(page: Page) -> None:
    """Until the nodes stand where they will: a point that was read before is another's."""
    expect(canvas(page).locator(".wf-layer")).to_have_attribute("style", re.compile("scale"))


def box(place: Locator) -> FloatRect:
    found = place.bounding_box()
    assert found
    return found


def nodes(page: Page, count: int) -> None:
    expect(page.get_by_test_id("node-count")).to_contain_text(f"{count} nodes")
    expect(canvas(page).get_by_test_id("workflow-node")).to_have_count(count)


def edges(page: Page, count: int) -> None:
    expect(canvas(page).get_by_test_id("workflow-edge")).to_have_count(count)


def said(page: Page, words: str) -> None:
    expect(page.get_by_test_id("workflow-said")).to_have_text(words)


def add(page: Page, kind: str) -> None:
    """From the button, after the chosen node."""
    page.get_by_test_id("add-node-button").click()
    page.get_by_test_id(f"add-{kind}").click()
    expect(page.get_by_test_id("add-node-dialog")).to_have_count(0)


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def middle(place: Locator) -> tuple[float, float]:
    found = box(place)
    return found["x"] + found["width"] / 2, found["y"] + found["height"] / 2


def wire(page: Page, source: str, target: str, port: str = "next") -> None:
    start = node(page, source).locator(f"[data-port={port}]")
    drag(page, middle(start), middle(node(page, target)))


def choose_none(page: Page) -> None:
    canvas(page).click(position={"x": 5, "y": 5})
    expect(page.get_by_test_id("node-settings")).to_contain_text("Choose a node")


def kept(page: Page) -> None:
    expect(page.get_by_test_id("editor-state")).to_contain_text("draft kept")


@pytest.mark.long  # test_build_whole builds, runs, approves and takes back as many
def test_five_nodes_are_built_connected_moved_and_taken_back_by_mouse(page: Page) -> None:
    created(page, "By mouse")
    nodes(page, 2)
    node(page, "input").click()
    page.get_by_label("Take away the edge to Output").click()
    edges(page, 0)
    for kind in ("agent", "transform"):
        add(page, kind)
    nodes(page, 4)
    edges(page, 2)
    said(page, "Added Transform after Agent.")
    choose_none(page)
    add(page, "branch")
    nodes(page, 5)
    page.get_by_test_id("tidy-button").click()
    said(page, "Tidied.")
    expect(node(page, "output")).to_be_in_viewport(ratio=0.99)
    wire(page, "transform", "branch")
    said(page, "Connected Transform to Branch.")
    wire(page, "branch", "output", "else")
    said(page, "Connected Branch to Output.")
    edges(page, 4)
    before = box(node(page, "branch"))
    drag(page, middle(node(page, "branch")), (before["x"] + 20, before["y"] + 150))
    said(page, "Moved Branch.")
    assert box(node(page, "branch"))["y"] > before["y"] + 60
    for _ in range(2):
        page.get_by_test_id("undo-button").click()
    edges(page, 3)
    page.get_by_test_id("redo-button").click()
    edges(page, 4)
    page.get_by_test_id("undo-button").click()
    node(page, "transform").click()
    page.keyboard.press("Delete")
    nodes(page, 4)
    page.get_by_test_id("undo-button").click()
    nodes(page, 5)
    edges(page, 3)
    kept(page)
    page.reload()
    nodes(page, 5)
    page.get_by_test_id("undo-button").click()
    edges(page, 2)


@pytest.mark.long  # test_build_whole builds, runs, approves and takes back as many
def test_five_nodes_are_built_and_taken_back_by_keyboard_alone(page: Page) -> None:
    created(page, "By keyboard")
    canvas(page).focus()
    page.keyboard.press("ArrowRight")
    expect(node(page, "input")).to_have_class(re.compile("is-chosen"))
    for kind in ("agent", "transform", "tool"):
        page.keyboard.press("a")
        expect(page.get_by_test_id("add-node-dialog")).to_be_visible()
        page.get_by_test_id(f"add-{kind}").focus()
        page.keyboard.press("Enter")
        expect(node(page, kind)).to_have_class(re.compile("is-chosen"))
        expect(page.get_by_test_id("node-title")).to_be_focused()
        canvas(page).focus()
    nodes(page, 5)
    edges(page, 4)
    expect(canvas(page)).to_have_attribute("aria-activedescendant", re.compile("-tool$"))
    page.keyboard.press("c")
    expect(page.get_by_test_id("workflow-said")).to_contain_text("Connect from Tool.")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_test_id("workflow-said")).to_contain_text(re.compile("Output. Enter connects.|No node there"))
    for _ in range(3):
        if "Enter connects" in page.get_by_test_id("workflow-said").inner_text():
            break
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    said(page, "Connected Tool to Output.")
    edges(page, 5)
    page.keyboard.press("Control+z")
    edges(page, 4)
    page.keyboard.press("Control+Shift+z")
    edges(page, 5)
    page.keyboard.press("Alt+ArrowDown")
    said(page, "Moved Output.")
    page.keyboard.press("e")
    expect(page.get_by_test_id("workflow-said")).to_contain_text("Edge from")
    page.keyboard.press("Delete")
    edges(page, 4)
    page.keyboard.press("/")
    page.keyboard.type("transf")
    expect(node(page, "transform")).to_have_class(re.compile("is-chosen"))
    page.keyboard.press("Escape")
    expect(canvas(page)).to_be_focused()
    page.keyboard.press("Control+d")
    said(page, "Duplicated Transform.")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("node-title")).to_be_focused()
    expect(page.get_by_test_id("node-title")).to_have_value("Transform")
    page.keyboard.press("Control+a")
    page.keyboard.type("Shape it")
    expect(node(page, "transform_2")).to_contain_text("Shape it")
    kept(page)


@pytest.mark.long
def test_nodes_are_copied_cut_and_pasted_as_text(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    created(page, "By text", "Ask before sending")
    node(page, "draft").click()
    page.keyboard.press("Control+c")
    said(page, "Copied 1 node.")
    assert json.loads(page.evaluate("navigator.clipboard.readText()"))["nodes"][0]["id"] == "draft"
    page.keyboard.press("Control+v")
    nodes(page, 8)
    expect(node(page, "draft_2")).to_have_class(re.compile("is-chosen"))
    page.keyboard.press("Control+x")
    nodes(page, 7)
    page.evaluate("navigator.clipboard.writeText('just words')")
    page.keyboard.press("Control+v")
    expect(page.get_by_test_id("workflow-said")).to_contain_text("That is no part of a workflow")
    nodes(page, 7)


def test_a_fault_is_said_at_its_box_and_leads_there_and_no_variant_has_one(page: Page) -> None:
    created(page, "Faulty", "Ask before sending")
    node(page, "sent").click()
    answer = page.get_by_test_id("node-value")
    answer.fill("{{drafd}}")
    expect(page.get_by_test_id("node-settings")).to_contain_text("Did you mean “draft”?")
    expect(page.get_by_test_id("workflow-fault")).to_have_count(1)
    page.get_by_test_id("save-variant-button").click()
    expect(page.get_by_text("A variant has no faults, and this has 1 fault.")).to_be_visible()
    expect(page.get_by_test_id("node-title")).to_be_focused()  # it led there already
    choose_none(page)
    page.get_by_test_id("workflow-fault").click()
    expect(node(page, "sent")).to_have_class(re.compile("is-chosen"))
    expect(page.get_by_test_id("node-title")).to_be_focused()
    page.get_by_test_id("workflow-run-button").click()
    expect(page.get_by_text("A workflow with faults does not run, and this has 1 fault.")).to_be_visible()
    expect(page.get_by_test_id("node-title")).to_be_focused()  # else what is typed goes there
    answer.fill("{{draft}}, and more")
    expect(page.get_by_test_id("workflow-fault")).to_have_count(0)
    page.get_by_test_id("workflow-run-button").click()
    expect(page.get_by_test_id("try-chat").locator("textarea")).to_be_focused()
    page.get_by_test_id("save-variant-button").click()
    expect(page.get_by_test_id("variant-row")).to_have_count(2)


def test_code_and_list_show_the_same_document_and_change_it_too(page: Page) -> None:
    created(page, "Three views")
    page.get_by_test_id("view-code").click()
    code = page.get_by_test_id("code-editor").locator(".cm-content")
    code.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(
        '{"nodes": [{"kind": "input", "id": "input"},\n {"kind": "output", "id": "o", "port": 1}]}'
    )
    expect(page.get_by_test_id("code-note")).to_contain_text("Line 2: nodes.1.port")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(
        '{"nodes": [{"kind": "input", "id": "input", "title": "In"}, {"kind": "output", "id": "o"}]}'
    )
    expect(page.get_by_test_id("code-note")).to_have_text("")
    expect(page.get_by_test_id("workflow-fault")).not_to_have_count(0)
    page.get_by_test_id("view-list").click()
    rows = page.get_by_test_id("workflow-list").get_by_test_id("workflow-node")
    expect(rows).to_have_count(2)
    rows.filter(has_text="In").get_by_test_id("list-open").click()
    page.get_by_test_id("connect-to").select_option("o")
    expect(rows.first).to_contain_text("→ o")
    rows.first.get_by_test_id("list-add").click()
    page.get_by_test_id("add-agent").click()
    expect(rows).to_have_count(3)
    page.get_by_test_id("view-canvas").click()
    nodes(page, 3)
    edges(page, 2)


@pytest.mark.long
def test_a_box_takes_what_is_dropped_on_it_and_moves_its_body_along(page: Page) -> None:
    created(page, "Boxes")
    node(page, "input").click()
    add(page, "map")
    choose_none(page)
    add(page, "agent")
    page.get_by_label("Fit all").click()
    place = box(node(page, "map"))
    drag(page, middle(node(page, "agent")), (place["x"] + place["width"] / 2, place["y"] + place["height"] / 2))
    said(page, "Put Agent into Map.")
    inside = box(node(page, "agent"))
    drag(page, (place["x"] + 40, place["y"] + 10), (place["x"] + 90, place["y"] + 60))
    said(page, "Moved Map.")
    assert box(node(page, "agent"))["x"] > inside["x"] + 30
    page.get_by_test_id("undo-button").click()
    page.get_by_test_id("undo-button").click()
    node(page, "agent").click()
    expect(page.get_by_test_id("node-scope")).to_have_value("In no box")


def test_several_nodes_are_chosen_by_a_band_and_moved_and_removed_together(page: Page) -> None:
    created(page, "Several", "Ask before sending")
    fitted(page)
    view = box(canvas(page))
    page.keyboard.down("Shift")
    drag(page, (view["x"] + 4, view["y"] + 4), (view["x"] + view["width"] / 2, view["y"] + view["height"] - 60))
    page.keyboard.up("Shift")
    expect(canvas(page).locator(".is-chosen")).to_have_count(4)
    other = box(node(page, "input"))
    start = middle(node(page, "draft"))
    drag(page, start, (start[0] + 30, start[1] + 80))
    said(page, "Moved 4 nodes.")
    assert box(node(page, "input"))["y"] > other["y"] + 50
    canvas(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    nodes(page, 0)
    page.get_by_test_id("undo-button").click()
    nodes(page, 7)
    edges(page, 5)


def test_a_node_in_the_hand_stays_there_whatever_comes_of_the_server_meanwhile(page: Page) -> None:
    created(page, "In hand", "Ask before sending")
    fitted(page)
    x, y = middle(node(page, "draft"))
    drag(page, (x, y), (x, y + 100))
    said(page, "Moved Draft.")
    page.mouse.move(x, y + 100)
    page.mouse.down()
    page.mouse.move(x + 20, y - 60, steps=4)
    page.keyboard.press("Control+z")
    said(page, "Undone.")
    held = middle(node(page, "draft"))
    assert abs(held[1] - (y - 60)) < 12
    page.mouse.up()
    said(page, "Moved Draft.")
    assert abs(middle(node(page, "draft"))[1] - held[1]) < 2
    page.get_by_test_id("undo-button").click()
    said(page, "Undone.")
    assert abs(middle(node(page, "draft"))[1] - y) < 12


def test_a_title_is_typed_with_blanks_and_rests(page: Page) -> None:
    created(page, "Typed", "Ask before sending")
    node(page, "draft").click()
    title = page.get_by_test_id("node-title")
    title.press("Control+a")
    page.keyboard.type("Write ")
    expect(node(page, "draft")).to_contain_text("Write")
    page.keyboard.type("it")
    expect(node(page, "draft")).to_contain_text("Write it")
    expect(title).to_have_value("Write it")
    expect(title).to_be_focused()


@pytest.mark.long
def test_a_large_workflow_has_a_map_and_is_zoomed_and_found_in(page: Page) -> None:
    created(page, "Large")
    page.get_by_test_id("view-code").click()
    written = [{"kind": "transform", "id": f"n{number}", "x": 280 * number, "y": 90 * number} for number in range(40)]
    page.get_by_test_id("code-editor").locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(json.dumps({"nodes": written}))
    expect(page.get_by_test_id("node-count")).to_contain_text("40 nodes")
    page.get_by_test_id("view-canvas").click()
    expect(page.locator(".wf-map")).to_be_visible()
    page.get_by_label("Fit all").click()
    width = box(node(page, "n0"))["width"]
    page.mouse.move(*middle(canvas(page)))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_function(f"document.querySelector('[data-id=n0]').getBoundingClientRect().width > {2 * width}")
    page.get_by_test_id("workflow-find").fill("n39")
    page.wait_for_function(
        """() => { const one = document.querySelector('[data-id=n39]').getBoundingClientRect();
          const view = document.querySelector('.wf-view').getBoundingClientRect();
          return one.left >= view.left && one.right <= view.right && one.top >= view.top; }"""
    )
    page.locator(".wf-map").click(position={"x": 3, "y": 3})
    page.wait_for_function("document.querySelector('[data-id=n39]').getBoundingClientRect().left > innerWidth")


def test_a_workflow_goes_out_as_a_file_and_comes_back_and_is_deleted_with_undo(page: Page, tmp_path: Path) -> None:
    created(page, "Traveller", "Ask before sending")
    with page.expect_download() as download:
        page.get_by_test_id("workflow-export").click()
    file = tmp_path / "traveller.workflow.json"
    download.value.save_as(file)
    page.goto("/build")
    cards = page.get_by_test_id("agent-card").filter(has_text="Traveller")
    expect(cards).to_have_count(1)
    cards.get_by_test_id("agent-delete").click()
    expect(cards).to_have_count(0)
    page.get_by_test_id("undo-button").click()
    expect(cards).to_have_count(1)
    page.get_by_test_id("agent-file-input").locator("input[type=file]").set_input_files(file)
    page.wait_for_url("**/build/traveller-2")
    nodes(page, 7)
    edges(page, 5)
    page.goto("/build/nothing")
    expect(page.get_by_test_id("trouble")).to_contain_text("There is no agent at this address")


def test_an_agent_with_a_prompt_is_found_at_its_own_page(page: Page) -> None:
    page.goto("/settings")
    page.goto("/build/assistant")
    page.wait_for_url("**/agents/assistant")
    expect(page.get_by_test_id("agent-name")).to_have_text("Assistant")
    page.go_back()
    page.go_back()
    page.wait_for_url("**/settings")


def test_titles_of_others_are_text_and_nothing_else(page: Page) -> None:
    created(page, "Hostile")
    node(page, "output").click()
    page.get_by_test_id("node-title").fill(HOSTILE)
    expect(node(page, "output")).to_contain_text("<img src=x onerror=")
    expect(node(page, "output")).to_contain_text("\\u202e")
    page.get_by_test_id("view-list").click()
    expect(page.get_by_test_id("workflow-list")).to_contain_text("<img src=x onerror=")
    page.get_by_test_id("view-code").click()
    expect(page.get_by_test_id("code-editor")).to_contain_text("<img src=x")
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "1"


@pytest.fixture
def phone(browser: Browser, app_process: AppProcess) -> Iterator[Page]:
    profile = browser.new_context(base_url=app_process.url, viewport=PHONE, has_touch=True, is_mobile=True)
    profile.request.get(app_process.address, max_redirects=0)
    yield profile.new_page()
    profile.close()


def touch(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """One finger drags."""
    hand = page.context.new_cdp_session(page)
    steps = [(start[0] + (end[0] - start[0]) * n / 6, start[1] + (end[1] - start[1]) * n / 6) for n in range(7)]
    for number, (x, y) in enumerate(steps):
        kind = "touchStart" if number == 0 else "touchMove"
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.long
def test_on_a_phone_the_list_is_first_and_five_nodes_are_built_by_touch(phone: Page) -> None:
    created(phone, "By touch")
    rows = phone.get_by_test_id("workflow-list").get_by_test_id("workflow-node")
    expect(rows).to_have_count(2)
    for kind in ("agent", "tool", "transform"):
        rows.first.get_by_test_id("list-add").tap()
        phone.get_by_test_id(f"add-{kind}").tap()
        expect(phone.locator(f"li[data-node={kind}]")).to_have_count(1)
        expect(phone.get_by_test_id(f"add-{kind}")).to_be_hidden()
    expect(rows).to_have_count(5)
    phone.get_by_test_id("undo-button").tap()
    expect(rows).to_have_count(4)
    phone.get_by_test_id("redo-button").tap()
    expect(rows).to_have_count(5)
    tool = phone.locator("li[data-node=tool]")
    tool.get_by_test_id("list-open").tap()
    expect(phone.get_by_test_id("node-settings").get_by_role("heading").first).to_contain_text("tool")
    phone.get_by_test_id("connect-to").select_option("Output")
    expect(tool).to_contain_text("→ Output")
    phone.get_by_test_id("view-canvas").tap()
    phone.get_by_test_id("tidy-button").tap()
    said(phone, "Tidied.")
    expect(node(phone, "output")).to_be_in_viewport(ratio=0.99)
    before = box(node(phone, "transform"))
    touch(phone, middle(node(phone, "transform")), (before["x"] + 60, before["y"] - 120))
    said(phone, "Moved Transform.")
    touch(phone, middle(node(phone, "transform").locator("[data-port=next]")), middle(node(phone, "output")))
    said(phone, "Connected Transform to Output.")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("view", ["list", *(pytest.param(view, marks=pytest.mark.long) for view in ("canvas", "code"))])
def test_everybody_can_use_the_editor(page: Page, view: str) -> None:
    created(page, f"Accessible {view}", "Ask before sending")
    page.get_by_test_id(f"view-{view}").click()
    assert violations(page) == []
    for id_ in ("draft", "agree", "sent") if view == "canvas" else ():
        node(page, id_).click()
        expect(page.get_by_test_id("node-settings")).to_contain_text(id_)
        assert violations(page) == []
    page.evaluate("Quasar.Dark.set(true)")
    page.set_viewport_size({"width": 390, "height": 844})
    assert violations(page) == []
    page.set_viewport_size(WINDOW)
