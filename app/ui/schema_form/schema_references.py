"""A JSON Schema without its references: followed, and what belongs together put together."""

from pydantic import JsonValue

from app.domain.tools import JsonSchema

MOST_HOPS = 20
DEEPEST = 4
"""Schemas directly within schemas, as alternatives or parts, that are followed."""


def resolved(schema: JsonValue, root: JsonSchema, depth: int = 0) -> JsonSchema:
    """The schema with its reference followed and `allOf` put together; `True` and what is no schema allow anything."""
    found: JsonSchema = dict(schema) if isinstance(schema, dict) else {}
    for _ in range(MOST_HOPS):
        reference = found.pop("$ref", None)
        if not isinstance(reference, str):
            break
        target = _pointed(reference, root)
        found = {**target, **found}
    parts = found.pop("allOf", None)
    for part in parts if isinstance(parts, list) and depth < DEEPEST else ():
        found = _together(resolved(part, root, depth + 1), found)
    return found


def _pointed(reference: str, root: JsonSchema) -> JsonSchema:
    """Where a reference like `#/$defs/Node` leads; one that leads nowhere allows anything."""
    found: JsonValue = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    return dict(found) if isinstance(found, dict) else {}


def _together(part: JsonSchema, found: JsonSchema) -> JsonSchema:
    merged = {**part, **found}
    ours, theirs = found.get("properties"), part.get("properties")
    if isinstance(ours, dict) and isinstance(theirs, dict):
        merged["properties"] = {**theirs, **ours}
    needed, more = found.get("required"), part.get("required")
    if isinstance(needed, list) and isinstance(more, list):
        merged["required"] = [*more, *(name for name in needed if name not in more)]
    return merged
