"""The real app in a process of its own, started the way its users start it."""

import http.client
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import psutil

from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = re.compile(r"Agent Playground is running at (http://127\.0\.0\.1:\d+)/\?token=(\S+)")
_RESERVED: list[socket.socket] = []
LEFT_OUT = ("PYTEST_", "NICEGUI_", "AGENT_PLAYGROUND_", "PYTHONDONTWRITEBYTECODE")


class AppProcess:
    """Agent Playground on a free port, with `data` as its folder and nothing of the test run in its environment.

    `module` is what is run in the app's place, `executable` a packaged app to run instead; `environment` is added to
    what it inherits, `options` to its command line. It opens no browser, unless it `opens` one.
    """

    def __init__(
        self,
        data: Path,
        *,
        module: str = "app",
        executable: Path | None = None,
        environment: dict[str, str] | None = None,
        options: tuple[str, ...] = (),
        opens: bool = False,
    ) -> None:
        self.data = data
        self.port = free_port()
        self.url = ""
        self.token = ""
        self.command = [str(executable)] if executable else [sys.executable, "-m", module]
        self._options = options if opens else (*options, "--no-browser")
        self.environment = plain_environment() | (environment or {})
        self._lines: list[str] = []
        self._started_at_line = 0
        self._news = threading.Condition()
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        """The printed address: the app's page with the token."""
        return f"{self.url}/?token={self.token}"

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def playground(self) -> str:
        """The Playground's address with the token."""
        return f"{self.url}/playground?token={self.token}"

    def sign_in(self) -> str:
        """What the cookie of a new browser holds that opened the printed address."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", f"/?token={self.token}")
        cookie = connection.getresponse().headers["Set-Cookie"]
        connection.close()
        return cookie.partition(";")[0].partition("=")[2]

    def listens_at(self) -> set[int]:
        """The ports where it answers now."""
        found = psutil.Process(self.pid).net_connections(kind="tcp")
        return {one.laddr.port for one in found if one.status == psutil.CONN_LISTEN}

    @property
    def log(self) -> str:
        """All it printed since the first start."""
        return "".join(self._lines)

    def start(self) -> None:
        """Start it and wait until it serves."""
        command = [*self.command, "--port", str(self.port), "--data", str(self.data), *self._options]
        self._started_at_line = len(self._lines)
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        assert self._process.stdout
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()
        self.url, self.token = self.wait_for(ADDRESS).groups()

    def wait_for(self, pattern: re.Pattern[str], *, seconds: float = PATIENCE) -> re.Match[str]:
        """The first line since the last start in which `pattern` is found, as soon as it is printed."""
        with self._news:
            self._news.wait_for(lambda: self._find(pattern) or self._ended(), seconds)
        found = self._find(pattern)
        assert found, f"The app never printed {pattern.pattern!r}. It said:\n{self.log}"
        return found

    def stop(self) -> int:
        """End it as a service manager would; returns the exit code."""
        self._running().terminate()
        return self.ended()

    def ended(self) -> int:
        """Wait for its end; the exit code."""
        return self._running().wait(30)

    def kill(self) -> None:
        """End it, if it still runs, without a chance to say goodbye; of a single file also what its starter made."""
        if self._running().poll() is not None:
            return
        for process in psutil.Process(self.pid).children():
            if process.name() == Path(self.command[0]).name:
                process.kill()
        self._running().kill()
        self._running().wait(10)

    def stop_if_running(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.stop()

    def restart(self) -> None:
        """Start it again on the same data and port, after a clean end if it still runs."""
        if self._running().poll() is None:
            self.stop()
        self.start()

    def _running(self) -> subprocess.Popen[str]:
        assert self._process, "The app was not started"
        return self._process

    def _find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return next((found for line in self._lines[self._started_at_line :] if (found := pattern.search(line))), None)

    def _ended(self) -> bool:
        return self._running().poll() is not None

    def _read(self, printed: IO[str]) -> None:
        for line in printed:
            with self._news:
                self._lines.append(line)
                self._news.notify_all()
        self._running().wait()
        with self._news:
            self._news.notify_all()


def plain_environment() -> dict[str, str]:
    """This environment without what tells the app, or NiceGUI, that a test run is going on."""
    return {name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT)} | {
        "PYTHONUNBUFFERED": "1"
    }


def free_port() -> int:
    """A port where nobody listens. On Linux it stays this program's until it ends: nobody else is given it meanwhile.

    There a second socket that asks for it may listen at a port that is bound and not listened at; whoever asks for any
    port gets another one.
    """
    probe = socket.socket()
    if kept := sys.platform == "linux":
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _RESERVED.append(probe)
    probe.bind(("127.0.0.1", 0))
    port: int = probe.getsockname()[1]
    if not kept:
        probe.close()
    return port
