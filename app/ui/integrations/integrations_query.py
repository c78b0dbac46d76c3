"""Which agent is called in which way, as the address says it: `/integrations?agent=assistant&with=python`."""

from collections.abc import Mapping
from typing import Self
from urllib.parse import urlencode

from app.domain.values import Value
from app.ui.elements.addresses import INTEGRATIONS


class IntegrationsQuery(Value):
    """What an address says wrongly is left out, never refused."""

    agent: str = ""
    """A slug."""
    way: str = ""
    """The name of a snippet."""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """The query of an address."""
        return cls(agent=parameters.get("agent", "")[:200], way=parameters.get("with", "")[:40])

    @property
    def address(self) -> str:
        """The address that says this."""
        query = urlencode({name: said for name, said in (("agent", self.agent), ("with", self.way)) if said})
        return f"{INTEGRATIONS}?{query}" if query else INTEGRATIONS
