"""Long and rich texts that show how an answer streams and looks; they are files among the assets."""

import re
from functools import cache

from app.llm.demo.answer import Answer
from app.llm.demo.ask import Ask
from app.paths import assets

_STORY = re.compile(
    r"\b(?:long|longer|endless|bedtime|big)\b.{0,30}\b(?:story|stories|tale|text|answer)\b|\b(?:story|tale)\b",
    re.IGNORECASE,
)
_SHOWCASE = re.compile(
    r"\b(?:markdown|formatting)\b|\b(?:show|draw|make|give)\b.{0,30}\b(?:table|bullet list|code block)\b", re.IGNORECASE
)
_SLOW = re.compile(r"\b(?:slow|slowly|slower)\b", re.IGNORECASE)

_SLOWNESS = 8


def recite(ask: Ask) -> Answer | None:
    slowness = _SLOWNESS if _SLOW.search(ask.text) else 1
    if _STORY.search(ask.text):
        return Answer(text=asset("story.md"))
    if _SHOWCASE.search(ask.text):
        return Answer(text=asset("showcase.md"), slowness=slowness)
    if slowness > 1:
        return Answer(text=asset("slow.md"), slowness=slowness)
    return None


@cache
def asset(name: str) -> str:
    return (assets() / "models" / name).read_text(encoding="utf-8").strip()
