"""Tools, servers, providers, keys and settings in which every text tries to become more than text."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from app.domain.keys import ApiKey, secret_digest
from app.domain.providers import ProviderSettings
from app.domain.settings import Preferences, SavedFilter, SetupProgress, WebSearch
from app.domain.tool_settings import HttpField, HttpTool, McpServer, SavedCall, StdioTransport, ToolSetting
from app.domain.tools import canonical_name
from app.domain.values import now, well_formed
from app.store.folder.folder import DataFolder
from tests.hostile_runs import hostile_tool

SERVER = "bad-server"
REQUEST = "bad_request"
FILE = "bad_docs.py"


async def plant_settings(data: DataFolder, payloads: Sequence[str]) -> None:
    """Each payload wherever a person writes something that pages show."""
    named = [well_formed(payload) for payload in payloads]
    await data.preferences.save(
        Preferences(
            default_model=f"openai/{named[0]}",
            http_hosts=tuple(named),
            web_search=WebSearch(provider="searxng", address=named[1], key_variable=named[2]),
            run_filters=tuple(SavedFilter(name=one, address=f"/runs?q={number}") for number, one in enumerate(named)),
            setup=SetupProgress(step="choose", provider="openai", model=f"openai/{named[0]}", offered=True),
        )
    )
    for number, payload in enumerate(named):
        await data.api_keys.create(_key(number, payload))
    for number in range(3):
        await data.providers.create(_provider(f"hostile-{number}", named[number::3]))
    await data.providers.create(_provider("openai", named, address=False))


def _key(number: int, payload: str) -> ApiKey:
    return ApiKey(
        id=f"key-{number}", name=payload, secret_digest=secret_digest(payload), last_four=payload[:4], created_at=now()
    )


def _provider(name: str, payloads: Sequence[str], *, address: bool = True) -> ProviderSettings:
    first, second, third = payloads[0], payloads[-1], payloads[len(payloads) // 2]
    return ProviderSettings(
        name=name,
        title=first,
        address=second if address else "",
        organisation=third,
        region=first,
        api_version=second,
        models=tuple(payloads),
        listed_at=now(),
    )


async def plant_tools(data: DataFolder, payloads: Sequence[str]) -> None:
    """Each payload in all that is said of tools, of every kind there is."""
    named = [well_formed(payload) for payload in payloads]
    together = "\n".join(named)
    await data.tool_settings.save("calculator", ToolSetting(description=together))
    for number, payload in enumerate(named):
        saved = SavedCall(id=str(number), tool="calculator", name=payload, arguments={"x": payload}, created_at=now())
        await data.saved_calls.save(saved)
    await data.mcp_servers.create(_server(named))
    await data.http_tools.create(
        HttpTool(
            name=REQUEST,
            description=together,
            address="https://192.0.2.1/x",
            fields=tuple(HttpField(name=f"f{number}", description=one) for number, one in enumerate(named)),
        )
    )
    plant_files(data.path / "tools", named)


def _server(payloads: Sequence[str]) -> McpServer:
    """Agreed to, with the tools it had; it starts no more, and says so with its own command."""
    transport = StdioTransport(command=payloads[0], args=tuple(payloads), env={one: one for one in payloads})
    kit = canonical_name(SERVER)
    tools = tuple(hostile_tool(f"{kit}__t{number}", payload) for number, payload in enumerate(payloads))
    return McpServer(name=SERVER, transport=transport, consented=transport.digest, seen_tools=tools)


def plant_files(folder: Path, payloads: Sequence[str]) -> None:
    """A file whose docstrings are the payloads, and broken ones that are named after them."""
    folder.mkdir(parents=True, exist_ok=True)
    functions = [
        f"def f{number}(x: str = {one!r}) -> str:\n    {('Use ' + one)!r}\n    return x\n\n\n"
        for number, one in enumerate(payloads)
    ]
    (folder / FILE).write_text("".join(functions), encoding="utf-8", errors="replace")
    for payload in payloads:
        name = payload.replace("/", "").replace("\x00", "")[:60]
        with contextlib.suppress(OSError, UnicodeError):  # some systems do not take every name
            (folder / f"{name}.py").write_text(f"raise ValueError({payload!r})\n", encoding="utf-8", errors="replace")
