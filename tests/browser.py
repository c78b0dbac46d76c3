"""Finds the Chromium that the browser tests drive, and installs one when there is none.

`python -m tests.browser` prints its path.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

WITHOUT_WINDOWS = ("chromium-headless-shell", "chrome-headless-shell")
"""The same engine without what draws windows and menus: a page takes a fifth less of the processor."""
COMMANDS = (
    *WITHOUT_WINDOWS,
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
ADVICE = "The browser tests need Chromium, Chrome or Edge. Install one, or name its path in the variable CHROMIUM."


def chromium() -> Path:
    """The browser to drive; FileNotFoundError says what to do when there is none."""
    if named := os.environ.get("CHROMIUM"):
        if Path(named).is_file():
            return Path(named)
        raise FileNotFoundError(f"The variable CHROMIUM names {named!r}, and there is no such file.")
    if (found := next(_found(COMMANDS), None)) is not None:
        return found
    if (downloaded := _playwrights_own()).is_file():
        return downloaded
    raise FileNotFoundError(ADVICE)


def chromium_with_windows() -> Path | None:
    """One that also keeps what a person's browser does, such as a history; `None` where there is none."""
    named = Path(os.environ.get("CHROMIUM", ""))
    if named.is_file() and named.name not in WITHOUT_WINDOWS:
        return named
    return next(_found(command for command in COMMANDS if command not in WITHOUT_WINDOWS), None)


def install() -> None:
    """Install Chromium with what this machine has for it; prints to stderr, so that stdout is the path alone."""
    if _may_use_apt():
        # The lists first: a fresh image has none.
        apt = ["apt-get", "-qq", "-o", "Acquire::Retries=3"]
        package = [*apt, "install", "-y", "--no-install-recommends"]
        if _ran([*apt, "update"]) and (_ran([*package, WITHOUT_WINDOWS[0]]) or _ran([*package, "chromium"])):
            return
    libraries = ["--with-deps"] if _may_use_apt() else []
    _ran([sys.executable, "-m", "playwright", "install", *libraries, "chromium"])


def main() -> int:
    """Print the path of the browser, after installing one if there was none."""
    if _is_wanted():
        print("Installing Chromium for the browser tests.", file=sys.stderr)
        install()
    try:
        print(chromium())
    except FileNotFoundError as nothing:
        print(nothing, file=sys.stderr)
        return 1
    return 0


def _is_wanted() -> bool:
    """Also where tests are all that a machine does, and its browser has windows."""
    try:
        found = chromium()
    except FileNotFoundError:
        return True
    for_tests_alone = "CI" in os.environ and "CHROMIUM" not in os.environ and _may_use_apt()
    return for_tests_alone and found.name not in WITHOUT_WINDOWS


def _found(commands: Iterable[str]) -> Iterator[Path]:
    on_path = (Path(found) for command in commands if (found := shutil.which(command)))
    return (browser for browser in (*on_path, *map(Path, PLACES)) if browser.is_file())


def _playwrights_own() -> Path:
    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def _may_use_apt() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0 and shutil.which("apt-get") is not None


def _ran(command: list[str]) -> bool:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    finished = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    return finished.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
