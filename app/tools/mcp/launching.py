"""How a server is started or reached: what its owner agrees to, and what it gets of the app's environment."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.domain.errors import WorkbenchError
from app.domain.tool_settings import HttpTransport, McpServer, StdioTransport

SAFE_VARIABLES = (
    "APPDATA",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
)
"""What every program may need to run at all, and no secret is kept in."""
WITHIN = "AGENT_PLAYGROUND_WITHIN"
"""Tells a server that is this app's own bridge to MCP by which process it was started: it would go in a circle."""
VARIABLE = re.compile(r"(Bearer )?\$(\w+|\{\w+\})")
INSTALLING = {
    "npx": "It comes with Node.js (nodejs.org).",
    "npm": "It comes with Node.js (nodejs.org).",
    "node": "It is Node.js (nodejs.org).",
    "uvx": "It comes with uv (docs.astral.sh/uv).",
    "uv": "Install it from docs.astral.sh/uv.",
    "docker": "It comes with Docker (docker.com).",
    "bunx": "It comes with Bun (bun.sh).",
    "deno": "Install it from deno.com.",
}


@dataclass(frozen=True)
class Launch:
    """A command with all that it gets."""

    program: str
    """The path of what was found."""
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None


def command_line(server: McpServer) -> str:
    """The exact command that would be run, as a shell would take it, or the address that would be asked."""
    match server.transport:
        case StdioTransport() as stdio:
            variables = [f"{name}={shlex.quote(value)}" for name, value in sorted(stdio.env.items())]
            command = " ".join([*variables, shlex.join((stdio.command, *stdio.args))])
            return f"cd {shlex.quote(stdio.cwd)} && {command}" if stdio.cwd else command
        case HttpTransport() as http:
            headers = [f"{name}: {value}" for name, value in sorted(http.headers.items())]
            return "\n".join([http.url, *headers])


def launch(stdio: StdioTransport) -> Launch:
    """What to start. Raises `WorkbenchError` for a command, folder or variable that is not there."""
    env = safe_environment() | {name: _filled(name, value) for name, value in stdio.env.items()}
    env[WITHIN] = str(os.getpid())
    cwd = str(Path(stdio.cwd).expanduser()) if stdio.cwd else None
    if cwd is not None and not Path(cwd).is_dir():
        raise WorkbenchError(f"The folder {stdio.cwd}, in which it is to be started, is not there.")
    return Launch(found_command(stdio.command, env, cwd), stdio.args, env, cwd)


def found_command(command: str, env: Mapping[str, str], cwd: str | None = None) -> str:
    """The path of the program. Raises `WorkbenchError` where there is none, with a word on where to get it."""
    wanted = str(Path(command).expanduser())
    if cwd and Path(wanted).parent != Path() and not Path(wanted).is_absolute():
        wanted = str(Path(cwd) / wanted)
    if found := shutil.which(wanted, path=env.get("PATH")):
        return found
    if Path(wanted).is_file():
        raise WorkbenchError(f"{command} is there, but cannot be run as a program. Make it executable.")
    if not command.strip():
        raise WorkbenchError("There is no command. Name the program that starts the server.")
    hint = INSTALLING.get(Path(command).stem, "Check its spelling, or name it with its whole path.")
    where = "is not there" if Path(wanted).parent != Path() else "was not found on the PATH"
    raise WorkbenchError(f"The command {command} {where}. {hint}")


def headers(http: HttpTransport) -> dict[str, str]:
    """The headers with variables filled in; raises `WorkbenchError` for one that is not set."""
    return {name: _filled(name, value) for name, value in http.headers.items()}


def has_key(http: HttpTransport) -> bool:
    """Whether a key of its owner's is sent along, so that nobody has to sign in."""
    return any(name.lower() == "authorization" for name in http.headers)


def safe_environment() -> dict[str, str]:
    return {name: os.environ[name] for name in SAFE_VARIABLES if name in os.environ}


def _filled(name: str, value: str) -> str:
    """`$NAME` and `Bearer $NAME` read from the app's environment; anything else as it is."""
    match = VARIABLE.fullmatch(value)
    if match is None:
        return value
    variable = match[2].strip("{}")
    if variable not in os.environ:
        raise WorkbenchError(
            f"{name} is to be read from the environment variable {variable}, which is not set. "
            "Set it and start the app again."
        )
    return (match[1] or "") + os.environ[variable]
