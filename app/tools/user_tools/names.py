"""Whose a tool's name is when several files have it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from app.tools.user_tools.tool_file import ToolFile
from app.tools.user_tools.version import FileTool


@dataclass(frozen=True, slots=True)
class NamedTools:
    tools: Mapping[str, FileTool] = field(default_factory=dict)
    clashes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By file: a sentence for each of its tools whose name another one has too."""


def named_tools(files: Mapping[str, ToolFile]) -> NamedTools:
    """The tools of all files. The file that was allowed to run first keeps a name, and both are told."""
    tools: dict[str, FileTool] = {}
    owners: dict[str, str] = {}
    clashes: dict[str, list[str]] = {}
    for name, tool in _in_order(files):
        first = owners.setdefault(tool.spec.name, name)
        if first == name:
            tools[tool.spec.name] = replace(tool, label=f"{name} › {tool.spec.name}")
            continue
        sentence = f"Both {first} and {name} have a tool {tool.spec.name!r}: that of {first} is used. Rename one."
        clashes.setdefault(first, []).append(sentence)
        clashes.setdefault(name, []).append(sentence)
    return NamedTools(tools, {name: tuple(sentences) for name, sentences in clashes.items()})


def _in_order(files: Mapping[str, ToolFile]) -> Iterable[tuple[str, FileTool]]:
    allowed = [(file.trusted.trusted_at, name, file.good) for name, file in files.items() if file.trusted and file.good]
    for _, name, version in sorted(allowed, key=lambda one: one[:2]):
        for tool in version.tools:
            yield name, tool
