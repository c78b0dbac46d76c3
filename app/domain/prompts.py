"""Prompt templates: text with `{{variables}}` in it."""

import re
from collections.abc import Container, Iterable, Mapping
from itertools import islice
from typing import Literal

from app.domain.agents import Variable
from app.domain.messages import Message, system_message
from app.domain.values import Value

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
MOST_FAULTS = 200
"""Each may need a look at the whole rest of the template."""
_OPENING = re.compile(r"\{\{")

Fault = Literal["unclosed", "bad_name", "undeclared", "unused"]


class PromptFault(Value):
    """Something about a template's variables that is likely not meant."""

    fault: Fault
    name: str
    """What stands between the braces, or the variable's name."""
    position: int = 0
    """The character where it begins; 0 for a variable that is nowhere."""


def variables_of(template: str) -> tuple[str, ...]:
    """The names of the template's variables, each once, in order of appearance."""
    return tuple(dict.fromkeys(_VARIABLE.findall(template)))


def declared(template: str, before: Iterable[Variable]) -> tuple[Variable, ...]:
    """The template's variables; those that there were before keep their defaults."""
    known = {variable.name: variable for variable in before}
    return tuple(known.get(name, Variable(name=name)) for name in variables_of(template))


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with its variables replaced, once: braces inside a value stay as they are.

    A variable without a value stays visible as it was written.
    """
    return _VARIABLE.sub(lambda match: values.get(match.group(1), match.group(0)), template)


def system_of(template: str, values: Mapping[str, str]) -> Message | None:
    """The template as a run's system message, its variables replaced; none where that is empty."""
    prompt = filled(template, values).strip()
    return system_message(prompt) if prompt else None


def faults(template: str, declared: Iterable[str]) -> list[PromptFault]:
    """What is wrong with the template's variables, in the order of their places; the unused ones last.

    Braces that are never closed, names that are none (spaces, nested braces), variables without a declaration, and
    declared ones that the template does not use. Of those with a place the first 200.
    """
    known = dict.fromkeys(declared)
    faulty = (_fault_at(template, opening.start(), known) for opening in _OPENING.finditer(template))
    found = islice((fault for fault in faulty if fault is not None), MOST_FAULTS)
    used = set(variables_of(template))
    return [*found, *(PromptFault(fault="unused", name=name) for name in known if name not in used)]


def _fault_at(template: str, start: int, declared: Container[str]) -> PromptFault | None:
    end = template.find("}}", start)
    if end < 0:
        rest = template[start + 2 : start + 42].split("\n", maxsplit=1)[0]
        return PromptFault(fault="unclosed", name=rest.strip(), position=start)
    name = template[start + 2 : end].strip()
    if not _NAME.fullmatch(name):
        return PromptFault(fault="bad_name", name=name[:40], position=start)
    if name not in declared:
        return PromptFault(fault="undeclared", name=name, position=start)
    return None
