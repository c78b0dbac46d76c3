"""Values as OTLP's JSON wants them: attributes with their kind, times in nanoseconds, ids of hexadecimal digits."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

Attribute = str | int | float | bool | list[str] | None
Attributes = dict[str, Attribute]
Span = dict[str, JsonValue]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def attributes(values: Mapping[str, Attribute]) -> list[JsonValue]:
    """OTLP's list of keys and values; what is `None` is left out."""
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: str | int | float | bool | list[str]) -> JsonValue:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [{"stringValue": one} for one in value]}}
        case _:
            return {"stringValue": value}


def nanoseconds(moment: datetime) -> str:
    """Since 1970, to the microsecond, as the text that JSON needs for 64 bits."""
    return str((moment - _EPOCH) // timedelta(microseconds=1) * 1000)


def trace_id(run_id: str) -> str:
    """32 hexadecimal digits, the same for the same run."""
    return hashlib.sha256(run_id.encode()).hexdigest()[:32]


def span_id(run_id: str, what: str) -> str:
    """16 hexadecimal digits, the same for the same part of the run."""
    return hashlib.sha256(f"{run_id}/{what}".encode()).hexdigest()[:16]
