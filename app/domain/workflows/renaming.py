"""Bindings that read other names, for nodes that are pasted: their copies read each other and not the originals."""

import re
from collections.abc import Mapping
from typing import assert_never

from app.domain.prompts import Placeholder, put
from app.domain.workflows.bindings import parted
from app.domain.workflows.document import (
    ApprovalNode,
    Binding,
    BranchCase,
    Calculated,
    Carried,
    FixedValue,
    FoundValue,
    LoopNode,
    Node,
    Template,
    TransformNode,
)

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_QUOTED = "|".join(rf"{quote}(?:[^{quote}\\]|\\.)*{quote}" for quote in "'`\"")
_PATH_TOKEN = re.compile(rf"{_QUOTED}|{_NAME}|\|\||&&|\s+|.", re.DOTALL)
_FORMULA_TOKEN = re.compile(rf"\"[^\"]*\"|'[^']*'|“[^”]*(?:”|\Z)|{_NAME}|\s+|.", re.DOTALL)
LONGEST = 2_000
"""Characters of an expression, as of those that are calculated: quotes without end take their square of steps."""
_WHOLE_NAME = re.compile(_NAME)


def with_names(binding: Binding, names: Mapping[str, str]) -> Binding:
    """The binding that reads other names in place of these."""
    match binding:
        case FixedValue():
            return binding
        case Template(text=text):
            return Template(text=renamed_template(text, names))
        case FoundValue(path=path):
            return FoundValue(path=renamed_path(path, names))
        case Calculated(formula=formula):
            return Calculated(formula=renamed_formula(formula, names))
        case _:
            assert_never(binding)


def renamed_template(template: str, names: Mapping[str, str]) -> str:
    def written(placeholder: Placeholder) -> str:
        path = placeholder.path._replace(name=names.get(placeholder.path.name, placeholder.path.name))
        default = "" if placeholder.default is None else f" ?? {placeholder.default}"
        return f"{{{{{path.written}{default}}}}}"

    return put(template, written)


def renamed_path(path: str, names: Mapping[str, str]) -> str:
    """The JMESPath expression with other names, where they stand for fields of the whole document."""
    expression, default = _parted(path)
    words = _PATH_TOKEN.findall(expression)
    levels = [_Level(inner=False)]
    for place, word in enumerate(words):
        name = word.strip('"')
        if _WHOLE_NAME.fullmatch(name):
            spoken_of = _beside(words, place, -1) == "." or _beside(words, place, 1) in ("(", ":")
            words[place] = word if levels[-1].inner or spoken_of else names.get(name, word)
        elif word in ("[", "(", "{"):
            filters = word == "[" and _beside(words, place, 1) == "?"
            levels.append(_Level(levels[-1].inner or filters or _beside(words, place, -1) == "."))
        elif word in ("]", ")", "}") and len(levels) > 1:
            levels.pop()
        elif word in ("|", "&"):  # what stands behind looks into what was found
            levels[-1].inner = True
        elif word == ",":
            levels[-1].inner = levels[-1].began_inner
    return "".join(words) + default


def renamed_formula(formula: str, names: Mapping[str, str]) -> str:
    expression, default = _parted(formula)
    words = _FORMULA_TOKEN.findall(expression)
    renamed = (
        word if _beside(words, place, -1) == "." or _beside(words, place, 1) == "(" else names.get(word, word)
        for place, word in enumerate(words)
    )
    return "".join(renamed) + default


def _parted(written: str) -> tuple[str, str]:
    """The expression, and its `??` with what stands behind it. One that is too long to be read is left as it is."""
    expression = written[: written.rindex("??")] if parted(written).has_default else written
    return (expression, written[len(expression) :]) if len(expression) <= LONGEST else ("", written)


class _Level:
    """Brackets around a part of an expression."""

    def __init__(self, inner: bool) -> None:
        self.inner = self.began_inner = inner
        """Whether names in them are looked up in a part of the document."""


def _beside(words: list[str], place: int, step: int) -> str:
    """The next word that is no space, before or after."""
    place += step
    while 0 <= place < len(words) and words[place].isspace():
        place += step
    return words[place] if 0 <= place < len(words) else ""


def reading(node: Node, names: Mapping[str, str]) -> Node:
    """The node, all of whose bindings read other names in place of these."""
    changes = {name: _reading(getattr(node, name), names) for name in type(node).model_fields}
    match node:
        case TransformNode(language="jmespath", code=code):
            changes["code"] = renamed_path(code, names)
        case TransformNode(language="formula", code=code):
            changes["code"] = renamed_formula(code, names)
        case LoopNode(until=until):
            changes["until"] = renamed_formula(until, names)
        case ApprovalNode(question=question):
            changes["question"] = renamed_template(question, names)
        case _:
            pass
    return node.model_copy(update=changes)


def _reading(value: object, names: Mapping[str, str]) -> object:
    match value:
        case FixedValue() | Template() | FoundValue() | Calculated():
            return with_names(value, names)
        case Carried(first=first, next=following):
            return Carried(first=with_names(first, names), next=with_names(following, names))
        case BranchCase(formula=formula):
            return value.model_copy(update={"formula": renamed_formula(formula, names)})
        case tuple():
            return tuple(_reading(one, names) for one in value)
        case dict():
            return {name: _reading(one, names) for name, one in value.items()}
        case _:
            return value
