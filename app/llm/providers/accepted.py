"""What each provider takes of a file, by its kind: within a message, and into a store of its own.

It is decided here, before any way to a model: LiteLLM leaves sound out for two providers without a word, and takes a
file whose type nobody told it for one of another kind. Sizes are bytes before they are written in base64.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.domain.models import ModelCard

Kind = Literal["image", "pdf", "audio", "video", "text", "other"]
KINDS: Mapping[Kind, str] = {
    "image": "pictures",
    "pdf": "PDF files",
    "audio": "sound",
    "video": "videos",
    "text": "text files",
    "other": "files of this kind",
}
"""What people call them."""
MIB = 1024**2
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_PDF = frozenset({"application/pdf"})
_OPENAI_AUDIO = frozenset({"audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3"})
_GOOGLE_AUDIO = _OPENAI_AUDIO | {"audio/aiff", "audio/x-aiff", "audio/aac", "audio/ogg", "audio/flac", "audio/x-flac"}
_GOOGLE_VIDEO = frozenset(
    f"video/{one}" for one in ("mp4", "mpeg", "mov", "quicktime", "avi", "x-flv", "mpg", "webm", "wmv", "3gpp")
)
_NOVA_VIDEO = frozenset(
    f"video/{one}" for one in ("mp4", "quicktime", "x-matroska", "webm", "x-flv", "mpeg", "x-ms-wmv", "3gpp")
)
_TEXT = re.compile(
    r"text/.+|application/(json|jsonl|x-ndjson|ld\+json|xml|yaml|x-yaml|toml|javascript|x-sh|x-python|sql)|.+\+(json|xml)"
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """What one provider takes. Text is copied into a message by us, for any."""

    inline: Mapping[Kind, frozenset[str]] = field(default_factory=lambda: {"image": _IMAGES})
    """Media types by kind, within a message."""
    of_all: frozenset[Kind] = frozenset()
    """Kinds that each of its models takes; of others the list of models says which."""
    believed: frozenset[Kind] = frozenset({"image"})
    """Kinds that a model is believed to take of which nobody heard."""
    native: frozenset[Kind] = frozenset()
    """Kinds that are read out of its own store."""
    largest: Mapping[Kind, int] = field(default_factory=dict)
    """Of one file within a message."""
    most: int = 20 * MIB
    """Of all files that are not pictures within one call."""
    most_documents: int = 100
    largest_native: int = 500 * MIB


ACCEPTED: Mapping[str, Accepted] = {
    "openai": Accepted(
        {"image": _IMAGES, "pdf": _PDF, "audio": _OPENAI_AUDIO},
        believed=frozenset({"image", "pdf"}),
        native=frozenset({"pdf"}),
        most=32 * MIB,
        largest_native=50 * 1000**2,
    ),
    "azure": Accepted({"image": _IMAGES, "audio": _OPENAI_AUDIO}),
    "anthropic": Accepted(
        {"image": _IMAGES, "pdf": _PDF},
        of_all=frozenset({"image", "pdf"}),
        native=frozenset({"image", "pdf"}),
        most=20 * MIB,
    ),
    "gemini": Accepted(
        {"image": _IMAGES, "pdf": _PDF, "audio": _GOOGLE_AUDIO, "video": _GOOGLE_VIDEO},
        believed=frozenset({"image", "pdf", "audio", "video"}),
        native=frozenset({"image", "pdf", "audio", "video"}),
        largest={"pdf": 48 * MIB},
        most=64 * MIB,
        largest_native=2000 * MIB,
    ),
    "bedrock": Accepted(
        {"image": _IMAGES, "pdf": _PDF, "video": _NOVA_VIDEO},
        believed=frozenset({"image", "pdf"}),
        largest={"pdf": 4_500_000, "video": 24 * MIB},
        most_documents=5,
    ),
    "openrouter": Accepted(
        {"image": _IMAGES, "pdf": _PDF, "audio": _OPENAI_AUDIO}, of_all=frozenset({"pdf"}), most=20 * MIB
    ),
    "demo": Accepted({}, believed=frozenset()),
}
"""By our names of providers; any other one is sent pictures only."""
_ONLY_PICTURES = Accepted()
_GOOGLES_SMALL = re.compile(r"gemma|learnlm")
_NOVA = re.compile(r"nova-(lite|pro|premier)")


def accepted_by(provider: str) -> Accepted:
    return ACCEPTED.get(provider, _ONLY_PICTURES)


def kind_of(media_type: str) -> Kind:
    family = media_type.partition("/")[0]
    if media_type in _PDF:
        return "pdf"
    if family == "image":
        return "image"
    if family == "audio":
        return "audio"
    if family == "video":
        return "video"
    return "text" if _TEXT.fullmatch(media_type) else "other"


def takes_inline(provider: str, model: str, card: ModelCard | None, media_type: str) -> bool:
    """Whether that model of the provider takes such a file within a message."""
    kind, accepted = kind_of(media_type), accepted_by(provider)
    if kind == "text":
        return True
    return media_type in accepted.inline.get(kind, ()) and _model_takes(accepted, kind, provider, model, card)


def takes_native(provider: str, model: str, card: ModelCard | None, media_type: str) -> bool:
    """Whether that model reads such a file out of its provider's own store."""
    kind, accepted = kind_of(media_type), accepted_by(provider)
    known = media_type in accepted.inline.get(kind, ())
    return kind in accepted.native and known and _model_takes(accepted, kind, provider, model, card)


def _model_takes(accepted: Accepted, kind: Kind, provider: str, model: str, card: ModelCard | None) -> bool:
    if kind in accepted.of_all:
        return True
    if card is None:
        return kind in accepted.believed
    if provider == "gemini" and kind != "image":  # the list tells of half its models only that they see pictures
        return not _GOOGLES_SMALL.search(model)
    if kind == "video" and provider == "bedrock" and _NOVA.search(model):  # nor of these what they are sold for
        return True
    said = {"image": card.sees_images, "pdf": card.reads_pdf, "audio": card.hears, "video": card.sees_videos}
    return said.get(kind, False)
