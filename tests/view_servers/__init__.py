"""MCP servers with views that mean well: one of ours, in Python, and four of other people, out of npm."""

import sys
from pathlib import Path

from tests.npm_packages import installed

SHOWN_BY_OURS = (
    *("show_board", "show_map", "show_desk", "show_large", "show_mute", "show_web_page"),
    *("show_nothing", "show_address", "show_old_board", "show_failed", "show_late", "clear_board"),
)
LOCKED = Path(__file__).parents[1] / "faults" / "app_servers"
Entry = dict[str, object]
"""Of a server, as `obeying_app` is told it."""


def ours(calls: Path) -> dict[str, Entry]:
    """The server of ours, which keeps its calls in that file."""
    tools = dict.fromkeys(SHOWN_BY_OURS, "auto") | {"add_line": "ask"}
    env = {"CALLS": str(calls)}
    return {"ours": {"command": sys.executable, "args": ["-m", "tests.view_servers.ours"], "env": env, "tools": tools}}


def of_others(calls: Path, document: Path) -> dict[str, Entry]:
    """Four servers of other people; one shows the PDF. Raises `NotInstalled` where there is no Node or no npm."""
    programs = installed(LOCKED) / ".bin"

    def counted(program: str, *arguments: str, tool: str) -> Entry:
        args = ["-m", "tests.view_servers.counted", str(calls), str(programs / program), "--stdio", *arguments]
        return {"command": sys.executable, "args": args, "tools": {tool: "auto"}}

    return {
        "vanilla": counted("mcp-server-basic-vanillajs", tool="get_time"),
        "budget": counted("mcp-budget-allocator-server", tool="get_budget_data"),
        "system": counted("mcp-system-monitor-server", tool="get_system_info"),
        "pdf": counted("mcp-pdf-server", str(document), tool="display_pdf"),
    }
