"""Which agents the list shows, as its address says it: `/agents?q=support&page=2`, `/agents?trash=1`."""

from collections.abc import Mapping, Sequence
from typing import Self
from urllib.parse import urlencode

from app.domain.agents import Agent
from app.domain.values import Value
from app.ui.elements.addresses import AGENTS

PAGE_SIZE = 24


class AgentsQuery(Value):
    """Words to look for and a page. What an address says wrongly is left out, never refused."""

    text: str = ""
    trash: bool = False
    """Show the deleted ones."""
    page: int = 1
    """Counts from 1."""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The query of an address."""
        return cls(
            text=parameters.get("q", "")[:200],
            trash=parameters.get("trash") == "1",
            page=_number(parameters.get("page", "")),
        )

    @property
    def address(self) -> str:
        """The address that says this; what is as usual is not mentioned."""
        said = {"q": self.text, "trash": "1" if self.trash else "", "page": "" if self.page == 1 else str(self.page)}
        query = urlencode({name: value for name, value in said.items() if value})
        return f"{AGENTS}?{query}" if query else AGENTS

    def fitting(self, agents: Sequence[Agent]) -> list[Agent]:
        """Those in which every word occurs: in name, slug, description or model."""
        words = self.text.casefold().split()
        return [agent for agent in agents if all(word in _text(agent) for word in words)]

    def shown(self, fitting: Sequence[Agent]) -> list[Agent]:
        """Those of this page."""
        start = (self.page - 1) * PAGE_SIZE
        return list(fitting[start : start + PAGE_SIZE])


def pages(total: int) -> int:
    """How many pages that many agents fill, one at least."""
    return max(1, -(-total // PAGE_SIZE))


def _text(agent: Agent) -> str:
    return f"{agent.name} {agent.slug} {agent.description} {agent.active_variant.behaviour.model}".casefold()


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) <= 6 and int(text) > 0 else 1
