"""The shapes by which a key is known that nobody told the app: one table for all who look for keys.

Whatever the text is, looking through it takes time in proportion to its length.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from app.domain.errors import WorkbenchError

Shape = Literal[
    "API key",
    "AWS key",
    "GitHub token",
    "Slack token",
    "web token",
    "private key",
    "bearer token",
    "password in an address",
]
SHAPES: tuple[Shape, ...] = get_args(Shape)
_SIGN = r"[A-Za-z0-9_\-]"


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one issuer."""

    shape: Shape
    begins: tuple[str, ...]
    rest: str = _SIGN + "{16,}"
    """What has to follow, as a pattern."""
    provider: str = ""
    """The one that they open; empty where no provider is asked with them."""
    title: str = ""


KEYS = (
    # Also as a provider quotes one, with its middle hidden.
    Keys("API key", ("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"), r"[A-Za-z0-9_*\-]{11,}[A-Za-z0-9_\-]"),
    Keys("API key", ("sk-ant-",), provider="anthropic", title="Anthropic"),
    Keys("API key", ("sk-or-",), provider="openrouter", title="OpenRouter"),
    Keys("API key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), provider="openai", title="OpenAI"),
    Keys("API key", ("AIza",), _SIGN + "{20,}", provider="gemini", title="Google"),
    Keys("API key", ("gsk_",), provider="groq", title="Groq"),
    Keys("API key", ("xai-",), provider="xai", title="xAI"),
    Keys("API key", ("hf_",), provider="huggingface", title="Hugging Face"),
    Keys("API key", ("pplx-", "ap_")),
    Keys("AWS key", ("AKIA", "ASIA"), "[A-Z0-9]{12,}", provider="bedrock", title="Amazon"),
    Keys("AWS key", ("ABSK", "bedrock-api-key-"), "[A-Za-z0-9+/=]{32,}", provider="bedrock", title="Amazon"),
    Keys("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), provider="github", title="GitHub"),
    Keys("GitHub token", ("glpat-",)),
    Keys("Slack token", ("xox",), r"[a-z]-[A-Za-z0-9\-]{8,}"),
    Keys("Slack token", ("xapp-",), r"[A-Za-z0-9\-]{8,}"),
    Keys("web token", ("eyJ",), rf"(?<![_\-]eyJ){_SIGN}{{6,}}+\.{_SIGN}{{6,}}+\.{_SIGN}*"),
)
_CONTEXTS: Mapping[Shape, tuple[tuple[str, ...], str]] = {
    "private key": (
        ("PRIVATE KEY",),
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)"
        r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z))",
    ),
    "bearer token": (
        ("earer", "EARER"),
        r"(?i:\bbearer\s{1,3})(?P<secret>(?!\[redacted)[A-Za-z0-9._~+/\-]{12,}=*)",
    ),
    "password in an address": (
        ("://", "?", "&"),
        r"(?:://[^\s:/@\"'<>]{0,200}:(?P<secret>[^\s/@\"'<>]{1,200})(?=@)"
        r"|(?i:[?&](?:api[_-]?key|key|token|access_token|password|secret)=)(?P<query>(?!\[redacted)[^&\s\"'<>#]{6,}))",
    ),
}
"""What is a secret by what stands around it: what stands in every such text, and the pattern."""


def _issued(shape: Shape) -> tuple[tuple[str, ...], str]:
    keys = [one for one in KEYS if one.shape == shape]
    ways = "|".join(f"(?:{'|'.join(map(re.escape, one.begins))}){one.rest}" for one in keys)
    return tuple(begin for one in keys for begin in one.begins), f"(?<![A-Za-z0-9])(?P<secret>{ways})"


_PATTERNS = {
    shape: (marks, re.compile(pattern))
    for shape in SHAPES
    for marks, pattern in [_CONTEXTS[shape] if shape in _CONTEXTS else _issued(shape)]
}
_MARKS = re.compile("|".join(re.escape(mark) for marks, _ in _PATTERNS.values() for mark in marks))
"""What stands in every text that some pattern matches; a text is looked through for it once."""
LOOKED_AT = 65_536
"""Characters that are looked through at once: other threads wait for as long as that takes."""
_CUT = re.compile(r"(?<!\s)(?<![eE][aA][rR][eE][rR])\s")
"""A blank that no secret has within, nor what has to stand before one."""


def replaced(text: str, replacement: Callable[[Shape, str], str], shapes: Collection[Shape] = SHAPES) -> str:
    """The text with something in place of all that looks like a secret of these shapes."""
    if len(text) <= LOOKED_AT and _MARKS.search(text) is None:
        return text
    for shape, (marks, pattern) in _PATTERNS.items():
        if shape in shapes and any(mark in text for mark in marks):
            taken_out = partial(_in_place, shape=shape, replacement=replacement)
            pieces = (text,) if shape == "private key" else _pieces(text)
            text = "".join(pattern.sub(taken_out, piece) for piece in pieces)
    return text


def _pieces(text: str) -> Iterator[str]:
    """The text in parts, between which other threads have their turn; only a private key may be cut by one."""
    start = 0
    while len(text) - start > LOOKED_AT and (cut := _CUT.search(text, start + LOOKED_AT)):
        yield text[start : cut.start()]
        start = cut.start()
    yield text[start:]


def looks_like_key(text: str) -> bool:
    """Whether there is a key in it, wherever it stands."""
    return any(
        _PATTERNS[shape][1].search(text) for shape in dict.fromkeys(("private key", *(one.shape for one in KEYS)))
    )


def check_owner(key: str, provider: str, title: str) -> None:
    """Raises `WorkbenchError`, which never quotes it, where the key is plainly one of another provider."""
    for keys in KEYS:
        if keys.provider not in ("", provider) and key.startswith(keys.begins):
            raise WorkbenchError(
                f"This looks like a key of {keys.title}. It was not saved and not sent to {title}: "
                f"paste the one that {title} gave you, or choose {keys.title} as the provider."
            )


def _in_place(found: re.Match[str], shape: Shape, replacement: Callable[[Shape, str], str]) -> str:
    group = found.lastgroup or "secret"
    start, end = found.start(group) - found.start(), found.end(group) - found.start()
    return f"{found[0][:start]}{replacement(shape, found[group])}{found[0][end:]}"
