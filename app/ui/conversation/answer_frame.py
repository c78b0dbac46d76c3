"""What stands around an answer: its head, whether it is the JSON that was asked for, and its small buttons."""

import asyncio

from app.domain.agents import NODES_MODELS
from app.domain.events import Entry, RunStarted
from app.domain.tools import JsonSchema
from app.engine.loop.output import check_output
from app.ui.conversation.failures import mark
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import icon_action
from app.ui.elements.format import clock, moment_text, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.new_session import AS_NODES, NODES_SYMBOL


def answer_heading(started: Entry, run: RunStarted, agent_icon: str) -> Html:
    """Who answers, by which model and since when."""
    who = tag(
        "div",
        tag("strong", run.agent.name),
        tag("span", run.model or NODES_MODELS),
        tag("time", clock(started.at), datetime=started.at.isoformat(), title=moment_text(started.at)),
        cls="who",
    )
    return joined(tag("span", icon(agent_icon), cls="avatar", aria_hidden="true"), who)


async def output_check(schema: JsonSchema, text: str) -> Html:
    """A line that says that the answer fits, or each thing that is wrong with it; checked off the event loop."""
    problems = await asyncio.to_thread(check_output, schema, text)
    if not problems:
        return tag("div", mark("verified", "Fits the output schema."), data_testid="output-fits")
    told = mark("rule", f"Does not fit the output schema: {plural(len(problems), 'problem')}.", warn=True)
    listed = tag("ul", *(tag("li", problem) for problem in problems))
    return tag("div", told, listed, data_testid="output-misfit", cls="output-misfit")


def answer_actions(run_id: str, *, has_text: bool) -> Html:
    """Copy, answer again, make a case or a workflow, and the way to the run's page; the turn's listener hears them."""
    label = "See this run step by step"
    run = tag(
        "a",
        icon("receipt_long"),
        href=run_address(run_id),
        cls="icon-action",
        title=label,
        aria_label=label,
        data_testid="open-run",
    )
    copy = icon_action("copy-answer", "content_copy", "Copy answer", testid="copy-button") if has_text else ""
    again = icon_action("regenerate", "refresh", "Answer again", testid="regenerate-button", once=True)
    case = icon_action("save-case", "playlist_add_check", "Save as case", testid="save-as-case-button", once=True)
    nodes = icon_action("make-workflow", NODES_SYMBOL, AS_NODES, testid="make-workflow-button", once=True)
    return joined(copy, again, case, nodes, run)
