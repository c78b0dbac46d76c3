"""Templates: text with `{{variables}}` in it; in those of workflows also `{{paths.into[0].values ?? or a default}}`."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import islice
from typing import Literal, NamedTuple

from app.domain.agents import Variable
from app.domain.messages import Message, system_message
from app.domain.values import Value

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_STEP = r"\.[A-Za-z_][A-Za-z0-9_]*|\[-?[0-9]{1,6}\]"
_PATH = rf"([A-Za-z_][A-Za-z0-9_]*)((?:{_STEP})*)"
_STEPS = re.compile(_STEP)
_WHOLE_PATH = re.compile(_PATH)
_PLACEHOLDER = re.compile(rf"\{{\{{\s*+{_PATH}\s*+(?:\?\?([^{{}}]*))?\}}\}}")
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


class ValuePath(NamedTuple):
    """A way into a value: `draft.items[0]` is the name `draft` and the steps `items` and 0."""

    name: str
    steps: tuple[str | int, ...] = ()

    @property
    def written(self) -> str:
        return self.name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps)


class Placeholder(NamedTuple):
    """A `{{path ?? default}}` in a template."""

    path: ValuePath
    default: str | None
    """What stands there where the path leads to nothing; `None` where that is not said."""


def path_of(words: str) -> ValuePath | None:
    """The path that the words write, `None` where they are none."""
    match = _WHOLE_PATH.fullmatch(words.strip())
    return _path(match) if match else None


def placeholders(template: str) -> Iterator[Placeholder]:
    """In the order of their places."""
    return (_placeholder(match) for match in _PLACEHOLDER.finditer(template))


def put(template: str, words: Callable[[Placeholder], str]) -> str:
    """The template with its placeholders replaced, once: braces inside what is put in stay as they are."""
    return _PLACEHOLDER.sub(lambda match: words(_placeholder(match)), template)


def unreadable(template: str) -> str:
    """How the first braces go on that hold no path and would stay as they are; empty where there are none."""
    opening = _OPENING.search(_PLACEHOLDER.sub("", template))
    return opening.string[opening.start() : opening.start() + 40].split("\n", maxsplit=1)[0] if opening else ""


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


def _placeholder(match: re.Match[str]) -> Placeholder:
    default = match.group(3)
    return Placeholder(path=_path(match), default=None if default is None else default.strip())


def _path(match: re.Match[str]) -> ValuePath:
    steps = (step[1:] if step[0] == "." else int(step[1:-1]) for step in _STEPS.findall(match.group(2)))
    return ValuePath(name=match.group(1), steps=tuple(steps))
