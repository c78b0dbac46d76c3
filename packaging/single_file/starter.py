"""What the single file starts with: it runs the copy of the folder that it unpacked once, and unpacks it if need be."""

import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from single_file import FILE_VARIABLE, STARTER_VARIABLE
from single_file.copies import Copy, cache_folder, made_private

NAME_FILE = "name-of-the-copy"
"""Beside the starter: the version, and a digest of what is packed."""
PROGRAM = "agent-playground.exe" if sys.platform == "win32" else "agent-playground"
HEAD_START = 1.0
"""Seconds that the app has before what was unpacked is written to the disk."""
_LIBRARIES = "LD_LIBRARY_PATH"


def main() -> str:
    """Returns only when it cannot run: what to say then."""
    unpacked = Path(vars(sys)["_MEIPASS"])  # where the boot loader has put this starter, for this start
    file = Path(sys.executable)
    trouble = ""
    for copy in (kept_copy, passing_copy):
        try:
            execute(copy(file, unpacked) / PROGRAM, environment(os.environ, file, unpacked))
        except OSError as error:
            trouble = str(error)
    return f"Agent Playground cannot unpack itself: {trouble}. Make room, or download it again."


def kept_copy(file: Path, unpacked: Path, cache: Path | None = None) -> Path:
    """The folder of the copy in the user's cache, which later starts find; raises `OSError` where none can be."""
    copy = Copy(made_private(cache or cache_folder()), (unpacked / NAME_FILE).read_text("utf-8"))
    copy.use()
    if not copy.is_sound():
        with copy.unpacking():
            if not copy.is_sound():  # whoever was waited for has not unpacked it
                copy.replace(lambda folder: unpack(file, folder))
                beside(copy.settle)
    copy.clear_others()
    return copy.program


def passing_copy(file: Path, unpacked: Path) -> Path:
    """The folder of a copy for this start alone, which the boot loader removes with the rest; raises `OSError`."""
    unpack(file, unpacked / "program")
    return unpacked / "program"


def unpack(file: Path, folder: Path) -> None:
    from single_file import payload  # noqa: PLC0415  most starts need none of it

    payload.unpack(file, folder)


def environment(inherited: dict[str, str] | os._Environ[str], file: Path, unpacked: Path) -> dict[str, str]:
    """What the boot loader was started with, and what the app has to know of it."""
    known = {name: value for name, value in inherited.items() if not name.startswith(("_PYI_", _LIBRARIES))}
    if libraries := inherited.get(_LIBRARIES, "").removeprefix(str(unpacked)).removeprefix(os.pathsep):
        known[_LIBRARIES] = libraries
    return known | {
        "PYINSTALLER_RESET_ENVIRONMENT": "1",
        FILE_VARIABLE: str(file),
        STARTER_VARIABLE: f"{os.getppid()}:{unpacked}",
    }


def execute(program: Path, known: dict[str, str]) -> NoReturn:
    """Become the program; on Windows, where a process cannot, wait for one that has all of this one, and end as it."""
    command = [str(program), *sys.argv[1:]]
    if sys.platform == "win32":
        import subprocess  # noqa: PLC0415  needed here alone

        # Neither has a console, so none is shown; a client of MCP is heard only where its streams are passed on.
        streams = (sys.stdin, sys.stdout, sys.stderr)
        with subprocess.Popen(command, -1, None, *streams, env=known) as app:  # noqa: S603
            sys.exit(app.wait())
    else:
        os.execve(program, command, known)  # noqa: S606  what was just checked


def beside(work: Callable[[], None], head_start: float = HEAD_START) -> None:
    """Do it beside the app: in a process that nobody waits for, on Windows in this one, which waits anyway.

    That process lets the app start first, which would wait for the disk: these seconds, or until the app has ended.
    """
    if sys.platform == "win32":
        import threading  # noqa: PLC0415  needed here alone

        threading.Thread(target=work).start()
        return
    ended, held = os.pipe()
    if child := os.fork():
        os.close(ended)
        os.set_inheritable(held, True)  # what this process becomes has it open until it ends
        os.waitpid(child, 0)
        return
    try:
        os.close(held)
        os.setsid()  # what ends the terminal's programs does not mean it
        if os.fork() == 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):  # whoever reads what the app says waits for its end alone
                os.dup2(nothing, stream)
            select.select([ended], [], [], head_start)
            work()
    finally:
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
