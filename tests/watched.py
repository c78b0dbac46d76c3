"""The command lines and environments of all processes that some begin, as long as they are watched."""

import contextlib
import threading
from typing import Self

import psutil

from tests.waiting import wait_until

PAUSE = 0.01


class Watched:
    def __init__(self) -> None:
        self._followed: dict[int, psutil.Process] = {}
        self._own: set[int] = set()
        self._own_words: set[tuple[str, ...]] = set()
        """Those of who is followed: what they begin is a copy of them for a moment."""
        self._seen: dict[tuple[int, tuple[str, ...]], bytes] = {}
        self._over = threading.Event()
        self._watching = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        """What was begun meanwhile ends."""
        self._over.set()
        self._watching.join()
        for process in self._begun():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.terminate()
        psutil.wait_procs(self._begun(), timeout=10)

    def follow(self, pid: int) -> None:
        """Watch what this one begins; itself it has from whoever started it."""
        process = psutil.Process(pid)
        wait_until(process.cmdline)  # for a moment after it began it has none
        self._own.add(pid)
        self._own_words.add(tuple(process.cmdline()))
        self._followed[pid] = process

    @property
    def seen(self) -> dict[str, bytes]:
        """Command line and environment of each process, by what it is."""
        return {f"{' '.join(words)[:80]} ({pid})": content for (pid, words), content in self._seen.items()}

    def _begun(self) -> list[psutil.Process]:
        return [process for pid, process in list(self._followed.items()) if pid not in self._own]

    def _watch(self) -> None:
        while not self._over.wait(PAUSE):
            for process in list(self._followed.values()):
                with contextlib.suppress(psutil.Error):
                    for child in process.children():
                        self._followed.setdefault(child.pid, child)
            for process in self._begun():
                self._note(process)

    def _note(self, process: psutil.Process) -> None:
        with contextlib.suppress(psutil.Error):
            words = tuple(process.cmdline())
            if words and words not in self._own_words and (process.pid, words) not in self._seen:
                variables = (f"{name}={value}" for name, value in process.environ().items())
                self._seen[process.pid, words] = "\0".join((*words, *variables)).encode()
