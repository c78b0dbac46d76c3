"""What changed between two behaviours: the prompt by words, settings, limits and tools by name."""

import difflib
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Literal

from app.domain.agents import (
    Behaviour,
    PromptBehaviour,
    WorkflowBehaviour,
    model_words,
    schema_of,
    template_of,
    tools_of,
    values_of,
)
from app.domain.values import Value
from app.domain.workflows.differences import graph_differences
from app.domain.workflows.document import Workflow, titled

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")

Kind = Literal["same", "added", "removed"]
Area = Literal["settings", "limits", "tools", "variables", "output", "attachments", "nodes"]


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
    prompt = tuple(word_runs(template_of(before), template_of(after)))
    return Differences(prompt=prompt, changes=tuple(_changes(before, after)))


def word_runs(before: str, after: str) -> Iterator[WordRun]:
    """The two texts woven together, word by word.

    What both begin and end with is passed over first. When more than 20,000 characters are left, where words would take
    long, it goes line by line.
    """
    head = _shared_head(before, after)
    old, new = before[len(head) :], after[len(head) :]
    tail = _shared_head(old[::-1], new[::-1])[::-1]
    end = -len(tail) or None
    runs = (("same", head), *_opcode_runs(old[:end], new[:end]), ("same", tail))
    for kind, group in groupby((run for run in runs if run[1]), key=itemgetter(0)):
        yield WordRun(kind=kind, text="".join(text for _, text in group))


def _shared_head(one: str, other: str) -> str:
    """What both begin with, up to the end of a word."""
    length = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    length = min(len(one), len(other)) if length is None else length
    while length and (one[length - 1].isalnum() or one[length - 1] == "_"):
        length -= 1
    return one[:length]


def _opcode_runs(before: str, after: str) -> Iterator[tuple[Kind, str]]:
    split = _WORDS.findall if len(before) + len(after) <= 20_000 else lambda text: text.splitlines(keepends=True)
    old, new = split(before), split(after)
    # With `autojunk`, what stands everywhere is no anchor of a match: 500 braces after one another took 15 s without.
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(a=old, b=new).get_opcodes():
        if tag == "equal":
            yield "same", "".join(old[start:end])
            continue
        yield "removed", "".join(old[start:end])
        yield "added", "".join(new[new_start:new_end])


def _changes(before: Behaviour, after: Behaviour) -> Iterator[Change]:
    if model_words(before) != model_words(after):
        yield Change(area="settings", name="model", before=model_words(before), after=model_words(after))
    if isinstance(before, PromptBehaviour) and isinstance(after, PromptBehaviour):
        yield from _of_prompts(before, after)
    if isinstance(before, WorkflowBehaviour) and isinstance(after, WorkflowBehaviour):
        yield from _of_nodes(before.workflow, after.workflow)
    yield from _fields("limits", before.limits, after.limits)
    yield from _named("tools", *({tool.name: tool.policy for tool in tools_of(one)} for one in (before, after)))
    yield from _named("variables", *(values_of(one, {}) for one in (before, after)))
    yield from _named("output", *({"schema": schema_of(one)} for one in (before, after)))


def _of_prompts(before: PromptBehaviour, after: PromptBehaviour) -> Iterator[Change]:
    yield from _fields("settings", before.parameters, after.parameters)
    yield from _named("attachments", before.attachments, after.attachments)
    yield from _named("tools", {"loading": before.tool_loading}, {"loading": after.tool_loading})


def _of_nodes(before: Workflow, after: Workflow) -> Iterator[Change]:
    """By node, whatever it is called, then by edge; one that only stands elsewhere is no change."""
    told, nodes = graph_differences(before, after), after.by_id()
    for node in told.removed:
        yield Change(area="nodes", name=titled(node), before=node.kind, after="")
    for node in told.added:
        yield Change(area="nodes", name=titled(node), before="", after=node.kind)
    for changed in told.changed:
        for one in changed.fields:
            name = f"{titled(nodes[changed.id])}: {one.name}"
            yield Change(area="nodes", name=name, before=one.before, after=one.after)
    for edge in told.edges_removed:
        yield Change(area="nodes", name=f"{edge.source} → {edge.target}", before=edge.port, after="")
    for edge in told.edges_added:
        yield Change(area="nodes", name=f"{edge.source} → {edge.target}", before="", after=edge.port)


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
