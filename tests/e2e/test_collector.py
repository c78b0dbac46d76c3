"""Spans that are sent on: the question, the status bar, the settings, and what a collector did not take."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.fakes.process import fake_process
from tests.waiting import wait_until

pytestmark = [pytest.mark.blank, pytest.mark.long]
SECRET = "planted-header-Qz71-Qz71"


@pytest.fixture(scope="module")
def collector() -> Iterator[str]:
    with fake_process("tests.fakes.collector") as address:
        yield address


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory, collector: str) -> Iterator[AppProcess]:
    """The app in an environment that names a collector."""
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_EXPORTER_OTLP_HEADERS": f"x-key={SECRET}"}
    app = AppProcess(tmp_path_factory.mktemp("agent-playground"), environment=environment)
    app.start()
    yield app
    app.stop()


def ran(app: AppProcess) -> tuple[str, str]:
    """The ids of a run that ended, and of its session."""
    answer = httpx.post(
        f"{app.url}/api/v1/chat", json={"message": "hello"}, headers={"x-api-key": app.token}, timeout=60
    )
    told = answer.json()["data"]
    return told["run_id"], told["session_id"]


def taken(collector: str) -> dict[str, int]:
    return dict(httpx.get(f"{collector}/spans").json()["runs"])


def test_spans_go_to_an_address_of_the_environment_once_somebody_agreed(
    page: Page, app_process: AppProcess, collector: str
):
    ran(app_process)
    page.goto("/playground")
    question = page.get_by_test_id("collector-question")
    expect(question).to_contain_text(collector.removeprefix("http://"))
    assert violations(page) == []
    assert taken(collector) == {}
    question.get_by_test_id("collector-agree").press("Enter")
    expect(question).to_have_count(0)
    run_id, session_id = ran(app_process)
    wait_until(lambda: taken(collector) == {run_id: 1})
    page.goto("/playground")
    expect(page.get_by_test_id("nav-settings")).to_be_visible()
    expect(question).to_have_count(0)
    page.goto(f"/playground/{session_id}")
    expect(page.get_by_test_id("spans-to")).to_contain_text(collector.removeprefix("http://"))


def test_settings_say_where_spans_go_and_what_was_not_taken(page: Page, app_process: AppProcess, collector: str):
    page.goto("/settings?section=collector")
    state, tested = page.get_by_test_id("collector-state"), page.get_by_test_id("collector-tested")
    expect(state).to_contain_text("The spans of runs that end go to")
    page.get_by_test_id("collector-test").click()
    expect(tested).to_contain_text("The collector took the test span.")
    httpx.post(f"{collector}/ways", json=["400"])
    ran(app_process)
    unsent = page.get_by_test_id("collector-unsent")
    expect(unsent).to_contain_text("1 run not sent. The collector answered 400: No.")
    before = sum(taken(collector).values())
    page.get_by_test_id("collector-again").click()
    expect(unsent).to_have_text("")
    wait_until(lambda: sum(taken(collector).values()) == before + 1)
    page.get_by_test_id("collector-environment").click()
    expect(state).to_contain_text("Nothing is sent. The environment names")
    ran(app_process)
    assert sum(taken(collector).values()) == before + 1


def test_a_collector_of_ones_own_with_a_header_that_no_page_shows(page: Page, app_process: AppProcess, collector: str):
    page.goto("/settings?section=collector")
    address = page.get_by_test_id("collector-address")
    address.fill("grpc://127.0.0.1:4317")
    page.get_by_test_id("collector-save").click()
    expect(page.get_by_text("A collector's address begins with http:// or https://")).to_be_visible()
    address.fill(collector)
    address.press("Enter")
    expect(page.get_by_test_id("collector-state")).to_contain_text("The spans of runs that end go to")
    page.get_by_test_id("collector-header-name").fill("Authorization")
    page.get_by_test_id("collector-header-value").fill(f"Bearer own-{SECRET}")
    page.get_by_test_id("collector-header-add").click()
    headers = page.get_by_test_id("collector-headers")
    expect(headers).to_contain_text("authorization")
    page.get_by_test_id("collector-content").click()
    page.reload()
    expect(headers).to_contain_text("authorization")
    assert SECRET not in page.content()
    assert violations(page) == []
    headers.get_by_role("button", name="Remove the header authorization").click()
    expect(headers).to_have_text("")
    page.get_by_test_id("undo-button").click()
    expect(headers).to_contain_text("authorization")
    httpx.post(f"{collector}/ways", json=["400"])
    ran(app_process)
    unsent = page.get_by_test_id("collector-unsent")
    expect(unsent).to_contain_text("1 run not sent.")
    page.get_by_test_id("collector-forget").click()
    page.get_by_test_id("question-confirm").click()
    expect(unsent).to_have_text("")
    for file in Path(app_process.data).rglob("*"):
        if file.is_file() and file.name != "provider-keys.json":
            assert SECRET.encode() not in file.read_bytes(), file
    assert SECRET not in app_process.log
