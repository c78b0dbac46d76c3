"""Whose a tool is: told with each question whether it may be called, and with each call."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, ToolChoice
from app.domain.events import ToolCalled
from app.domain.tool_settings import HttpTool
from app.domain.trace import open_pauses
from app.domain.trace.calls import call_views
from app.workbench import Workbench
from tests.deciding import resolve
from tests.driven_app import given_agent
from tests.e2e.obeying_app import Obeying
from tests.parts import having
from tests.tools.mcp.hubs import hostile
from tests.waiting import until

FILE = 'from agent_playground import tool\n\n\n@tool(title="Calculator")\ndef run() -> str:\n    return "did it"\n'


async def a_file(workbench: Workbench) -> None:
    path = workbench.user_tools.folder / "orders" / "look.py"
    path.parent.mkdir(parents=True)
    path.write_text(FILE)
    await workbench.user_tools.start()


async def a_request(workbench: Workbench) -> None:
    await workbench.http_tools.create(HttpTool(name="run", description="Runs.", address="https://api.example.org/run"))


async def a_server(workbench: Workbench) -> None:
    await workbench.mcp.add(hostile(name="my-server"))
    await workbench.mcp.consent("my-server")


@pytest.mark.parametrize(
    ("given", "name", "label"),
    [
        (a_file, "run", "orders/look.py › run"),
        (a_request, "run", "api.example.org › run"),
        (a_server, "my_server__give", "my-server › give"),
    ],
)
async def test_a_tool_of_somebody_else_is_called_by_whose_it_is(
    tmp_path: Path, given: Callable[[Workbench], Awaitable[None]], name: str, label: str
):
    opened = Workbench.open(tmp_path, trust_tools=True)
    workbench = having(opened, models=Obeying(opened.catalog, opened.artifacts.get), tools=opened.tools)
    await given(workbench)
    await until(lambda: workbench.tools.label(name) == label)
    await given_agent(workbench, "Asking", PromptBehaviour(tools=(ToolChoice(name=name, policy="ask"),)))
    session = await workbench.chat.new_session(workbench.agents.by_slug("asking").id)
    live = await workbench.chat.send(session.id, json.dumps({"name": name, "arguments": {}}))
    (pause,) = await until(lambda: open_pauses(live.entries))
    assert (pause.name, pause.label) == (name, label)
    resolve(live, pause.pause_id, "approve")
    await until(lambda: any(isinstance(entry.event, ToolCalled) for entry in live.entries))
    assert [view.label for view in call_views(live.entries).values()] == [label]
    live.stop()
    await live.ended()
    await workbench.close()


async def test_a_tool_of_the_app_needs_no_label(tmp_path: Path):
    workbench = Workbench.open(tmp_path)
    assert workbench.tools.label("calculator") == workbench.tools.label("nothing") == ""
    await workbench.close()
