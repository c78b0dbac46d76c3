"""Texts from outside without the keys that may be in them."""

import re
from collections.abc import Collection

_KEY_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key|hf|ghp|org)[-_][A-Za-z0-9_\-*.]{6,}"
    r"|\bAIza[A-Za-z0-9_\-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"
    r"|(?<=[?&]key=)[^&\s'\"]+"
    r"|(?i:(?<=bearer ))[A-Za-z0-9._~+/\-]{6,}"
)


def redacted(text: str, secrets: Collection[str] = ()) -> str:
    """The text with the named secrets, and all that looks like a key, replaced by `[key]`."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return _KEY_SHAPES.sub("[key]", text)
