"""The app with a model that makes the tool call it is told to, of the MCP servers that are added to it.

`python -m tests.e2e.guarded_app` takes the app's own arguments. A message `{"name": …, "arguments": …}` is the call.
"""

from app.domain.agents import Limits, PromptBehaviour, ToolChoice
from app.workbench import Workbench
from tests.driven_app import given_agent, serve_driven
from tests.e2e.obeying_app import Obeying
from tests.parts import having


def obeying(workbench: Workbench) -> Workbench:
    return having(workbench, models=Obeying(workbench.catalog, workbench.artifacts.get))


async def prepare(workbench: Workbench, tool_timeout: float = 10) -> None:
    tools, limits = (ToolChoice(name="guarded"),), Limits(tool_timeout=tool_timeout)
    await given_agent(workbench, "Obedient", PromptBehaviour(tools=tools, limits=limits))


if __name__ == "__main__":
    serve_driven(obeying, prepare)
