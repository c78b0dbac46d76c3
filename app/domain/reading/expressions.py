"""Expressions that people write about JSON: a path through it, a formula over its fields."""

from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from app.domain.errors import WorkbenchError


class BadExpression(WorkbenchError):
    """The expression cannot be read, or does not fit what it is asked of; the message says where and why."""


class Expressions(Protocol):
    """Bounded in size and time; for large documents to be called in a thread."""

    def find(self, document: JsonValue, path: str) -> JsonValue:
        """What the JMESPath expression finds, `None` for what is not there. Raises `BadExpression`."""
        ...

    def calculate(self, formula: str, fields: Mapping[str, JsonValue]) -> JsonValue:
        """What the spreadsheet formula comes to; fields are named in it as columns are. Raises `BadExpression`."""
        ...

    def names_in_path(self, path: str) -> tuple[str, ...]:
        """The fields of the whole document that the JMESPath expression reads, each once. Raises `BadExpression`."""
        ...

    def names_in_formula(self, formula: str) -> tuple[str, ...]:
        """The fields that the formula reads as it writes them, each once. Raises `BadExpression`."""
        ...
