"""The packages that a file asks for in its `# /// script` block.

As PEP 723 has it, and the packaging specification "Inline script metadata" after it.
"""

import re
import tomllib
from collections.abc import Sequence

PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
OPENING, CLOSING = "# /// script", "# ///"


class BadScriptBlock(Exception):
    """The block cannot be read; says why, and in which line it begins."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.line = line


def required_packages(source: str) -> tuple[str, ...]:
    """The block's `dependencies`, as they are written there. Raises `BadScriptBlock`."""
    lines = source.splitlines()
    starts = [number for number, line in enumerate(lines) if line == OPENING]
    if not starts:
        return ()
    if len(starts) > 1:
        raise BadScriptBlock(f"There are two `{OPENING}` blocks. Keep one of them.", starts[1] + 1)
    [start] = starts
    return _dependencies(_content(lines, start), start + 1)


def project(requirement: str) -> str:
    """The name of the package that is asked for; empty where there is none."""
    found = PROJECT.match(requirement.strip())
    return found[0] if found else ""


def _content(lines: Sequence[str], start: int) -> str:
    """What stands between the marks, without its `# `. The block goes on up to the last closing mark it holds."""
    end = start + 1
    while end < len(lines) and (lines[end] == "#" or lines[end].startswith("# ")):
        end += 1
    inside = lines[start + 1 : end]
    if CLOSING not in inside:
        raise BadScriptBlock(f"The block `{OPENING}` has no end. Close it with a line `{CLOSING}`.", start + 1)
    last = len(inside) - 1 - inside[::-1].index(CLOSING)
    return "\n".join(line[2:] for line in inside[:last])


def _dependencies(content: str, line: int) -> tuple[str, ...]:
    try:
        named = tomllib.loads(content).get("dependencies", [])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadScriptBlock(f"The block `{OPENING}` is no TOML: {error}.", line) from error
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise BadScriptBlock('`dependencies` has to be a list of texts, like ["requests>=2"].', line)
    return tuple(str(one) for one in named)
