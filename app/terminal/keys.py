"""API keys in a terminal: through the app where it is up, else in the data folder itself."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue

from app.api.door.envelopes import Envelope, ListEnvelope
from app.api.routes.keys import KeyReply, NewKeyReply, key_reply
from app.domain.errors import NotFound
from app.domain.keys import Right
from app.start.already_running import ask, running_app
from app.store.folder.lock import Announcement
from app.workbench import Workbench

T = TypeVar("T")


def create_key(folder: Path, name: str, agents: Sequence[str] | None, may: Sequence[Right], days: float | None) -> int:
    """Make a key and print it, to be piped on; what it is for goes to the error output."""
    if (running := running_app(folder)) is not None:
        named: JsonValue = None if agents is None else list(agents)
        body: JsonValue = {"name": name, "agents": named, "may": list(may), "expires_days": days}
        made = Envelope[NewKeyReply].model_validate_json(_ask(running, "POST", "", body)).data
    else:
        made = _here(folder, lambda workbench: _created(workbench, name, agents, may, days))
    sys.stdout.write(f"{made.key}\n")
    sys.stderr.write(f"This is the key {made.name!r}, for {_agents(made)}. It is not shown again.\n")
    return 0


def list_keys(folder: Path) -> int:
    """Print a line for each key: name, standing, how it ends, agents, expiry, last use, and what it may besides."""
    for key in _keys(folder):
        used = f"last used {key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never used"
        until = f"until {key.expires_at:%Y-%m-%d}" if key.expires_at else "for good"
        line = (key.name, key.standing, f"…{key.last_four}", _agents(key), until, used, _rights(key))
        sys.stdout.write("\t".join(line) + "\n")
    return 0


def revoke_key(folder: Path, name: str) -> int:
    """Let the key of that name open nothing any more."""
    if (running := running_app(folder)) is None:
        _here(folder, lambda workbench: workbench.keys.revoke(workbench.keys.named(name).id))
    else:
        usable = {key.name: key.id for key in _keys(folder) if key.standing != "revoked"}
        if name not in usable:
            raise NotFound(f"There is no key {name!r}. Keys: {', '.join(sorted(usable)) or 'none yet'}.")
        _ask(running, "DELETE", f"/{usable[name]}")
    sys.stdout.write(f"The key {name!r} opens nothing any more.\n")
    return 0


def _keys(folder: Path) -> list[KeyReply]:
    if (running := running_app(folder)) is not None:
        return ListEnvelope[KeyReply].model_validate_json(_ask(running, "GET", "")).data
    return _here(folder, _listed)


async def _created(
    workbench: Workbench, name: str, agents: Sequence[str] | None, may: Sequence[Right], days: float | None
) -> NewKeyReply:
    made = await workbench.keys.create(name, agents=agents, may=may, days=days)
    told = key_reply(made.key, workbench.agents.all())
    return NewKeyReply(**told.model_dump(), key=made.secret)


async def _listed(workbench: Workbench) -> list[KeyReply]:
    return [key_reply(key, workbench.agents.all()) for key in workbench.keys.all()]


def _agents(key: KeyReply) -> str:
    return "all agents" if key.agents is None else ", ".join(key.agents) or "no agent that is left"


def _rights(key: KeyReply) -> str:
    return f"may {', '.join(key.may)}" if key.may else "may nothing more"


def _here(folder: Path, work: Callable[[Workbench], Awaitable[T]]) -> T:
    """What the work gives in this process, over that data folder."""

    async def opened() -> T:
        workbench = Workbench.open(folder)
        try:
            await workbench.start()
            return await work(workbench)
        finally:
            await workbench.close()

    return asyncio.run(opened())


def _ask(running: Announcement, method: str, path: str, body: JsonValue = None) -> bytes:
    """The running app's answer. Raises `WorkbenchError` in its words."""
    return ask(running, f"/keys{path}", method=method, body=body)[0]
