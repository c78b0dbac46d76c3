"""How exports say values and times, names that a file system and a heading both bear, and cells of spreadsheets."""

import re
import unicodedata
from datetime import datetime
from typing import Literal

from pydantic_core import to_json

from app.domain.messages import AppPart
from app.domain.trace import NodeRun, RunStatus
from app.domain.workflows.document import ERROR, NEXT
from app.domain.workflows.schedule import NodeState

SessionFormat = Literal["markdown", "html", "jsonl"]
"""As what a whole conversation is taken along."""

STATUS_WORDS: dict[RunStatus, str] = {
    "running": "still going on: this is how it stood when it was exported",
    "paused": "waiting for a decision: this is how it stood when it was exported",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "stopped",
    "limited": "ended by a limit",
    "interrupted": "cut off: the app ended before the run did",
}

NODE_WORDS: dict[NodeState, str] = {
    "waiting": "waiting",
    "ready": "waiting",
    "running": "going on",
    "done": "done",
    "failed": "failed",
    "skipped": "skipped",
    "cancelled": "stopped",
}

_UNSAFE = re.compile(r"[^a-z0-9]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
"""Names that Windows keeps for itself, whatever follows the dot."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With which a cell begins that spreadsheets work out."""


def file_stem(name: str, fallback: str, *, limit: int = 40) -> str:
    """The name as a part of a file name that means the same on every system: lower case, digits and `-`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = _UNSAFE.sub("-", plain)[:limit].strip("-")
    return fallback if not stem or _RESERVED.fullmatch(stem) else stem


def one_line(text: str, limit: int = 200) -> str:
    """The text on one line without what cannot be seen, such as signs that turn the direction of reading."""
    seen = "".join(
        " " if sign.isspace() else sign for sign in text[: limit * 4] if sign.isspace() or sign.isprintable()
    )
    line = " ".join(seen.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def json_bytes(value: object, *, indent: int | None = None) -> bytes:
    """The value as JSON: whole numbers of any length as they are, and `null` for NaN and the infinite."""
    return to_json(value, indent=indent, inf_nan_mode="null")


def app_words(part: AppPart) -> str:
    """That a call brought an app along, which no export shows."""
    app = f"It brought an app along: {one_line(part.uri)} of the MCP server {one_line(part.server)}."
    return f"{app} Open the run in the app to use it."


def moment_words(moment: datetime) -> str:
    """`2026-11-22 14:05:09 UTC`: the same wherever the file is read."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def duration_words(ms: float | None) -> str:
    if ms is None:
        return "–"
    if ms < 999.5:
        return f"{ms:.0f} ms" if ms >= 1 else "< 1 ms"
    if ms < 59_950:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    return f"{minutes} min {seconds} s"


def node_words(run: NodeRun) -> str:
    """`tool, done, 1.2 s`, with what is unusual about it."""
    told = [
        run.kind or "",
        NODE_WORDS[run.state],
        duration_words(run.ms) if run.ms is not None else "",
        f"{run.attempt} tries" if run.attempt > 1 else "",
        f"{run.done:,} of {run.of:,} rounds" if run.of is not None else "",
        f"went on at {one_line(run.port, 60)}" if run.port and run.port != NEXT else "",
        "its value was written by a person" if run.pinned else "from the record" if run.origin == "recorded" else "",
        "a value stands in for it" if run.state == "failed" and run.port not in (None, ERROR) else "",
    ]
    return ", ".join(filter(None, told))


def cost_words(cost: float | None, *, unpriced: bool = False) -> str:
    """US dollars to a hundredth of a cent, or that it is less than that."""
    if cost is None or (unpriced and not cost):
        return "unpriced"
    told = "< $0.0001" if 0 < cost < 0.0001 else f"${cost:,.4f}"
    return told + (" + unpriced" if unpriced else "")


def guarded(cell: str) -> str:
    """The text as no spreadsheet takes for a formula."""
    return f"'{cell}" if _looks_like_formula(cell) else cell


def unguarded(cell: str) -> str:
    """As it was before that."""
    return cell[1:] if cell.startswith("'") and _looks_like_formula(cell) else cell


def _looks_like_formula(cell: str) -> bool:
    return cell.lstrip("'").startswith(_FORMULA)
