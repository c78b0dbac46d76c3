"""Material for a model to judge, between marks that nobody who wrote it can know."""

import secrets

_BEGIN, _END, _CLOSE = "<<<BEGIN ", "<<<END ", ">>>"


def fenced(name: str, content: str, *, nonce: str | None = None) -> str:
    """The content between two marks with a random number, which stands nowhere in it."""
    number = nonce or secrets.token_hex(16)
    while number in content:
        content = content.replace(number, "")
    return f"{_BEGIN}{name} {number}{_CLOSE}\n{content}\n{_END}{name} {number}{_CLOSE}"


def unfenced_parts(text: str) -> tuple[dict[str, str], str]:
    """The fenced parts that the text begins with, by name, and what stands behind the last of them."""
    parts: dict[str, str] = {}
    while text.startswith(_BEGIN):
        head, _, rest = text.removeprefix(_BEGIN).partition(f"{_CLOSE}\n")
        content, end, behind = rest.partition(f"\n{_END}{head}{_CLOSE}")
        if not end:
            break
        parts[head.partition(" ")[0]] = content
        text = behind.lstrip("\n")
    return parts, text
