"""An agent as one file: written to be kept or handed on, read with no trust in who wrote it."""

import re
from collections.abc import Collection
from datetime import datetime

import orjson
from pydantic import JsonValue, ValidationError

from app.domain.agents import LONGEST_DESCRIPTION, Agent, Variant, free_slug, hidden_in
from app.domain.caution import with_tools_held
from app.domain.errors import TooLarge, WorkbenchError
from app.domain.unpacked import values_in
from app.domain.values import is_of_a_clock, new_id
from app.export.limits import LARGEST_AGENT
from app.export.words import json_bytes

FORMAT = "agent-playground/agent"
VERSION = 2
"""Of a file with a workflow; what is asked by a prompt is written as version 1, which older apps read."""
MOST_VALUES = 500_000

_LONGEST_NAME = 200
_MOST_DEEP = 60
_ICON = re.compile(r"[a-z0-9_]{1,60}")
"""A Material icon's name; other words would be an address to load or a picture to draw."""


def agent_file(agent: Agent) -> bytes:
    """The agent with all its variants as JSON, for `read_agent_file`."""
    version = 1 if agent.kind == "prompt" else VERSION
    content = {"format": FORMAT, "version": version, "agent": agent.model_dump(mode="json")}
    return json_bytes(content, indent=2)


def read_agent_file(content: bytes, taken_slugs: Collection[str]) -> Agent:
    """The agent in the file, with an id and a slug of its own, not public, with our limits and all its tools off.

    The nodes of a workflow ask. Raises `WorkbenchError` in words: not an agent's file, of a newer version, too large,
    or with impossible values.
    """
    agent = _parsed(_document(content))
    _check(agent)
    changes = {
        "id": new_id(),
        "slug": free_slug(agent.name, taken_slugs),
        "name": agent.name.strip(),
        "variants": tuple(_with_tools_off(variant) for variant in agent.variants),
        "is_public": False,
        "gate": None,
        "activations": (),
        "created_by": "page",
        "deleted_at": None,
    }
    return agent.model_copy(update=changes)


def _document(content: bytes) -> dict[str, JsonValue]:
    if len(content) > LARGEST_AGENT:
        has, most = f"{len(content) / 1024**2:.1f} MiB", f"{LARGEST_AGENT // 1024**2} MiB"
        raise TooLarge(f"This file has {has}; an agent's file has {most} at most. {_WAY_OUT}")
    if values_in(content, MOST_VALUES) == MOST_VALUES:
        raise TooLarge(f"This file holds more than {MOST_VALUES:,} values, which no agent has. {_WAY_OUT}")
    return document_of(content, FORMAT, _WAY_OUT)


def document_of(content: bytes, written: str, way_out: str) -> dict[str, JsonValue]:
    """The JSON of one of our files, which says that it is `written`. Raises `WorkbenchError`."""
    what = f"This is no {written.rpartition('/')[2]}'s file"
    try:
        document: JsonValue = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise WorkbenchError(f"{what}: it is not JSON ({error}). {way_out}") from error
    if not isinstance(document, dict) or document.get("format") != written:
        raise WorkbenchError(f"{what}: it does not say {written!r}. {way_out}")
    return document


_WAY_OUT = "Choose a file that was exported from an agent's page."


def _parsed(document: dict[str, JsonValue]) -> Agent:
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise WorkbenchError(f"This agent's file has no version number. {_WAY_OUT}")
    if version > VERSION:
        raise WorkbenchError(
            f"This agent's file was written by a newer Agent Playground (version {version}, this one reads up to "
            f"{VERSION}). Update the app and import it again."
        )
    if _is_deep(document):
        raise WorkbenchError(f"This agent's file is nested more than {_MOST_DEEP} levels deep. {_WAY_OUT}")
    try:
        return Agent.model_validate(document.get("agent"))
    except ValidationError as error:
        raise WorkbenchError(f"This agent's file cannot be read: {_first_fault(error)} {_WAY_OUT}") from error


def _is_deep(document: JsonValue) -> bool:
    level: list[JsonValue] = [document]
    for _ in range(_MOST_DEEP):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return False
    return True


def _inside(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False)[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'agent'}: {fault['msg']}."


def _check(agent: Agent) -> None:
    """Refuse what is well-formed and yet no agent that this app would have made."""
    numbers, described = [variant.number for variant in agent.variants], len(agent.description)
    moments = filter(None, (agent.created_at, agent.updated_at, *(variant.created_at for variant in agent.variants)))
    faults = {
        "a time in it is none, or names no time zone": not all(map(_is_moment, moments)),
        "its variants are of several kinds": len({variant.behaviour.kind for variant in agent.variants}) > 1,
        "it has no name": not agent.name.strip(),
        f"its name is longer than {_LONGEST_NAME} characters": len(agent.name) > _LONGEST_NAME,
        "its name holds characters that cannot be shown": bool(hidden_in(agent.name)),
        f"its description is longer than {LONGEST_DESCRIPTION:,} characters": described > LONGEST_DESCRIPTION,
        "its icon is not the name of one": not _ICON.fullmatch(agent.icon),
        "two of its variants have the same number": len(set(numbers)) < len(numbers),
        "its variants are not numbered from 1": any(not 1 <= number < 1_000_000 for number in numbers),
        "its active variant is missing": agent.active not in numbers,
        "it has archived its active variant": agent.active in agent.archived,
        "it has archived a variant that is missing": not set(agent.archived) <= set(numbers),
    }
    if fault := next((words for words, is_so in faults.items() if is_so), None):
        raise WorkbenchError(f"This agent's file cannot be used: {fault}. {_WAY_OUT}")


def _is_moment(moment: datetime) -> bool:
    return moment.tzinfo is not None and is_of_a_clock(moment)


def _with_tools_off(variant: Variant) -> Variant:
    return variant.model_copy(update={"behaviour": with_tools_held(variant.behaviour, "off")})
