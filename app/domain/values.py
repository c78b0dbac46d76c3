"""The base of every value, and the few values that the rest are made of."""

import hashlib
import json
import secrets
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue


def well_formed(text: str) -> str:
    """The text with lone surrogates, which no file and no socket takes, replaced by `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _mended(value: object) -> object:
    """What is no text is left to the validation."""
    return well_formed(value) if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_mended)]
"""Text from outside: of a model, a tool or a person."""


def json_in(text: str, *, constant: Callable[[str], JsonValue] | None = None) -> JsonValue:
    """The JSON that the text is, well-formed also where an escape in it names half a character.

    `constant`: what becomes of `NaN`, `Infinity` and `-Infinity`. Raises `ValueError` and `RecursionError`.
    """
    value: JsonValue = json.loads(text, parse_constant=constant)
    return _well_formed_within(value) if "\\ud" in text or "\\uD" in text else value


def _well_formed_within(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return well_formed(value)
        case list():
            return [_well_formed_within(inner) for inner in value]
        case dict():
            return {well_formed(key): _well_formed_within(inner) for key, inner in value.items()}
        case _:
            return value


def alphabetical(name: str) -> str:
    """What names that people gave are sorted by: in any case, and `Ü` behind `U` instead of behind `Z`."""
    return unicodedata.normalize("NFD", name.casefold())


def is_of_a_clock(moment: datetime) -> bool:
    """Whether somebody can have written it as the time of something: not what programs write for no time at all."""
    return 1970 < moment.year < 9999


_SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Value(BaseModel):
    """Immutable, compared by content. Unknown fields of a newer version are read over, not refused."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="null", defer_build=True)

    @property
    def digest(self) -> str:
        """The sha256 of the value's JSON, as 64 hexadecimal digits: equal values have equal digests."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class Strict(Value):
    """A value out of a request: a field that is not known is refused."""

    model_config = ConfigDict(extra="forbid")


def new_id() -> str:
    """A random identifier of 16 characters out of a-z and 0-9, safe in paths and addresses."""
    left, signs = secrets.randbelow(len(_SIGNS) ** 16), ""  # at once: each look for something random takes its time
    while len(signs) < 16:
        left, place = divmod(left, len(_SIGNS))
        signs += _SIGNS[place]
    return signs


def now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)


def size(octets: int) -> str:
    """Bytes as `12 bytes`, `1.2 kB`, `3.4 MB`, `5.6 GB`."""
    if octets < 1000:
        return "1 byte" if octets == 1 else f"{octets} bytes"
    if octets < 999_950:
        return f"{octets / 1000:.1f} kB"
    if octets < 999_950_000:
        return f"{octets / 1_000_000:.1f} MB"
    return f"{octets / 1_000_000_000:.1f} GB"
