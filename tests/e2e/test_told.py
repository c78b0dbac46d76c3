"""What a person edited says so wherever it is shown, and what tools returned can be read, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.agents import PromptBehaviour, ToolChoice, new_agent
from app.domain.edits import EditedArguments, EditedMessage, EditedResult
from app.domain.events import MessageAdded, ToolReturned
from app.domain.forks.forks import ForkPlan
from app.domain.provenance import Trigger
from app.engine.run.run import Run
from app.workbench import Workbench
from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on, workbench_on

pytestmark = [pytest.mark.blank, pytest.mark.long]

SUM = "What is 5 + 10, then multiply by 3?"
TABLE = "name,city,amount\n" + "\n".join(f"Person {n},Town {n % 7},{(n * 37) % 101}" for n in range(60))
FENCED = "Run this, please:\n```python\nprint(5 + 10)\n```\nThank you."
SEEN: dict[str, str] = {}
"""The sessions and runs that were made before the app started."""


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with app_on(tmp_path_factory.mktemp("told"), seed) as app:
        yield app


async def seed(folder: Path) -> None:
    async with workbench_on(folder) as workbench:
        whole = await sent(workbench, "assistant", SUM)
        await forks(workbench, whole)
        agents = workbench.agents
        for name, tools in (("Leader", ("spawn_task", "join_task", "calculator")), ("Tables", ("data-transform",))):
            behaviour = PromptBehaviour(
                model="demo/agent", system_prompt="You help.", tools=tuple(ToolChoice(name=tool) for tool in tools)
            )
            await agents.create(new_agent(name, behaviour, taken_slugs=agents.slugs()))
        keep("task", await sent(workbench, "leader", "Spawn a task that calculates 12 * 7"))
        keep("table", await sent(workbench, "tables", f"Convert this CSV to JSON:\n{TABLE}"))
        keep("fenced", await sent(workbench, "assistant", FENCED))


async def sent(workbench: Workbench, slug: str, text: str) -> Run:
    session = await workbench.chat.new_session(workbench.agents.by_slug(slug).id)
    live = await workbench.chat.send(session.id, text)
    await live.ended()
    return live


async def forks(workbench: Workbench, whole: Run) -> None:
    asked = next(entry.seq for entry in whole.entries if isinstance(entry.event, MessageAdded))
    result = next(entry for entry in whole.entries if isinstance(entry.event, ToolReturned))
    assert isinstance(result.event, ToolReturned)
    call_id = result.event.call_id
    plans = {
        "result": ForkPlan(seq=result.seq, edits=(EditedResult(call_id=call_id, text="5 + 10 = 20"),)),
        "arguments": ForkPlan(
            seq=result.seq, edits=(EditedArguments(call_id=call_id, arguments={"operation": "add", "x": 6, "y": 10}),)
        ),
        "message": ForkPlan(
            seq=asked, edits=(EditedMessage(seq=asked, text="What is 1 + 2?"),), system_prompt="You are brief."
        ),
    }
    for name, plan in plans.items():
        fork = await workbench.forks.start(whole.run_id, plan, trigger=Trigger(kind="page"))
        await fork.ended()
        keep(name, fork)


def keep(name: str, live: Run) -> None:
    SEEN[name], SEEN[f"{name}-session"] = live.run_id, live.started.session_id


def test_an_edited_result_says_so_in_the_chat_and_in_every_view(page: Page) -> None:
    page.goto(f"/playground/{SEEN['result-session']}")
    card = page.get_by_test_id("tool-call").first
    expect(card.get_by_test_id("edited-mark")).to_have_text(re.compile("Edited by you, was 5 \\+ 10 = 15"))
    expect(card).not_to_contain_text("Done")
    expect(page.get_by_test_id("edited-mark")).to_have_count(1)
    page.goto(f"/runs/{SEEN['result']}")
    step = page.locator("[data-testid=run-step][data-step-type=tool-result]").first
    expect(step.get_by_test_id("edited-mark")).to_contain_text("was 5 + 10 = 15")
    expect(step).not_to_contain_text("Done in")
    expect(page.get_by_test_id("trace-mark")).to_contain_text("but for what is marked as edited")
    for tab in ("trajectory", "messages", "raw", "waterfall"):
        page.get_by_test_id(f"tab-{tab}").click()
        panel = page.locator(f".run-panel-{tab}")
        if tab == "raw":
            panel.get_by_text("edited by you").click()
        if tab == "messages":
            panel.get_by_test_id("model-call").nth(1).click()
        expect(panel.get_by_text("Edited by you, was 5 + 10 = 15").first).to_be_visible()
    page.get_by_test_id("tab-review").click()
    expect(page.get_by_test_id("run-review")).to_contain_text("Edited by you, was 5 + 10 = 15")


def test_edited_arguments_messages_and_prompts_say_so(page: Page) -> None:
    page.goto(f"/playground/{SEEN['arguments-session']}")
    card = page.get_by_test_id("tool-call").first
    expect(card.get_by_test_id("edited-mark")).to_have_text("Edited by you, was x: 5")
    expect(card).to_contain_text("Done")  # what it gave then is its own
    page.goto(f"/playground/{SEEN['message-session']}")
    expect(page.get_by_test_id("user-message").get_by_test_id("edited-mark")).to_contain_text(SUM)
    prompt = page.get_by_test_id("assistant-message").get_by_test_id("edited-mark")
    expect(prompt).to_contain_text("System prompt: Edited by you, was")
    prompt.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(prompt.locator("pre")).to_be_visible()
    page.goto(f"/runs/{SEEN['message']}")
    expect(page.get_by_test_id("trace-mark").first).to_contain_text("System prompt: Edited by you")
    page.get_by_test_id("tab-messages").click()
    expect(page.get_by_test_id("request-detail").get_by_test_id("edited-mark")).to_have_count(2)
    assert violations(page) == []


def test_rows_are_a_table_that_is_sorted_by_keyboard(page: Page) -> None:
    page.goto(f"/playground/{SEEN['table-session']}")
    card = page.get_by_test_id("tool-call").first
    card.locator("summary").first.click()
    table = card.get_by_test_id("result-table")
    expect(table.get_by_role("row")).to_have_count(51)
    expect(card).to_contain_text("The first 50 of 60 rows.")
    heading = table.get_by_role("columnheader").nth(2)
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    expect(heading.get_by_role("button")).to_be_focused()
    expect(table.get_by_role("cell").nth(2)).to_have_text("0")
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(table.get_by_role("cell").nth(2)).to_have_text("100")
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
    page.goto(f"/runs/{SEEN['table']}")
    step = page.locator("[data-testid=run-step][data-step-type=tool-result]").first
    expect(step.get_by_test_id("result-table").get_by_role("row")).to_have_count(51)
    page.get_by_test_id("tab-review").click()
    expect(page.get_by_test_id("run-review").get_by_role("cell", name="Person 11")).to_be_visible()


def test_a_task_shows_how_it_stands_and_leads_to_its_run(page: Page) -> None:
    page.goto(f"/playground/{SEEN['task-session']}")
    line = page.get_by_test_id("task-line").first
    expect(line.get_by_test_id("task-status")).to_have_text("Completed")
    expect(line.get_by_test_id("task-cost")).to_contain_text("$")
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
    line.get_by_test_id("task-run").click()
    expect(page).to_have_url(re.compile(r"/runs/[a-z0-9]{16}"))
    expect(page.get_by_test_id("run-step").first).to_contain_text("12 * 7")


def test_code_that_a_person_sends_is_shown_as_code(page: Page) -> None:
    page.goto(f"/playground/{SEEN['fenced-session']}")
    said = page.get_by_test_id("user-message")
    expect(said.locator("pre")).to_have_text("print(5 + 10)\n")
    expect(said).not_to_contain_text("```")
