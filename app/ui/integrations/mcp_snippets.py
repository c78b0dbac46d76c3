"""What programs that speak MCP are told of this app, in the file or with the command of each."""

import json
import shlex

from pydantic import JsonValue

from app.ui.elements.hand_call_copy import KEY
from app.ui.integrations.api_snippets import SNIPPETS, AgentCall, Request, Snippet

NAME = "agent-playground"


def claude_desktop(call: AgentCall) -> str:
    """Its file takes programs only, not addresses."""
    return _json({"mcpServers": {NAME: _command(call)}})


def claude_code(call: AgentCall) -> str:
    """A command for a POSIX shell."""
    bearer = shlex.quote(f"Authorization: Bearer {call.key}") if call.key else f'"Authorization: Bearer ${KEY}"'
    return f"claude mcp add --transport http {NAME} {shlex.quote(call.mcp_address)} \\\n  --header {bearer}\n"


def vs_code(call: AgentCall) -> str:
    """Its file asks for the key, once, where none is written in."""
    server: dict[str, JsonValue] = {"type": "http", "url": call.mcp_address}
    if call.key:
        return _json({"servers": {NAME: server | _bearer(call.key)}})
    asked: JsonValue = {
        "type": "promptString",
        "id": "agent-playground-key",
        "description": "Agent Playground key",
        "password": True,
    }
    return _json({"servers": {NAME: server | _bearer("${input:agent-playground-key}")}, "inputs": [asked]})


def cursor(call: AgentCall) -> str:
    headers = _bearer(call.key or f"${{env:{KEY}}}")
    return _json({"mcpServers": {NAME: {"url": call.mcp_address, **headers}}})


def codex(call: AgentCall) -> str:
    """TOML, whose plain strings are written as JSON's."""
    key = f"http_headers = {{ Authorization = {json.dumps(f'Bearer {call.key}')} }}"
    shown = key if call.key else f"bearer_token_env_var = {json.dumps(KEY)}"
    return f"[mcp_servers.{NAME}]\nurl = {json.dumps(call.mcp_address)}\n{shown}\n"


def _command(call: AgentCall) -> JsonValue:
    program, *arguments = call.command
    started: dict[str, JsonValue] = {"command": program, "args": list(arguments)}
    return started | {"env": dict(call.environment)} if call.environment else started


def _bearer(key: str) -> dict[str, JsonValue]:
    return {"headers": {"Authorization": f"Bearer {key}"}}


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _tool_call(call: AgentCall) -> Request:
    return Request(call.mcp_address, call.tool_body, call.key)


def _started(call: AgentCall) -> Request:
    return Request("", call.tool_body, anonymous=True)


_ALL_AGENTS = "It offers all agents"
MCP_SNIPPETS = (
    Snippet(
        *("claude-desktop", "Claude Desktop", "json"),
        f"Settings › Developer › Edit Config, then start it again. {_ALL_AGENTS}, and needs no key.",
        *(claude_desktop, _started),
        key_note="",
        over="stdio",
    ),
    Snippet(
        *("claude-code", "Claude Code", "bash", f"For a POSIX shell. {_ALL_AGENTS} that the key opens."),
        *(claude_code, _tool_call),
        over="mcp",
    ),
    Snippet(
        *("vs-code", "VS Code", "json", f"Save it as .vscode/mcp.json. {_ALL_AGENTS} that the key opens."),
        *(vs_code, _tool_call),
        key_note="It asks for the key when it first starts the server.",
        over="mcp",
    ),
    Snippet(
        *("cursor", "Cursor", "json", f"Save it as ~/.cursor/mcp.json. {_ALL_AGENTS} that the key opens."),
        *(cursor, _tool_call),
        over="mcp",
    ),
    Snippet(
        *("codex", "Codex", "text", f"Add it to ~/.codex/config.toml. {_ALL_AGENTS} that the key opens."),
        *(codex, _tool_call),
        over="mcp",
    ),
)
ALL_SNIPPETS = (*SNIPPETS, *MCP_SNIPPETS)


def snippet_named(name: str) -> Snippet:
    """That snippet, or the first one."""
    return next((one for one in ALL_SNIPPETS if one.name == name), ALL_SNIPPETS[0])
