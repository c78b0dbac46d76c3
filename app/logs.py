"""What the app has to say to nobody in particular: in a file of the data folder, and in the terminal if there is one.

A known key, or what looks like one, is taken out before a line is written anywhere.
"""

import io
import logging
import sys
import threading
from collections.abc import Callable, Iterable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from app.late import late

with late():
    from app.export import redacting  # most starts have nothing to say

LOG_FILE = "agent-playground.log"
LARGEST = 1_000_000
"""Bytes of a log file before the next one is begun."""
KEPT = 5
"""How many files there are at most, the current one included."""
Secrets = Callable[[], Iterable[str]]
"""The keys that are known as of now."""

_CHATTY = ("httpx", "httpcore", "httpx2", "openai", "LiteLLM", "mcp", "asyncio", "watchfiles")
"""Libraries that tell of every request they make; of these only what is wrong is kept."""

log = logging.getLogger("agent_playground")


def start_logs(folder: Path, secrets: Secrets) -> None:
    """Write all logs to `folder`, and what is wrong to the terminal; without a terminal all that is printed, too."""
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    if sys.stderr is not None:
        root.addHandler(_terminal(secrets))
    if (file := _file(folder, secrets)) is not None:
        root.addHandler(file)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, LogStream())
    sys.excepthook = _uncaught
    threading.excepthook = lambda told: _uncaught(told.exc_type, told.exc_value, told.exc_traceback)


def log_files(folder: Path) -> list[Path]:
    """The files there are, the newest first."""
    older = (folder / f"{LOG_FILE}.{number}" for number in range(1, KEPT))
    return [path for path in (folder / LOG_FILE, *older) if path.is_file()]


class LogStream(io.TextIOBase):
    """Takes what is printed where there is no terminal; each line becomes one of the log."""

    def __init__(self) -> None:
        self._begun = ""

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            if line.strip():
                log.info("%s", line)
        return len(text)

    def writable(self) -> bool:
        return True


class WithoutKeys(logging.Formatter):
    """Formats a record with its traceback, and takes the keys out of all of it."""

    def __init__(self, form: str, secrets: Secrets) -> None:
        super().__init__(form)
        self._secrets = secrets
        self._known: tuple[str, ...] = ()
        self._looking = threading.Lock()

    def format(self, record: logging.LogRecord) -> str:
        return redacting.Redactor("", self._known_now()).text(super().format(record))

    def _known_now(self) -> tuple[str, ...]:
        """The keys; those known before while somebody asks for them, who may be the one that logs."""
        if self._looking.acquire(blocking=False):
            try:
                self._known = tuple(self._secrets())
            finally:
                self._looking.release()
        return self._known


def _terminal(secrets: Secrets) -> logging.Handler:
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(WithoutKeys("%(message)s", secrets))
    return handler


def _file(folder: Path, secrets: Secrets) -> logging.Handler | None:
    """The log file; `None` where the disk does not take it, which is no reason not to start."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / LOG_FILE
        path.touch(mode=0o600)
        handler = _Rotating(path, maxBytes=LARGEST, backupCount=KEPT - 1, encoding="utf-8", errors="replace")
    except OSError as error:
        log.warning("The log file cannot be written: %s", error)
        return None
    handler.setFormatter(WithoutKeys("%(asctime)s %(levelname)s %(name)s: %(message)s", secrets))
    return handler


class _Rotating(RotatingFileHandler):
    """A full disk costs log lines, and nothing else: what cannot be written is not told on every line again."""

    def _open(self) -> io.TextIOWrapper:
        stream = super()._open()
        Path(self.baseFilename).chmod(0o600)
        return stream

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  as the library calls it
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)


def _uncaught(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if error is None or issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error or kind(), trace)
        return
    log.critical("Agent Playground ended unexpectedly", exc_info=(kind, error, trace))
