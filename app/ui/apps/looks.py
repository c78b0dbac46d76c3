"""Our looks under the names by which views of MCP Apps know them: all of them, or a view mixes ours with its own.

The names are those of `McpUiStyleVariableKey` in https://github.com/modelcontextprotocol/ext-apps.
"""

from collections.abc import Iterator
from functools import cache

_COLOURS = {
    "background": "primary surface, secondary raised, tertiary hover, inverse text, info accent-soft, danger bad-soft, "
    "success good-soft, warning warn-soft, disabled raised",
    "text": "primary text, secondary muted, tertiary faint, inverse page, ghost muted, info accent, danger bad, "
    "success good, warning warn, disabled faint",
    "border": "primary line-strong, secondary line, tertiary line, inverse text, info accent, danger bad-line, "
    "success good, warning warn-line, disabled line",
    "ring": "primary accent, secondary line-strong, inverse page, info accent, danger bad, success good, warning warn",
}
_PLAIN = {
    "--color-background-ghost": "transparent",
    "--color-border-ghost": "transparent",
    "--font-sans": "--font",
    "--font-mono": "--mono",
    "--font-weight-normal": "400",
    "--font-weight-medium": "500",
    "--font-weight-semibold": "600",
    "--font-weight-bold": "700",
    "--border-radius-xs": "4px",
    "--border-radius-sm": "6px",
    "--border-radius-md": "8px",
    "--border-radius-lg": "10px",
    "--border-radius-xl": "12px",
    "--border-radius-full": "9999px",
    "--border-width-regular": "1px",
    "--shadow-hairline": "0 0 0 1px rgb(0 0 0 / 8%)",
    "--shadow-sm": "0 1px 2px rgb(0 0 0 / 8%)",
    "--shadow-md": "0 3px 8px rgb(0 0 0 / 10%)",
    "--shadow-lg": "0 6px 20px rgb(0 0 0 / 12%)",
}
_SIZES = {
    "text": "xs 12 16, sm 13 18, md 14 21, lg 16 24",
    "heading": "xs 13 18, sm 14 20, md 16 22, lg 18 24, xl 20 26, 2xl 24 30, 3xl 30 36",
}
"""Pixels of a letter and of a line."""


@cache
def looks() -> dict[str, str]:
    """By the name that a view knows: a value, or the name of our own variable, which is another one in the dark."""
    return {**dict(_colours()), **_PLAIN, **dict(_sizes())}


def _colours() -> Iterator[tuple[str, str]]:
    for kind, pairs in _COLOURS.items():
        for name, ours in (pair.split() for pair in pairs.split(", ")):
            yield f"--color-{kind}-{name}", f"--{ours}"


def _sizes() -> Iterator[tuple[str, str]]:
    for kind, sizes in _SIZES.items():
        for name, letter, line in (size.split() for size in sizes.split(", ")):
            yield f"--font-{kind}-{name}-size", f"{letter}px"
            yield f"--font-{kind}-{name}-line-height", f"{line}px"
