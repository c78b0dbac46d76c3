"""A short word on what changed in a text."""

import difflib
import re
from itertools import islice

MOST_LINES = 40
LONGEST_LINE = 200
MOST_COMPARED = 1_000
"""Changed lines up to which they are compared one by one; the comparison takes time by their square."""

HUNK = re.compile(r"^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@$")


def short_diff(before: str, after: str) -> str:
    """The change as a unified diff of at most 40 lines, or in numbers where it is too large to compare."""
    old, new = before.splitlines(), after.splitlines()
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    removed, added = len(old) - start - end, len(new) - start - end
    if max(removed, added) > MOST_COMPARED:
        return f"{removed} lines from line {start + 1} on became {added} lines"
    if not removed and not added:
        return "only the ends of lines changed" if before != after else "nothing changed"
    # Three lines around the change are compared along, as the diff shows them.
    top, bottom = max(0, start - 3), max(0, end - 3)
    lines = difflib.unified_diff(old[top : len(old) - bottom], new[top : len(new) - bottom], lineterm="")
    return _bounded([_moved(line, top) for line in islice(lines, 2, None)])


def _common(one: list[str], other: list[str]) -> int:
    """How many lines both start with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _moved(line: str, by: int) -> str:
    """A hunk's heading with its line numbers counted from the top of the file."""
    return HUNK.sub(lambda found: f"@@ -{int(found[1]) + by}{found[2]} +{int(found[3]) + by}{found[4]} @@", line)


def _bounded(lines: list[str]) -> str:
    shown = [line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"[… {len(lines) - MOST_LINES} more lines of the change]")
    return "\n".join(shown)
