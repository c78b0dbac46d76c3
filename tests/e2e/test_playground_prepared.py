"""Sessions that a newcomer does not have yet: long ones, and agents that ask before they call."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.errors import ErrorInfo
from app.domain.events import Event, RunFinished
from app.domain.sessions import Session
from app.domain.trace import run_row
from app.domain.values import new_id
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.bench.following import MOVED_PIXELS
from tests.e2e.apps import app_on, workbench_on
from tests.e2e.playground import STORY, finished, send, start_session, wait_for_text
from tests.hostile import PAYLOADS
from tests.traces import asked, call, ran, said, started, trace_of
from tests.traces import finished as ended

TURNS = 40
STEPS = 300
HOSTILE = PAYLOADS[::2]
"""As many as one conversation shows at a time; `make faults ARGS=hostile_pages` shows them all."""


LEFT_TIMES = 3
LEAVE_AT_FIRST_TURN = """() => new MutationObserver((_, observer) => {
  if (!document.querySelector("[data-testid=user-message]")) return;
  observer.disconnect();
  document.querySelector("[data-testid=nav-runs]").click();
}).observe(document.body, { childList: true, subtree: true })"""

ALL_OR_MORE_TO_ASK_FOR = """(all) => {
  const shown = document.querySelectorAll("[data-testid=user-message]").length;
  const more = document.querySelector("[data-testid=show-earlier]")?.checkVisibility();
  return shown === all || more ? shown : 0;
}"""
"""How many messages are shown, once the page is filled: earlier ones come by themselves, as far as there is room."""
WHERE_THE_NEWEST_STANDS = """(() => {
  window.stood = [];
  const look = () => {
    const shown = [...document.querySelectorAll("[data-testid=assistant-message]")];
    const drawn = new IntersectionObserver(([one]) => {  // told as the frame is painted, after all that moves things
      window.stood.push({ turns: shown.length, bottom: one.boundingClientRect.bottom });
      drawn.disconnect();
    });
    if (shown.length) drawn.observe(shown.at(-1));
    requestAnimationFrame(look);
  };
  look();
})()"""


@dataclass
class Prepared:
    long: str = ""
    """A session of many turns."""
    busy: str = ""
    """A session with turns of very many steps."""
    hostile: str = ""
    """A session full of words that try to become more."""


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return Prepared()


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory, prepared: Prepared) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("prepared"), lambda folder: prepare(folder, prepared)) as app:
        yield app


async def prepare(folder: Path, prepared: Prepared) -> None:
    async with workbench_on(folder) as workbench:
        behaviour = PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"),))
        agent = await workbench.agents.create(new_agent("Careful", behaviour, taken_slugs=workbench.agents.slugs()))
        prepared.long = (await workbench.chat.new_session(agent.id)).id
        for number in range(TURNS):
            await store_run(workbench, prepared.long, asked(f"Hello number {number}"), said(f"I am answer {number}."))
        prepared.busy = (await workbench.chat.new_session(agent.id)).id
        for _ in range(3):
            await store_run(workbench, prepared.busy, asked("Work hard."), *hard_work())
        prepared.hostile = (await workbench.chat.new_session(agent.id)).id
        for start in range(0, len(HOSTILE), 10):
            await store_run(workbench, prepared.hostile, *hostile_words(HOSTILE[start : start + 10]))
        await workbench.sessions.change(prepared.hostile, lambda one: one.model_copy(update={"title": PAYLOADS[0]}))


def hostile_words(payloads: tuple[str, ...]) -> list[Event]:
    """A run in which everybody says these things, everywhere they can."""
    words = "\n\n".join(payloads)
    calls = [call(f"c{number}", name=payload[:60], payload=payload) for number, payload in enumerate(payloads)]
    results = [
        event for one, payload in zip(calls, payloads, strict=True) for event in ran(one, payload, status="error")
    ]
    error = ErrorInfo(failure="internal", text=words, traceback=words)
    return [
        asked(words),
        said(words, *calls, reasoning=words),
        *results,
        said(words),
        RunFinished(status="failed", error=error),
    ]


def hard_work() -> list[Event]:
    """A run of many steps."""
    calls = [call(f"c{number}", x=number) for number in range(STEPS)]
    return [event for one in calls for event in (said("", one, reasoning="Next."), *ran(one, "done"))] + [said("Done.")]


async def store_run(workbench: Workbench, session_id: str, *events: Event) -> None:
    """A finished run, as the engine would have left it."""
    run_id = new_id()
    end = () if isinstance(events[-1], RunFinished) else (ended(),)
    entries = trace_of(started(session_id=session_id), *events, *end, run_id=run_id)
    writer = await workbench.data.traces.create(run_id, session_id)
    for entry in entries:
        writer.append(entry)
    await writer.flush()
    await writer.close()
    await workbench.rows.save(run_row(entries, alive=False))
    change = partial(with_run, run_id=run_id)
    await workbench.sessions.change(session_id, change)


def with_run(session: Session, run_id: str) -> Session:
    return session.model_copy(update={"runs": (*session.runs, run_id)})


def test_a_tool_waits_for_a_decision(page: Page) -> None:
    start_session(page, "Careful")
    answer = send(page, "What is 5 + 10?")
    card = answer.get_by_test_id("approval-card")
    expect(card).to_contain_text('"operation": "add"')
    expect(page.get_by_test_id("status-pill")).to_have_text("Paused")
    page.reload()
    expect(card).to_be_visible()
    card.get_by_test_id("approve-button").click()
    finished(page)
    expect(card).to_have_count(0)
    expect(answer).to_contain_text("15")


def test_a_denied_call_is_not_run(page: Page) -> None:
    start_session(page, "Careful")
    answer = send(page, "What is 6 + 10?")
    answer.get_by_test_id("deny-button").click()
    finished(page)
    expect(answer.get_by_test_id("tool-call").first).to_contain_text("Denied")


@pytest.mark.blank
def test_a_long_session_shows_its_latest_turns(page: Page, prepared: Prepared) -> None:
    page.goto(f"/playground/{prepared.long}")
    messages = page.get_by_test_id("user-message")
    expect(messages).to_have_count(30)
    expect(messages.last).to_be_in_viewport()
    expect(page.get_by_test_id("show-earlier")).to_have_text(f"Show earlier ({TURNS - 30})")
    assert elements_on(page) < 500
    page.get_by_test_id("show-earlier").click()
    expect(messages).to_have_count(TURNS)
    expect(messages.first).to_contain_text("Hello number 0")
    expect(page.get_by_test_id("show-earlier")).to_be_hidden()


def test_the_newest_turn_stands_where_it_stays_while_those_before_it_are_put_in(page: Page, prepared: Prepared) -> None:
    page.set_viewport_size({"width": 1280, "height": 1600})  # three turns do not fill it
    page.add_init_script(WHERE_THE_NEWEST_STANDS)
    page.goto(f"/playground/{prepared.long}")
    expect(page.get_by_test_id("user-message")).to_have_count(30)
    page.wait_for_function("() => window.stood.at(-1).turns === 30")
    places = [one["bottom"] for one in page.evaluate("() => window.stood")]
    assert max(places) - min(places) <= MOVED_PIXELS, places


@pytest.mark.long
@pytest.mark.blank
def test_a_long_session_that_is_left_while_it_is_filled_complains_of_nothing(page: Page, prepared: Prepared) -> None:
    for _ in range(LEFT_TIMES):
        page.goto("/playground")
        session = page.locator(f"[data-testid=session-row] a[href$='{prepared.long}']")
        expect(session).to_be_visible()
        page.evaluate(LEAVE_AT_FIRST_TURN)
        session.click()
        expect(page.get_by_test_id("runs-count")).to_be_visible()
        expect(page.get_by_test_id("user-message")).to_have_count(0)


@pytest.mark.long
@pytest.mark.blank
def test_a_run_of_very_many_steps_shows_its_last_ones(page: Page, prepared: Prepared) -> None:
    page.goto(f"/playground/{prepared.busy}")
    expect(page.get_by_test_id("assistant-message").last).to_contain_text(f"{STEPS + 1 - 40} earlier steps not shown")
    expect(page.get_by_test_id("tool-call").last).to_contain_text(f"x: {STEPS - 1}")
    assert elements_on(page) < 500
    page.get_by_test_id("reasoning").last.locator("> summary").click()
    expect(page.get_by_test_id("reasoning").last.locator(".prose")).to_have_count(40)


@pytest.mark.long
def test_hostile_words_do_nothing_wherever_they_show(page: Page, prepared: Prepared) -> None:
    expect(page.get_by_test_id("session-row").filter(has_text="<script>")).to_be_visible()
    page.goto(f"/playground/{prepared.hostile}")
    expect(page.get_by_test_id("message-error").last).to_be_visible()
    messages = -(-len(HOSTILE) // 10)
    while page.wait_for_function(ALL_OR_MORE_TO_ASK_FOR, arg=messages).json_value() < messages:
        shown = page.get_by_test_id("user-message").count()
        page.get_by_test_id("show-earlier").click()
        expect(page.get_by_test_id("user-message")).not_to_have_count(shown)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    expect(page.get_by_test_id("tool-error")).to_have_count(len(HOSTILE), timeout=30_000)
    expect(page.get_by_test_id("reasoning").last.locator(".prose")).not_to_have_count(0)
    page.keyboard.press("Control+k")
    page.get_by_test_id("command-palette").locator("input").fill("script")
    expect(page.get_by_test_id("command-palette")).to_contain_text("<script>")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("getComputedStyle(document.body).display") != "none"
    assert page.get_by_test_id("approve-button").count() == 0


def elements_on(page: Page) -> int:
    return page.evaluate("Object.keys(mounted_app.elements).length")


def test_a_killed_run_is_shown_as_interrupted_with_its_text(page: Page, app_process: AppProcess) -> None:
    start_session(page, "Careful")
    send(page, STORY)
    assert "The island" in wait_for_text(page, 400)
    wait_for_text(page, 1_200)  # three seconds later: what was said in the last one may not be on disk yet
    address = page.url
    page.goto("about:blank")
    app_process.kill()
    app_process.start()
    page.goto(app_process.address)
    page.wait_for_url(lambda url: "token=" not in url)
    page.goto(f"{app_process.url}/playground/{address.rsplit('/', 1)[-1]}")
    card = page.get_by_test_id("message-interrupted")
    expect(card).to_contain_text("Interrupted")
    expect(page.get_by_test_id("assistant-message").last).to_contain_text("The island")
    card.get_by_test_id("retry-button").click()
    expect(page.get_by_test_id("message-streaming")).to_have_count(1)
    page.get_by_test_id("stop-button").click()
    finished(page)
