"""One secret that the app knows."""

from dataclasses import dataclass

SHORTEST = 8
"""Characters; a shorter value would be found in ordinary words."""


@dataclass(frozen=True, slots=True)
class Secret:
    value: str
    label: str
    """What people call it: `OpenAI key`."""

    @property
    def mark(self) -> str:
        """What stands in its place."""
        return f"[redacted: {_plain(self.label)}]"


def _plain(label: str) -> str:
    """Without what JSON or Markdown would write in another way."""
    return "".join(sign for sign in label if sign.isalnum() or sign in " _-.,:'")[:60]
