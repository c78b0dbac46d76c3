"""Data of a newer version of the app: everything can be looked at, nothing changes by a byte, and a banner says why."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.app_process import AppProcess
from tests.e2e.playground import SUM
from tests.store.read_only import NEWER, RUN, SESSION, fingerprint, newer_folder
from tests.waiting import wait_until

PAGES = (
    *("/", "/playground", "/agents/assistant", "/build", "/tools", "/runs", "/compare", "/evals", "/matrix", "/review"),
    *("/jobs", "/monitoring", "/resources", "/settings", "/setup"),
)
WAY_OUT = "Update the app, or start with --data and another folder."


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    app = AppProcess(newer_folder(tmp_path_factory.mktemp("newer") / "data"))
    app.start()
    yield app
    app.stop_if_running()


@pytest.fixture(autouse=True)
def untouched(app_process: AppProcess) -> Iterator[None]:
    before = fingerprint(app_process.data)
    yield
    assert fingerprint(app_process.data) == before


@pytest.mark.long
def test_the_terminal_and_every_page_say_it(page: Page, app_process: AppProcess) -> None:
    assert "It is only looked at" in app_process.log and WAY_OUT in app_process.log
    for path in PAGES:
        page.goto(path)
        expect(page.get_by_test_id("read-only")).to_contain_text(f"(version 9.9, schema {NEWER}")
        expect(page.get_by_test_id("trouble")).to_have_count(0)


@pytest.mark.blank
def test_a_conversation_is_read_and_not_gone_on_with(page: Page) -> None:
    page.goto(f"/playground/{SESSION}")
    expect(page.get_by_test_id("assistant-message").first).to_contain_text("45")
    page.get_by_test_id("chat-input").fill(SUM)
    page.get_by_test_id("chat-input").press("Enter")
    expect(page.get_by_text("Nothing was changed.").first).to_be_visible()
    expect(page.get_by_test_id("chat-input")).to_have_value(SUM)


@pytest.mark.blank
def test_the_banner_leaves_a_phone_room_for_the_conversation(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/playground/{SESSION}")
    expect(page.get_by_test_id("assistant-message").first).to_contain_text("45")
    for testid in ("read-only", "send-button"):
        expect(page.get_by_test_id(testid)).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("The answer is 45.")).to_be_in_viewport(ratio=1)


@pytest.mark.blank
def test_a_run_says_which_of_its_steps_are_of_no_known_kind(page: Page) -> None:
    page.goto(f"/runs/{RUN}")
    expect(page.get_by_text("a step of a kind that this version does not know ('mood_changed')")).to_be_visible()


def test_runs_are_found_and_exported_and_none_is_started(app_process: AppProcess) -> None:
    with httpx.Client(
        base_url=f"{app_process.url}/api/v1", headers={"Authorization": f"Bearer {app_process.token}"}, timeout=30
    ) as api:
        found = wait_until(lambda: api.get("runs", params={"q": "multiply"}).json()["data"])
        assert [run["id"] for run in found] == [RUN]
        exported = api.get(f"runs/{RUN}/export", params={"format": "jsonl"})
        assert exported.status_code == 200 and "45" in exported.text
        refused = api.post("agents/assistant/run", json={"input": "Hello"})
        assert refused.status_code == 507 and WAY_OUT in refused.json()["error"]
        assert api.post("keys", json={"name": "another"}).status_code == 507
        assert api.delete(f"runs/{RUN}").status_code >= 400


def test_it_ends_in_good_order(app_process: AppProcess) -> None:
    assert app_process.stop() == 0
    assert "Traceback" not in app_process.log
