"""Real MCP servers out of npm, installed once for all tests: `npm ci` from the lock beside this file."""

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INSTALLED = HERE.parents[1] / "build" / "mcp_servers"
FILES = ("package.json", "package-lock.json")


def npm_server(name: str) -> str:
    """The path of the program `mcp-server-NAME`; skips the test, and says why, where npm cannot install it."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm or node is not on the PATH: the MCP servers out of npm are not tried")
    INSTALLED.mkdir(parents=True, exist_ok=True)
    with (INSTALLED / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _up_to_date():
            _install()
    return str(INSTALLED / "node_modules" / ".bin" / f"mcp-server-{name}")


def _up_to_date() -> bool:
    """The lock is copied last, so it says that what it names is there."""
    return all((INSTALLED / file).is_file() and _same(file) for file in FILES)


def _same(file: str) -> bool:
    return (INSTALLED / file).read_bytes() == (HERE / file).read_bytes()


def _install() -> None:
    for file in reversed(FILES):
        (INSTALLED / file).write_bytes((HERE / file).read_bytes())
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=INSTALLED, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        (INSTALLED / FILES[0]).unlink()
        pytest.skip(f"npm cannot install the MCP servers: {done.stderr.strip()[-300:]}")
