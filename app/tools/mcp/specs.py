"""A server's tools as models are told of them: its own words and schemas, under our names."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_types import Tool, ToolAnnotations

from app.domain.tools import ToolSpec, canonical_name
from app.tools.mcp.naming import tool_names

ICON = "extension"


@dataclass(frozen=True)
class Listing:
    """The tools that a server listed."""

    specs: tuple[ToolSpec, ...]
    own_names: dict[str, str]
    """By our name, what the server calls the tool."""


def listing_of(server: str, tools: Sequence[Tool]) -> Listing:
    """Of two tools with the same name the first one counts."""
    unique = {tool.name: tool for tool in reversed(tools)}
    names = tool_names(server, unique)
    specs = tuple(_spec(server, names[tool.name], tool) for tool in reversed(unique.values()))
    return Listing(specs, {ours: own for own, ours in names.items()})


def _spec(server: str, name: str, tool: Tool) -> ToolSpec:
    # Hints are not believed: https://modelcontextprotocol.io/specification/2025-06-18/schema#toolannotations
    hints = tool.annotations or ToolAnnotations()
    return ToolSpec(
        name=name,
        description=tool.description or "",
        parameters=tool.input_schema,
        title=tool.title or hints.title or tool.name,
        icon=ICON,
        kit=canonical_name(server),
        side_effects=True,
    )
