"""Finds the tools of an agent that has more than fit into its model's context."""

import re
from collections.abc import Iterable

from app.domain.errors import ToolError
from app.domain.tools import CallContext, ToolSpec, canonical_name
from app.tools.function.tool import tool

MOST_FOUND = 8
MOST_NAMES = 100
LONGEST_WORDS = 400
"""Characters that are looked for."""
_WORD = re.compile(r"[^\W_]{2,}")


@tool(icon="manage_search", idempotent=True)
async def find_tools(words: str, context: CallContext) -> str:
    """Find tools that you have and cannot see yet, as they do not all fit. You can call them from your next step on.

    Returns the names and descriptions of those that fit best, 8 at most.

    Args:
        words: What the tools are to do, in a few words, or the name of a tool or of a group of tools.
    """
    unseen = context.unsent
    if not unseen:
        return "You can see all your tools already."
    found = best(unseen, words[:LONGEST_WORDS])
    if not found:
        names = ", ".join(spec.name for spec in unseen[:MOST_NAMES])
        more = f" and {len(unseen) - MOST_NAMES} more" if len(unseen) > MOST_NAMES else ""
        raise ToolError(f"No tool fits these words. Try others, or one of these names: {names}{more}.")
    context.load([spec.name for spec in found])
    return "\n".join(["You can call these now:", *(_line(spec) for spec in found)])


def best(specs: Iterable[ToolSpec], words: str) -> list[ToolSpec]:
    """Those that fit best, the best first: by their names, then by what is said of them."""
    name = canonical_name(words.strip())
    wanted = {_stem(word) for word in _WORD.findall(words.casefold())}
    scored = [(_score(spec, name, wanted), spec) for spec in specs]
    fitting = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return [spec for _, spec in fitting[:MOST_FOUND]]


def _score(spec: ToolSpec, name: str, wanted: set[str]) -> float:
    if name in (spec.name, spec.kit):
        return 1000
    in_name = {_stem(word) for word in _WORD.findall(f"{spec.name} {spec.title}".casefold())}
    in_words = {_stem(word) for word in _WORD.findall(spec.description.casefold())}
    return 3 * len(wanted & in_name) + len(wanted & in_words)


def _stem(word: str) -> str:
    """The word without what tells one from many."""
    return word.removesuffix("s") if len(word) > 3 else word


def _line(spec: ToolSpec) -> str:
    said, _, _ = spec.description.strip().partition("\n")
    return f"- {spec.name}: {said}"
