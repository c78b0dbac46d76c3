"""Programs that call an agent from outside the app, in the languages of those who do; each runs as it is written."""

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

from pydantic import JsonValue

from app.ui.elements.hand_call_copy import KEY

Language = Literal["bash", "python", "javascript", "json", "text"]


@dataclass(frozen=True, slots=True)
class AgentCall:
    """What is asked of which agent."""

    base: str
    """The app's address without a slash at its end."""
    slug: str
    name: str
    message: str
    variables: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    """The key to write into the programs; where it is empty they read it from the environment."""
    needs_key: bool = True
    """False for an agent that anyone on this computer may run."""
    tool: str = ""
    """What the agent is called as a tool of MCP."""
    command: tuple[str, ...] = ()
    """What starts the app's own MCP server."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What that needs to be told."""

    @property
    def run_address(self) -> str:
        return f"{self.base}/api/v1/agents/{quote(self.slug, safe='')}/run"

    @property
    def run_body(self) -> dict[str, JsonValue]:
        return {"input": self.message, **({"variables": dict(self.variables)} if self.variables else {})}

    @property
    def chat_body(self) -> dict[str, JsonValue]:
        return {"model": self.slug, "messages": [{"role": "user", "content": self.message}]}

    @property
    def socket_body(self) -> dict[str, JsonValue]:
        return {"message": self.message, "agent": self.slug}

    @property
    def socket_address(self) -> str:
        return f"{self.base}/api/v1/ws/chat".replace("http", "ws", 1)

    @property
    def mcp_address(self) -> str:
        return f"{self.base}/mcp"

    @property
    def tool_body(self) -> dict[str, JsonValue]:
        return {"name": self.tool, "arguments": self.run_body}

    @property
    def sends_key(self) -> bool:
        """Whether a run is asked for with a key."""
        return self.needs_key or bool(self.key)


@dataclass(frozen=True, slots=True)
class Request:
    """What a snippet sends, for the page to send the very same."""

    address: str
    body: JsonValue
    key: str = ""
    anonymous: bool = False
    """Without a key, and without what tells the app who sits before it."""


@dataclass(frozen=True, slots=True)
class Snippet:
    name: str
    title: str
    language: Language
    note: str
    """What has to be there before it runs."""
    write: Callable[[AgentCall], str]
    request: Callable[[AgentCall], Request]
    key_note: str = f"It reads the key from the variable {KEY}."
    """What is to be done about the key where none is written in."""
    over: Literal["browser", "mcp", "stdio"] = "browser"
    """How the page tries it: itself, or with a client of MCP, over HTTP or by the command."""
    asks_for_run: bool = True
    """Whether it takes the agent's variables, and needs no key where anyone may run the agent."""

    def notes(self, call: AgentCall) -> str:
        """What has to be there before it runs, and what it leaves out."""
        wants_key = not call.key and (call.needs_key or not self.asks_for_run or self.over == "mcp")
        said = [self.note, self.key_note if wants_key else ""]
        if call.variables and not self.asks_for_run:
            said.append("Variables keep their defaults here.")
        return " ".join(words for words in said if words)


def curl(call: AgentCall) -> str:
    """A command for a POSIX shell."""
    lines = [f"curl -sS {shlex.quote(call.run_address)}", "-H 'Content-Type: application/json'"]
    if call.key:
        lines.append(f"-H {shlex.quote(f'Authorization: Bearer {call.key}')}")
    elif call.needs_key:
        lines.append(f'-H "Authorization: Bearer ${KEY}"')
    lines.append(f"--data-raw {shlex.quote(_written(call.run_body, 2))}")
    return " \\\n  ".join(lines) + "\n"


def python(call: AgentCall) -> str:
    """A program that needs httpx."""
    headers = f'    headers={{"Authorization": {_python_bearer(call)}}},\n' if call.sends_key else ""
    return f"""{_python_start(reads_key=call.needs_key and not call.key)}import httpx

reply = httpx.post(
    {_literal(call.run_address)},
{headers}    json={_inside(_written(call.run_body, 4), 4)},
    timeout=600,
).json()
if not reply["success"]:
    raise SystemExit(reply["error"])
print(reply["data"]["output_text"])
"""


def openai_client(call: AgentCall) -> str:
    """A program with the `openai` package, to which the agent is a model."""
    return f"""{_python_start(reads_key=not call.key)}from openai import OpenAI

client = OpenAI(
    base_url={_literal(f"{call.base}/v1")},
    api_key={_python_key(call)},
)
answer = client.chat.completions.create(
    model={_literal(call.slug)},
    messages=[
        {{"role": "user", "content": {_literal(call.message)}}},
    ],
)
print(answer.choices[0].message.content)
"""


def javascript(call: AgentCall) -> str:
    """A module for Node.js that needs nothing else."""
    bearer = _literal(f"Bearer {call.key}") if call.key else f"`Bearer ${{process.env.{KEY}}}`"
    authorization = f"    Authorization: {bearer},\n" if call.sends_key else ""
    return f"""const response = await fetch({_literal(call.run_address)}, {{
  method: "POST",
  headers: {{
    "Content-Type": "application/json",
{authorization}  }},
  body: JSON.stringify({_inside(_written(call.run_body, 2), 2)}),
}});
const reply = await response.json();
if (!reply.success) throw new Error(reply.error);
console.log(reply.data.output_text);
"""


def web_socket(call: AgentCall) -> str:
    """A program that shows each step of the answer as it happens; it needs the `websockets` package."""
    reads_key = "" if call.key else "import os\n"
    return f"""import asyncio
import json
{reads_key}
from websockets.asyncio.client import connect


async def ask():
    headers = {{"Authorization": {_python_bearer(call)}}}
    async with connect({_literal(call.socket_address)}, additional_headers=headers) as socket:
        await socket.send(json.dumps({_inside(_written(call.socket_body, 4), 8)}))
        async for text in socket:
            step = json.loads(text)
            print(step.get("content") or step)
            if step["type"] in ("agent-response", "pause-requested", "error"):
                break


asyncio.run(ask())
"""


def n8n_request(call: AgentCall) -> str:
    """An HTTP Request node, to be pasted into a workflow."""
    access: dict[str, JsonValue] = {}
    if call.key:
        header: dict[str, JsonValue] = {"name": "Authorization", "value": f"Bearer {call.key}"}
        access = {"sendHeaders": True, "headerParameters": {"parameters": [header]}}
    elif call.needs_key:
        access = {"authentication": "genericCredentialType", "genericAuthType": "httpBearerAuth"}
    node: dict[str, JsonValue] = {
        "name": f"Run {call.name}",
        "type": "n8n-nodes-base.httpRequest",
        "typeVersion": 4.2,
        "position": [0, 0],
        "parameters": {
            "method": "POST",
            "url": call.run_address,
            **access,
            "sendBody": True,
            "specifyBody": "json",
            "jsonBody": _written(call.run_body, 2),
            "options": {"timeout": 600_000},
        },
    }
    return _written({"nodes": [node], "connections": {}}, 2) + "\n"


def n8n_model(call: AgentCall) -> str:
    """What to choose in n8n for the agent to be a chat model there."""
    return f"""Credential "OpenAI"
  API Key:            {call.key or f"${KEY}"}
  Base URL:           {call.base}/v1

Node "OpenAI Chat Model", below a "Basic LLM Chain"
  Model, By ID:       {call.slug}
  Use Responses API:  off
"""


def _run(call: AgentCall) -> Request:
    return Request(call.run_address, call.run_body, call.key, anonymous=not call.sends_key)


def _chat(call: AgentCall) -> Request:
    return Request(f"{call.base}/v1/chat/completions", call.chat_body, call.key)


def _socket(call: AgentCall) -> Request:
    return Request(call.socket_address, call.socket_body)


_HERE = "n8n has to run on this computer; in Docker, with the host's network."
SNIPPETS = (
    Snippet("curl", "curl", "bash", "For a POSIX shell, such as bash or zsh.", curl, _run),
    Snippet("python", "Python", "python", "First: pip install httpx.", python, _run),
    Snippet(
        *("openai", "OpenAI client", "python", "First: pip install openai."),
        *(openai_client, _chat),
        asks_for_run=False,
    ),
    Snippet("javascript", "JavaScript", "javascript", "Save it as ask.mjs, then: node ask.mjs.", javascript, _run),
    Snippet(
        *("websocket", "WebSocket", "python", "First: pip install websockets."),
        *(web_socket, _socket),
        asks_for_run=False,
    ),
    Snippet(
        *("n8n", "n8n", "json", f"Copy it, click into an n8n workflow and paste. {_HERE}"),
        *(n8n_request, _run),
        key_note="Choose a Bearer Auth credential with your key.",
    ),
    Snippet(
        *("n8n-openai", "n8n chat model", "text"),
        f"An n8n “AI Agent” sends tools of its own, which agents here refuse. {_HERE}",
        *(n8n_model, _chat),
        key_note=f"Put your key in place of ${KEY}.",
        asks_for_run=False,
    ),
)


def _python_start(*, reads_key: bool) -> str:
    return "import os\n\n" if reads_key else ""


def _python_key(call: AgentCall) -> str:
    return _literal(call.key) if call.key else f'os.environ["{KEY}"]'


def _python_bearer(call: AgentCall) -> str:
    return _literal(f"Bearer {call.key}") if call.key else f"""f"Bearer {{os.environ['{KEY}']}}\""""


def _literal(text: str) -> str:
    # All that JSON writes in a string, Python and JavaScript read as the same.
    return json.dumps(text, ensure_ascii=False)


def _written(value: JsonValue, indent: int) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _inside(text: str, indent: int) -> str:
    """The text with its later lines moved to the right."""
    return text.replace("\n", "\n" + " " * indent)
