"""The built-in demo model: deterministic scripts that call the real tools, without a key and without a network."""

HUMAN_PACE = 1 / 70
"""Seconds for a token of its answers."""


def is_demo(name: str) -> bool:
    """Whether the name may be meant for it, as a person or an agent writes it."""
    return name.strip() == "demo" or name.strip().startswith("demo/")
