"""The app whose model makes the call it is told to, for an agent with the tools of the hostile server and its victim.

`python -m tests.hostile_views.obeying_app` takes the app's own arguments; the servers are told by its environment what
`server.py` needs.
"""

import os
import sys

from app.domain.agents import PromptBehaviour, ToolChoice
from app.domain.tool_settings import McpServer, StdioTransport
from app.workbench import Workbench
from tests.app_process import ROOT
from tests.driven_app import given_agent, serve_driven
from tests.e2e.obeying_app import Obeying
from tests.hostile_views import VIEWS
from tests.parts import having

AGENT = "Host"
POLICIES = {"guarded": "ask", "switched_off": "off"}
PLAIN = ("touch", "guarded", "switched_off", "slow", "model_only")
NEEDS = ("ELSEWHERE", "CALLS")


def obeying(workbench: Workbench) -> Workbench:
    return having(workbench, models=Obeying(workbench.catalog, workbench.artifacts.get))


async def prepare(workbench: Workbench) -> None:
    for name in ("hostile", "victim"):
        port = sys.argv[sys.argv.index("--port") + 1]
        environment = {key: os.environ[key] for key in NEEDS} | {"APP_URL": f"http://127.0.0.1:{port}"}
        arguments = ("-m", "tests.hostile_views.server", name)
        transport = StdioTransport(command=sys.executable, args=arguments, env=environment, cwd=str(ROOT))
        if name not in (server.name for server in workbench.data.mcp_servers.all()):
            server = McpServer(name=name, transport=transport, consented=transport.digest)
            await workbench.data.mcp_servers.create(server)
    names = (*PLAIN, *(view.tool for view in VIEWS))
    choices = [ToolChoice(name=f"hostile__{name}", policy=POLICIES.get(name, "auto")) for name in names]
    tools = (*choices, ToolChoice(name="victim__notice"), ToolChoice(name="victim__touch_other"))
    await given_agent(workbench, AGENT, PromptBehaviour(tools=(*tools, ToolChoice(name="calculator"))))


if __name__ == "__main__":
    serve_driven(obeying, prepare)
