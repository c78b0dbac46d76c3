"""What a run that another run starts may do: at most what that one may, in the time that it has left."""

from collections.abc import Collection

from app.domain.agents import Limits
from app.domain.caution import stricter
from app.domain.errors import ToolError
from app.domain.tools import GrantedTool, canonical_name

LEAST_SECONDS = 1.0


def tools_at_most(
    own: Collection[GrantedTool], above: Collection[GrantedTool], wanted: Collection[str] | None
) -> tuple[GrantedTool, ...]:
    """Those of its own tools that the run above it has too, under the stricter of both policies.

    `wanted` are the names of the only tools and kits it is to have, `None` where that was left open.
    """
    policies = {tool.spec.name: tool.policy for tool in above}
    shared = (tool for tool in own if tool.spec.name in policies and _is_wanted(tool, wanted))
    return tuple(tool.model_copy(update={"policy": stricter(tool.policy, policies[tool.spec.name])}) for tool in shared)


def check_wanted(above: Collection[GrantedTool], wanted: Collection[str] | None) -> None:
    """Raises `ToolError` for a name behind which the run above has no tool."""
    names = {tool.spec.name for tool in above}
    known = names | {tool.spec.kit for tool in above}
    if missing := [name for name in wanted or () if canonical_name(name) not in known]:
        raise ToolError(
            f"You have no tool {', '.join(map(repr, missing))} to give away. You have: {', '.join(sorted(names))}."
        )


def limits_at_most(own: Limits, above: Limits, *, seconds_left: float) -> Limits:
    """Its own limits, but no more time than is left above it, and no more levels of runs below it."""
    return own.model_copy(
        update={
            "total_time": min(own.total_time, max(seconds_left, LEAST_SECONDS)),
            "spawn_depth": min(own.spawn_depth, above.spawn_depth),
        }
    )


def _is_wanted(tool: GrantedTool, wanted: Collection[str] | None) -> bool:
    return wanted is None or bool({tool.spec.name, tool.spec.kit} & {canonical_name(name) for name in wanted})
