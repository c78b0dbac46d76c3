"""The app whose model makes the call it is told to, for an agent with tools of servers with views.

`python -m tests.view_servers.obeying_app` takes the app's own arguments. `SERVERS` in its environment is JSON: of each
server, by its name, `command`, `args`, `env`, and `tools`: what the agent may call, with the policy of each.
"""

import json
import os

from app.domain.agents import PromptBehaviour, ToolChoice
from app.domain.tool_settings import McpServer, StdioTransport
from app.workbench import Workbench
from tests.app_process import ROOT
from tests.driven_app import given_agent, serve_driven
from tests.e2e.obeying_app import Obeying
from tests.parts import having

AGENT = "Shower"


def obeying(workbench: Workbench) -> Workbench:
    return having(workbench, models=Obeying(workbench.catalog, workbench.artifacts.get))


async def prepare(workbench: Workbench) -> None:
    choices: list[ToolChoice] = []
    there_are = {server.name for server in workbench.data.mcp_servers.all()}
    for name, said in json.loads(os.environ["SERVERS"]).items():
        tools = said.pop("tools")
        choices += [ToolChoice(name=f"{name}__{tool}", policy=policy) for tool, policy in tools.items()]
        transport = StdioTransport(cwd=str(ROOT), **said)
        if name not in there_are:
            server = McpServer(name=name, transport=transport, consented=transport.digest)
            await workbench.data.mcp_servers.create(server)
    await given_agent(workbench, AGENT, PromptBehaviour(tools=tuple(choices)))


if __name__ == "__main__":
    serve_driven(obeying, prepare)
