"""What a run may use up, and what is left out of a conversation, as the pages tell it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.agents import Limits, PromptBehaviour, ToolChoice, new_agent
from app.domain.messages import user_message
from app.domain.trace import run_row
from app.domain.values import new_id
from tests.app_process import AppProcess
from tests.e2e.apps import app_on, workbench_on
from tests.e2e.playground import ANSWER_SECONDS, SUM, ask, finished, send, start_session
from tests.traces import asked, said, started, trace_of
from tests.traces import finished as ended

LONG = "many words " * 27_000
"""About 75,000 tokens as the demo model counts them; its window holds 128,000."""


@dataclass
class Prepared:
    session: str = ""
    """One whose history is longer than the model's window."""


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return Prepared()


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory, prepared: Prepared) -> Iterator[AppProcess]:
    with app_on(
        tmp_path_factory.mktemp("limits"),
        lambda folder: prepare(folder, prepared),
        environment={"OPENAI_API_KEY": "sk-nobody-takes-this"},
    ) as app:
        yield app


async def prepare(folder: Path, prepared: Prepared) -> None:
    async with workbench_on(folder) as workbench:
        behaviour = PromptBehaviour(tools=(ToolChoice(name="calculator"),), limits=Limits(max_steps=1))
        agent = await workbench.agents.create(new_agent("Brief", behaviour, taken_slugs=workbench.agents.slugs()))
        unknown = PromptBehaviour(model="openai/no-such-model")
        await workbench.agents.create(new_agent("Unpriced", unknown, taken_slugs=workbench.agents.slugs()))
        session = await workbench.chat.new_session(agent.id)
        history = (user_message(LONG), said(LONG).message)
        run = started(session_id=session.id, history=history)
        entries = trace_of(run, asked("Hello"), said("Hello to you."), ended(), run_id=new_id())
        writer = await workbench.data.traces.create(entries[0].run_id, session.id)
        for entry in entries:
            writer.append(entry)
        await writer.flush()
        await writer.close()
        await workbench.rows.save(run_row(entries, alive=False))
        await workbench.sessions.change(session.id, lambda one: one.model_copy(update={"runs": (entries[0].run_id,)}))
        prepared.session = session.id


def test_a_limit_says_which_it_was_and_leads_to_where_it_is_raised(page: Page) -> None:
    start_session(page, "Brief")
    answer = ask(page, SUM)
    card = answer.get_by_test_id("message-error")
    expect(card).to_contain_text("used up its 1 step. Raise the agent's step limit")
    expect(answer.get_by_test_id("tool-call")).to_have_count(1)
    card.get_by_test_id("edit-agent-link").click()
    expect(page.get_by_test_id("setting-max-steps")).to_have_value("1")


@pytest.mark.long
@pytest.mark.blank
def test_what_is_left_out_is_said_before_it_is_sent_and_after(page: Page, prepared: Prepared) -> None:
    page.goto(f"/playground/{prepared.session}")
    expect(page.get_by_test_id("context-warning")).to_contain_text("the oldest turns", timeout=ANSWER_SECONDS)
    answer = ask(page, "Thank you")
    expect(answer.get_by_test_id("context-trimmed")).to_contain_text("2 earlier messages left out")
    page.goto("/runs")
    ended = page.get_by_test_id("run-row").filter(has_text="Thank you").filter(has_text="Completed")
    ended.get_by_role("link").click()
    expect(page.get_by_test_id("trace-mark")).to_contain_text("2 earlier messages left out")


@pytest.mark.blank
def test_what_all_agents_may_cost_on_a_day_is_kept(page: Page) -> None:
    page.goto("/agents/brief?tab=limits")
    box = page.get_by_test_id("setting-all-day-cost")
    box.fill("-1")
    expect(page.get_by_text("At least 0")).to_be_visible()
    box.fill("25")
    expect(page.get_by_text("At least 0")).to_have_count(0)
    page.reload()
    expect(box).to_have_value("25")


def test_a_model_without_a_price_is_asked_about_first(page: Page) -> None:
    start_session(page, "Unpriced")
    answer = send(page, "Hello")
    card = answer.get_by_test_id("question-card")
    expect(card).to_contain_text("Nobody said what openai/no-such-model costs")
    expect(page.get_by_test_id("status-pill")).to_have_text("Paused")
    card.get_by_test_id("decline-button").click()
    finished(page)
    expect(answer.get_by_test_id("message-error")).to_contain_text("you said no to a model without a known price")
