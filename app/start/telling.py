"""Tells the person who started the app what became of that, also when there is no terminal to tell it in."""

import html
import sys
import tempfile
import webbrowser
from pathlib import Path

from app.desktop import of_the_system
from app.logs import LogStream

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Agent Playground</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<body style="font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 18vh auto; padding: 0 1.5rem">
<h1 style="font-size: 1.4rem">Agent Playground could not start</h1><p>{words}</p>
<p>Then start it again.</p></body></html>
"""


def say(sentence: str) -> None:
    """Print the sentence, where there is somewhere to print."""
    if sys.stdout is not None:
        sys.stdout.write(f"{sentence}\n")
        sys.stdout.flush()


def tell_trouble(words: str) -> None:
    """Say why the app cannot start: in the terminal, or in a page of the browser for whoever double-clicked."""
    if sys.stderr is not None:
        sys.stderr.write(f"{words}\n")
        if not isinstance(sys.stderr, LogStream):
            return
    page = Path(tempfile.mkdtemp(prefix="agent-playground-")) / "could-not-start.html"
    page.write_text(_PAGE.format(words=html.escape(words)), encoding="utf-8")
    with of_the_system():
        webbrowser.open(page.as_uri())
