"""What changed between two behaviours: the prompt by words, settings, limits and tools by name."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from app.domain.agents import Behaviour
from app.domain.values import Value

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")

Kind = Literal["same", "added", "removed"]
Area = Literal["settings", "limits", "tools", "variables", "output"]


class WordRun(Value):
    """Neighbouring words of a prompt with one fate."""

    kind: Kind
    text: str


class Change(Value):
    """One setting with another value. An empty side means it was not there."""

    area: Area
    name: str
    before: str
    after: str


class Differences(Value):
    prompt: tuple[WordRun, ...]
    """The whole of both prompts; a single `same` run when nothing changed, none when both are empty."""
    changes: tuple[Change, ...]

    @property
    def none(self) -> bool:
        return not self.changes and all(run.kind == "same" for run in self.prompt)


def differences(before: Behaviour, after: Behaviour) -> Differences:
    prompt = tuple(word_runs(before.system_prompt, after.system_prompt))
    return Differences(prompt=prompt, changes=tuple(_changes(before, after)))


def word_runs(before: str, after: str) -> Iterator[WordRun]:
    """The two texts woven together, word by word; line by line above 20,000 characters, where words would take long."""
    split = _WORDS.findall if len(before) + len(after) <= 20_000 else lambda text: text.splitlines(keepends=True)
    old, new = split(before), split(after)
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield WordRun(kind="same", text="".join(old[start:end]))
            continue
        if end > start:
            yield WordRun(kind="removed", text="".join(old[start:end]))
        if new_end > new_start:
            yield WordRun(kind="added", text="".join(new[new_start:new_end]))


def _changes(before: Behaviour, after: Behaviour) -> Iterator[Change]:
    if before.model != after.model:
        yield Change(area="settings", name="model", before=before.model, after=after.model)
    yield from _fields("settings", before.parameters, after.parameters)
    yield from _fields("limits", before.limits, after.limits)
    yield from _named("tools", *({tool.name: tool.policy for tool in one.tools} for one in (before, after)))
    yield from _named("variables", *({one.name: one.default for one in side.variables} for side in (before, after)))
    if before.output_schema != after.output_schema:
        yield Change(area="output", name="schema", before=_text(before.output_schema), after=_text(after.output_schema))


def _fields(area: Area, before: Value, after: Value) -> Iterator[Change]:
    yield from _named(area, before.model_dump(), after.model_dump())


def _named(area: Area, before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            yield Change(area=area, name=name, before=_text(old), after=_text(new))


def _text(value: object) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
