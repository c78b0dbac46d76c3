"""Secrets planted in every way a person can give one, and the search for them in whatever spelling."""

import base64
import io
import json
import secrets
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, quote_plus

VARIABLES = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AZURE_API_KEY", "OPENROUTER_API_KEY"),
    *("GROQ_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "TOGETHER_API_KEY", "FIREWORKS_API_KEY"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "BRAVE_API_KEY", "REFERRED_TOKEN"),
)
PROXY = "HTTPS_PROXY"
WEAK = "DB_PASSWORD"
"""One that somebody may guess; all others are random."""
OTHERS = (
    *("provider key in a file", "web search key in a file", "provider key in the keyring", "key with odd signs"),
    *("MCP variable", "MCP argument", "MCP address", "MCP header", "HTTP tool header", "API key", "start token"),
)
"""The ways beside variables."""


@dataclass
class Plants:
    """Each way with its secret; the API key and the start token are the app's own and found out later."""

    values: dict[str, str] = field(
        default_factory=lambda: {way: new() for way in (*VARIABLES, PROXY, WEAK, *OTHERS[:-2])}
    )

    def __post_init__(self) -> None:
        self.values["key with odd signs"] += '/+~"\\%&='
        self.values[WEAK] = f"winter-{secrets.randbelow(90_000) + 10_000}!"

    def __getitem__(self, way: str) -> str:
        return self.values[way]

    @property
    def environment(self) -> dict[str, str]:
        """What the app is started with."""
        proxy = f"http://somebody:{self[PROXY]}@127.0.0.1:9"
        return {name: self[name] for name in (*VARIABLES, WEAK)} | {PROXY: proxy}

    def all_text(self, *, guessed: bool = True) -> str:
        """All of them, as a person might paste them; without `guessed` only those that nobody guesses."""
        return "\n".join(value for way, value in self.values.items() if guessed or way != WEAK)

    def found(self, content: bytes) -> Iterator[str]:
        """The ways whose secret is in it, in any spelling."""
        for way, value in self.values.items():
            if any(spelled in content for spelled in spellings(value)):
                yield way


def new() -> str:
    """Without any of the shapes by which keys are known."""
    return f"q{secrets.token_hex(16)}"


def spellings(value: str) -> set[bytes]:
    """As it is, as addresses and JSON in JSON write it, and in base64."""
    once = json.dumps(value)[1:-1]
    packed = base64.b64encode(value.encode()).decode()[: len(value.encode()) * 8 // 6]
    urls = packed.translate(str.maketrans("+/", "-_"))
    found = {value, once, json.dumps(once)[1:-1], quote(value, safe=""), quote(value), quote_plus(value), packed, urls}
    return {spelled.encode() for spelled in found}


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below the folder, and every file in those that are zip files."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield from unpacked(str(path.relative_to(folder)), path.read_bytes())


def unpacked(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, content
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for inner in archive.namelist():
                yield f"{name}/{inner}", archive.read(inner)
