"""Which way an attachment goes, by what was chosen for it, what the model takes, and what the agent's tools open."""

from dataclasses import dataclass
from typing import Literal

from app.domain.media_types import SHOWN_IMAGES
from app.domain.messages import TOOL, Dispositions, FilePart, ImagePart, disposition_of
from app.domain.models import ModelCard
from app.domain.tools import ToolSpec, canonical_name
from app.llm.providers.accepted import KINDS, MIB, Kind, accepted_by, kind_of, takes_inline, takes_native
from app.llm.providers.providers import PROVIDERS

LONGEST_TEXT = 512 * 1024
"""Bytes of a text that is copied into a message."""
SHORT_TEXT = 16 * 1024
"""Bytes of one that is copied there by itself, where no tool opens it."""
LARGE = 4 * MIB
"""Bytes from which on a file is rather uploaded than sent with each call."""
BLIND = "this model sees no pictures"


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked, and with what at hand."""

    provider: str
    model: str
    card: ModelCard | None
    tools: tuple[ToolSpec, ...]
    dispositions: Dispositions
    session_id: str
    may_keep: bool
    """Whether the provider may keep files."""

    @property
    def title(self) -> str:
        if self.provider == "demo":
            return "The demo model"
        return PROVIDERS[self.provider].title if self.provider in PROVIDERS else self.provider

    def opens(self, media_type: str) -> bool:
        """Whether one of the tools says that it opens such files."""
        return any(tool.opens(media_type) for tool in self.tools)


@dataclass(frozen=True, slots=True)
class Route:
    how: Literal["inline", "native", "reference"]
    why: str = ""
    """Why it is not as it was meant; the end of a sentence."""
    inline_too: bool = False
    """Whether it may go inline where it cannot be uploaded."""


def route(part: ImagePart | FilePart, asked: Asked, *, is_new: bool) -> Route:
    """The way of one attachment; `is_new` says that it is of the last message."""
    wanted = disposition_of(part, asked.dispositions)
    if wanted.startswith(TOOL):
        return _for_tool(canonical_name(wanted.removeprefix(TOOL)), asked)
    match wanted:
        case "reference":
            return Route("reference")
        case "native":
            refused = _not_native(part, asked)
            return Route("reference", refused) if refused else Route("native")
        case "inline":
            refused = _not_inline(part, asked)
            return Route("reference", refused) if refused else Route("inline")
        case _:
            return _as_fits(part, asked, is_new=is_new)


def _for_tool(name: str, asked: Asked) -> Route:
    known = any(tool.name == name for tool in asked.tools)
    return Route("reference", "" if known else f"this agent has no tool {name!r}")


def _as_fits(part: ImagePart | FilePart, asked: Asked, *, is_new: bool) -> Route:
    kind = kind_of(part.media_type)
    if isinstance(part, FilePart) and kind in ("text", "other"):
        copied = kind == "text" and part.size <= SHORT_TEXT and asked.provider != "demo"
        return Route("inline" if copied and not asked.opens(part.media_type) else "reference")
    if isinstance(part, FilePart) and asked.opens(part.media_type):
        return Route("reference")
    refused = _not_inline(part, asked)
    if isinstance(part, FilePart) and not _not_native(part, asked):
        is_better = refused or part.size > LARGE or kind == "video" or not is_new
        if is_better:
            return Route("native", inline_too=not refused)
    return Route("reference", refused) if refused else Route("inline")


def _not_inline(part: ImagePart | FilePart, asked: Asked) -> str:
    """Why it cannot be within a message; empty where it can."""
    kind, accepted = kind_of(part.media_type), accepted_by(asked.provider)
    if kind == "other":
        return ""  # it may be a text: that is looked at
    if not takes_inline(asked.provider, asked.model, asked.card, part.media_type):
        return _not_taken(kind, part.media_type, asked)
    largest = accepted.largest.get(kind, accepted.most)
    if isinstance(part, FilePart) and kind != "text" and part.size > largest:
        return f"{asked.title} takes {KINDS[kind]} of up to {largest // MIB} MiB within a message"
    return ""


def _not_taken(kind: Kind, media_type: str, asked: Asked) -> str:
    if kind == "image":
        return BLIND if media_type in SHOWN_IMAGES else f"no model takes pictures of the type {media_type}"
    types = accepted_by(asked.provider).inline.get(kind)
    if types is None:
        return f"{asked.title} takes no {KINDS[kind]}"
    if media_type not in types:
        return f"{asked.title} takes no {KINDS[kind]} of the type {media_type}"
    return f"{asked.model} takes no {KINDS[kind]}"


def _not_native(part: ImagePart | FilePart, asked: Asked) -> str:
    """Why it cannot be read out of the provider's own store; empty where it can."""
    kind, accepted = kind_of(part.media_type), accepted_by(asked.provider)
    if not accepted.native:
        return f"{asked.title} keeps no files"
    if not takes_native(asked.provider, asked.model, asked.card, part.media_type):
        return f"{asked.model} reads no {KINDS[kind]} out of {asked.title}'s store"
    if isinstance(part, FilePart) and part.size > accepted.largest_native:
        return f"{asked.title} keeps files of up to {accepted.largest_native // MIB} MiB"
    return "" if asked.may_keep else f"{asked.title} may not keep files as yet: allow it in Settings"


def tokens_of(part: FilePart) -> int:
    """About how many tokens the file takes within a message, by its size."""
    match kind_of(part.media_type):
        case "pdf":
            return min(200_000, max(1500, part.size // 50))
        case "audio":
            return max(32, part.size // 500)
        case "video":
            return max(300, part.size // 500)
        case _:
            return part.size // 4
