"""What a session holds: its files and variables, and what this run has changed."""

from app.domain.tools import CallContext
from app.tools.function.tool import tool

MOST_LISTED = 200
LONGEST_VALUE = 200
"""Characters of a variable that are shown."""


@tool(icon="inventory_2", idempotent=True)
async def workspace_state(context: CallContext) -> str:
    """Show the files and variables of this session, and which files this run has added, changed or removed.

    Returns a line for each file with size and sha256, and for each prompt variable with its value.
    """
    before, now = context.began_with.files, context.files.digests()
    lines = [await _file_line(context, path, before.get(path), now[path]) for path in sorted(now)[:MOST_LISTED]]
    lines += [f"{path} (removed in this run; was sha256 {before[path][:12]})" for path in sorted(before.keys() - now)]
    if len(now) > MOST_LISTED:
        lines.append(f"[… and {len(now) - MOST_LISTED:,} more files; list_files shows those of a folder]")
    changed = sum(before.get(path) != digest for path, digest in now.items()) + len(before.keys() - now)
    variables = [f"{name} = {_shortened(value)}" for name, value in sorted(context.began_with.variables.items())]
    about_files = _heading("file", len(now), f", {changed} changed in this run" if changed else "")
    return "\n".join([about_files, *lines, "", _heading("variable", len(variables)), *variables])


async def _file_line(context: CallContext, path: str, before: str | None, now: str) -> str:
    size = len(await context.files.read(path))
    return f"{path} ({size:,} bytes, sha256 {now[:12]}){_change(before, now)}"


def _change(before: str | None, now: str) -> str:
    if before == now:
        return ""
    return f" changed in this run; was sha256 {before[:12]}" if before else " new in this run"


def _heading(noun: str, count: int, rest: str = "") -> str:
    if not count and not rest:
        return f"No {noun}s."
    return f"{count} {noun}{'' if count == 1 else 's'}{rest}:"


def _shortened(value: str) -> str:
    text = value.replace("\n", "⏎")
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(value):,} characters)"
