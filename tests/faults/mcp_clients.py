"""Programs of others against the app's own MCP server: the inspector's command line, and the conformance suite.

The suite tries most things by tools, prompts and resources of its own making, which a server that is no example of the
protocol does not have: `DOES_NOT_APPLY` says what is left out, and why.
"""

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import JsonValue
from starlette.types import Receive, Scope, Send

from app.api.door.guests import WorkbenchGuests
from app.api.door.security import Door, own_authorities
from app.api.mcp.endpoint import McpEndpoint
from tests.api.over import api_over, opened, served
from tests.app_process import ROOT, free_port, plain_environment
from tests.figures import Figure
from tests.npm_packages import NotInstalled, installed

LOCKED = ROOT / "tests" / "mcp_clients"
TOKEN = "A-token-of-tests-with-43-characters-_0123456"
SUM = "What is 5 + 10?"
SECONDS = 180
BAR = "all that apply"
_FIXTURE = "calls a tool that only servers made for the suite have"
_NO_RESOURCES = "the app serves tools, no resources"
_NO_PROMPTS = "the app serves tools, no prompts"
DOES_NOT_APPLY: Mapping[str, str] = {
    "logging-set-level": "a deprecated capability that is not declared",
    "completion-complete": "there are no prompts or resources to complete",
    "tools-call-simple-text": _FIXTURE,
    "tools-call-image": _FIXTURE,
    "tools-call-audio": _FIXTURE,
    "tools-call-embedded-resource": _FIXTURE,
    "tools-call-mixed-content": _FIXTURE,
    "tools-call-with-logging": _FIXTURE,
    "tools-call-error": _FIXTURE,
    "tools-call-with-progress": f"{_FIXTURE}; progress is tried in tests/api/mcp",
    "tools-call-sampling": f"{_FIXTURE}; sampling is deprecated, and not used",
    "tools-call-elicitation": f"{_FIXTURE}; elicitation is tried in tests/api/mcp",
    "json-schema-2020-12": _FIXTURE,
    "elicitation-sep1034-defaults": _FIXTURE,
    "elicitation-sep1330-enums": _FIXTURE,
    "server-sse-polling": f"{_FIXTURE}, which closes its stream to be polled",
    "resources-list": _NO_RESOURCES,
    "resources-read-text": _NO_RESOURCES,
    "resources-read-binary": _NO_RESOURCES,
    "resources-templates-read": _NO_RESOURCES,
    "resources-subscribe": _NO_RESOURCES,
    "resources-unsubscribe": _NO_RESOURCES,
    "prompts-list": _NO_PROMPTS,
    "prompts-get-simple": _NO_PROMPTS,
    "prompts-get-with-args": _NO_PROMPTS,
    "prompts-get-embedded-resource": _NO_PROMPTS,
    "prompts-get-with-image": _NO_PROMPTS,
}
_ALONE = re.compile(r"^Passed: [1-9]\d*/\d+, (\d+) failed", re.MULTILINE)
"""What is said in place of a list where one scenario was asked for."""
_RESULT = re.compile(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


async def run(*, brief: bool = False) -> list[Figure]:
    """`brief` tries each with one thing."""
    names = "MCP inspector, command line", "MCP conformance, server"
    try:
        programs = await asyncio.to_thread(installed, LOCKED)
    except NotInstalled as reason:
        return [Figure(name, str(reason), BAR, None) for name in names]
    with tempfile.TemporaryDirectory() as folder:
        async with _served(Path(folder)) as base:
            return [
                await _inspected(programs, base, Path(folder), name=names[0], brief=brief),
                await _conforming(programs, base, name=names[1], brief=brief),
            ]


@asynccontextmanager
async def _served(folder: Path) -> AsyncIterator[str]:
    """The app's address, which lets in who sends no key: the suite knows none."""
    workbench = opened(folder)
    await workbench.start()
    port = free_port()
    mcp = McpEndpoint(workbench, own_authorities(port))
    door = Door(api_over(workbench), port=port, token=TOKEN, guests=WorkbenchGuests(workbench), mcp=mcp)

    async def with_key(scope: Scope, receive: Receive, send: Send) -> None:
        shown = (b"authorization", f"Bearer {TOKEN}".encode())
        sent = [header for header in scope["headers"] if header[0] != shown[0]]
        await door({**scope, "headers": [*sent, shown]}, receive, send)

    try:
        async with served(with_key, port=port):
            yield f"http://127.0.0.1:{port}/mcp"
    finally:
        await mcp.close()
        await workbench.close()


async def _inspected(programs: Path, base: str, folder: Path, *, name: str, brief: bool) -> Figure:
    """Over HTTP with a key in a header, and over stdio with the command that the app names."""
    over = {
        "HTTP": ([base, "--transport", "http"], ["--header", f"Authorization: Bearer {TOKEN}"]),
        "stdio": ([str(_bridge(folder)), "--transport", "stdio"], []),
    }
    call = ["--method", "tools/call", "--tool-name", "run_assistant", "--tool-arg", f"input={SUM}"]
    wrong = []
    if brief:
        del over["stdio"]
    for way, (server, more) in over.items():
        listed = await _inspector(programs, server, [*more, "--method", "tools/list"])
        called = await _inspector(programs, server, [*more, *call])
        if "run_assistant" not in json.dumps(listed):
            wrong.append(f"{way} tools/list: {listed}")
        if "15" not in json.dumps(called):
            wrong.append(f"{way} tools/call: {called}")
    tried = 2 * len(over)
    return Figure(name, f"{tried - len(wrong)} of {tried}{_told(wrong)}", BAR, not wrong)


def _bridge(folder: Path) -> Path:
    """A program that is the bridge: the inspector takes what stands behind a command as its own."""
    arguments = ["mcp", "--data", str(folder / "other")]
    program = folder / "bridge"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        f"from app.__main__ import main\nsys.exit(main({arguments!r}))\n"
    )
    program.chmod(0o700)
    return program


async def _inspector(programs: Path, server: list[str], asked: list[str]) -> JsonValue:
    cli = programs / "@modelcontextprotocol" / "inspector" / "cli" / "build" / "index.js"
    said = await _said(["node", str(cli), *server, *asked])
    begin = said.find("{")
    try:
        told: JsonValue = json.loads(said[begin:])
    except ValueError:
        return said[-300:]
    return told


async def _conforming(programs: Path, base: str, *, name: str, brief: bool) -> Figure:
    suite = programs / ".bin" / "conformance"
    tried = ["--scenario", "tools-list"] if brief else ["--suite", "all"]
    said = await _said(["node", str(suite), "server", "--url", base, *tried])
    results = {scenario: int(failed) for scenario, _, failed in _RESULT.findall(said)}
    if (alone := _ALONE.search(said)) is not None:
        results["tools-list"] = int(alone[1])
    applying = {scenario: failed for scenario, failed in results.items() if scenario not in DOES_NOT_APPLY}
    wrong = [scenario for scenario, failed in applying.items() if failed]
    if not applying:
        return Figure(name, f"it said nothing: {said[-200:]}", BAR, False)
    left = sum(scenario in DOES_NOT_APPLY for scenario in results)
    words = f"{len(applying) - len(wrong)} of {len(applying)}{_told(wrong)}, {left} do not apply"
    return Figure(name, words, BAR, not wrong)


async def _said(command: list[str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=plain_environment()
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    except TimeoutError:
        process.kill()
        return f"{command[1]} took more than {SECONDS} s"
    return out.decode()


def _told(wrong: list[str]) -> str:
    return f" (not: {'; '.join(wrong)})" if wrong else ""
