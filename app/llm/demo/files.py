"""The files of the session: written, read, listed and changed as asked, one call after the other."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.domain.messages import ToolResult
from app.llm.demo.answer import Answer, Wish, fenced
from app.llm.demo.ask import Ask
from app.llm.demo.missing import told, without

_PATH = r"[\"'`]?(?<![\w./-])(?P<path>/[\w./-]{0,200}\w|[\w-]++(?:/[\w.-]+)*\.[A-Za-z]\w{0,7})[\"'`]?"
_FILE = r"(?:(?:a|the|my|this)\s+)?(?:new\s+)?(?:text\s+)?(?:file\s+)?(?:called\s+|named\s+)?"
_THEN = re.compile(
    r"(?:[,;.]\s?|\s)(?:and\s+)?then\s|[,;]?\sand\s++(?=(?:read|open|show|print|list|replace|change|write|save)\b)|[.;]\s",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"```\w*+\n?(.*?)```|\"([^\"]*)\"|“([^“”]*)”|`([^`\n]+)`|(?<!\w)'([^'\n]*)'(?!\w)", re.DOTALL)
MOST_DEEDS = 20
_MASK = re.compile(r"\ue000(\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing to do with a file."""

    thought: str
    wish: Wish
    says: Callable[[ToolResult], str]


def use_files(ask: Ask) -> Answer | None:
    deeds = deeds_in(ask.text)
    if not deeds:
        return None
    lacking = without(ask, *(deed.wish.tool for deed in deeds))
    if lacking is not None:
        return lacking
    failed = next((result for result in ask.results if result.failed), None)
    if failed is not None:
        return told(failed)
    if len(ask.results) < len(deeds):
        deed = deeds[len(ask.results)]
        return Answer(thought=deed.thought, wishes=(deed.wish,))
    return Answer(text="\n\n".join(deed.says(result) for deed, result in zip(deeds, ask.results, strict=False)))


def deeds_in(text: str) -> tuple[Deed, ...]:
    """What the text asks to be done with files, in that order; empty when it asks for nothing of the kind."""
    quoted: list[str] = []

    def mask(match: re.Match[str]) -> str:
        inner = next(group for group in match.groups() if group is not None)
        if re.fullmatch(_PATH, inner):
            return inner
        quoted.append(inner)
        return f"\ue000{len(quoted) - 1}\ue001"

    deeds: list[Deed] = []
    path = ""
    for step in _THEN.split(_QUOTED.sub(mask, text), maxsplit=MOST_DEEDS):
        deed, path = _deed(step.strip(), quoted, path)
        if deed is None and step.strip() and not deeds:
            return ()
        if deed is not None:
            deeds.append(deed)
    return tuple(deeds)


def _deed(step: str, quoted: list[str], last_path: str) -> tuple[Deed | None, str]:
    if last_path:
        step = re.sub(r"\b(?:it|that|the file|this file)\b(?:\s+(?:back|again))?", last_path, step, count=3)
    for pattern, make in _PATTERNS:
        match = pattern.match(step)
        if match:
            groups = {name: _unmasked(value or "", quoted) for name, value in match.groupdict().items()}
            path = _absolute(groups.get("path", ""))
            return make({**groups, "path": path}), path or last_path
    return None, last_path


def _unmasked(text: str, quoted: list[str]) -> str:
    return _MASK.sub(lambda match: quoted[int(match.group(1))], text.strip())


def _absolute(path: str) -> str:
    return path if not path or path.startswith("/") else f"/{path}"


def _write(found: dict[str, str]) -> Deed:
    path, content = found["path"], found["content"]
    return Deed(
        thought=f"I have to put text into {path}. The tool write_file does that.",
        wish=Wish("write_file", {"path": path, "content": content}),
        says=lambda _: f"Done: `{path}` now holds\n\n{fenced(content)}",
    )


def _read(found: dict[str, str]) -> Deed:
    path = found["path"]
    return Deed(
        thought=f"To know what {path} says I have to read it.",
        wish=Wish("read_file", {"path": path}),
        says=lambda result: f"`{path}` says:\n\n{fenced(_without_facts(result.text, path))}",
    )


def _list(_: dict[str, str]) -> Deed:
    return Deed(
        thought="I look which files this session has.",
        wish=Wish("list_files", {}),
        says=lambda result: f"These are the files of this session:\n\n{fenced(result.text)}",
    )


def _replace(found: dict[str, str]) -> Deed:
    path, old, new = found["path"], found["old"], found["new"]
    return Deed(
        thought=f"In {path} I replace “{old}” with “{new}”. The tool edit_file changes only that place.",
        wish=Wish("edit_file", {"path": path, "old": old, "new": new}),
        says=lambda result: f"Changed `{path}`:\n\n{fenced(result.text, 'diff')}",
    )


def _without_facts(text: str, path: str) -> str:
    """What a file holds, without the line about it that `read_file` puts before it."""
    facts, _, content = text.partition("\n\n")
    return content if facts.startswith(path) and "\n" not in facts else text


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_READ = r"(?:read|open|show|print|cat|display|view|look (?:at|into)|give me|tell me)"
_OLD = r"(?>(?P<old>.+?)\s(?:with|by|to|into)\s)"
_LABEL = r"(?:(?:the\s+)?(?:following\s+)?(?:text|words?|line|content)s?(?:\s*+:)?\s)?"

# What stands in `(?>…)` is looked for once: were it looked for again behind each of its places, a message that nobody
# means could take minutes.
_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[dict[str, str]], Deed]], ...] = (
    (_pattern(rf"(?>.*?\bin\s+{_FILE}{_PATH},?\s+(?:replace|change)\s){_OLD}(?P<new>.+?)[.!]?$"), _replace),
    (_pattern(rf"(?>.*?\b(?:replace|change)\s){_OLD}(?P<new>.+?)\sin(?:side)?\s+{_FILE}{_PATH}"), _replace),
    (_pattern(rf"(?>.*?\bedit\s+{_FILE}{_PATH}\W+(?:replace|change)\s){_OLD}(?P<new>.+?)[.!]?$"), _replace),
    (
        _pattern(
            rf"(?>.*?\b(?:create|make|write|save|start)\s+(?:me\s+)?{_FILE}{_PATH}\s+"
            rf"(?:with|containing|that (?:says|contains|holds)|saying)(?:\s*+:)?\s)\s*{_LABEL}(?P<content>.+)$"
        ),
        _write,
    ),
    (
        _pattern(
            rf"(?>.*?\b(?:write|save|put|store)\s)\s*+{_LABEL}(?P<content>.+?)\s(?:to|into|in|as|inside)\s+{_FILE}{_PATH}"
        ),
        _write,
    ),
    (_pattern(rf"(?>.*?\b(?:write|save)\s+(?:to\s+)?{_FILE}{_PATH}\s*:)\s*(?P<content>.+)$"), _write),
    (
        _pattern(
            r"\W*ls\W*$|.*?\b(?:list|show|see|which|what|display)\b.{0,30}\bfiles\b"
            r"|.*?\bfiles\b.{0,20}\b(?:are there|do i have|exist)\b"
        ),
        _list,
    ),
    (_pattern(rf"(?>.*?\b{_READ}\b).*?{_PATH}"), _read),
    (_pattern(rf"(?>.*?\b(?:what(?:'s|’s| is| does)?|contents? of)\b).*?{_PATH}"), _read),
)
