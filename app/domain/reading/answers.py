"""Answers as programs read them."""

import re

_FENCED = re.compile(r"\A```[a-zA-Z]*\n(.*)\n```\Z", re.DOTALL)


def unfenced(text: str) -> str:
    """The answer without the Markdown fence around it, if there is one."""
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    return fenced.group(1) if fenced else stripped
