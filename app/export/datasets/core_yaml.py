"""YAML by the core schema of YAML 1.2, as promptfoo reads it: `yes`, 12:30 and a date are texts, 012 is twelve.

https://yaml.org/spec/1.2.2/#103-core-schema
"""

import math
import re

import yaml  # type: ignore[import-untyped]  # no stubs among our dependencies
from pydantic import JsonValue

from app.domain.errors import TooLarge, WorkbenchError
from app.export.datasets.received import MOST_DEEP, MOST_VALUES
from app.export.words import one_line

LARGEST = 2 * 1024 * 1024
"""Bytes of YAML, which takes long to read."""
LONGEST_NUMBER = 19
"""Characters of a whole number that 64 bits hold in any case. Nobody else holds longer ones: they stay texts."""
_BASES = {"0x": 16, "0o": 8}
_CORE = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", [*"-+0123456789"]),
    "float": (r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", [*"-+.0123456789"]),
    "merge": (r"<<", ["<"]),
}


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]  # which is Any
    """Makes what the core schema has."""


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # which is Any
    """Quotes texts that YAML 1.1 or the core schema would take for something else."""


_Loader.yaml_implicit_resolvers = {}
for _tag, (_pattern, _first) in _CORE.items():
    for _side in (_Loader, _Dumper):
        _side.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), _first)


def _whole_number(loader: _Loader, node: yaml.Node) -> int | str:
    written: str = loader.construct_scalar(node)
    return int(written, _BASES.get(written[:2], 10)) if len(written) <= LONGEST_NUMBER else written


def _number(loader: _Loader, node: yaml.Node) -> float | str:
    """As it is written where it is too great for any float."""
    written: str = loader.construct_scalar(node)
    return number if math.isfinite(number := float(written)) else written


_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)


def read_yaml(content: bytes, name: str) -> JsonValue:
    """What the file of that name says; raises `WorkbenchError` with the line that cannot be read."""
    if len(content) > LARGEST:
        raise TooLarge(f"{name}: YAML of more than {LARGEST // 1024**2} MiB is not read. Split the file.")
    try:
        _check_nesting(content, name)
        told: JsonValue = yaml.load(content, Loader=_Loader)  # noqa: S506  a safe one
    # the last three are PyYAML's for a value that is none of the tag it is given
    except (yaml.YAMLError, OverflowError, ValueError, LookupError, AttributeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise WorkbenchError(f"{name}{where}: this is no YAML that can be read: {one_line(str(problem))}.") from error
    _check_values(told, name)
    return told


def written_yaml(told: object) -> bytes:
    """The lists, objects and texts as YAML that says the same by both schemas."""
    written: bytes = yaml.dump(told, Dumper=_Dumper, allow_unicode=True, sort_keys=False, encoding="utf-8")
    return written


def _check_nesting(content: bytes, name: str) -> None:
    """What is nested too deep ends the process when it is made, so it is only listened to before.

    https://github.com/yaml/pyyaml/issues/895
    """
    depth = 0
    for event in yaml.parse(content, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEEP:
            line = event.start_mark.line + 1
            raise WorkbenchError(f"{name}, line {line}: this is nested more than {MOST_DEEP} levels deep.")


def _check_values(told: JsonValue, name: str) -> None:
    """Count what aliases stand for, which is small as it lies there; only what JSON has may be in it."""
    left, waiting = MOST_VALUES, [told]
    while waiting:
        one = waiting.pop()
        if (left := left - 1) < 0:
            raise TooLarge(f"{name}: there are more than {MOST_VALUES:,} values in it. Split the file.")
        if isinstance(one, dict):
            if any(not isinstance(key, str) for key in one):
                raise WorkbenchError(f"{name}: the names of values are texts. Put others in quotation marks.")
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif not isinstance(one, str | int | float | bool | None):
            raise WorkbenchError(f"{name}: a value of the kind {type(one).__name__} cannot be read. Write it as text.")
