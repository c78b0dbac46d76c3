"""Prompt templates: text with `{{variables}}` in it."""

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


def variables_of(template: str) -> tuple[str, ...]:
    """The names of the template's variables, each once, in order of appearance."""
    return tuple(dict.fromkeys(_VARIABLE.findall(template)))


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with its variables replaced, once: braces inside a value stay as they are.

    A variable without a value stays visible as it was written.
    """
    return _VARIABLE.sub(lambda match: values.get(match.group(1), match.group(0)), template)
