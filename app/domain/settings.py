"""What a person has set for the whole app."""

from typing import Literal

from pydantic import Field

from app.domain.values import Value

Theme = Literal["light", "dark", "system"]


class WebSearch(Value):
    """The provider that `web_search` asks."""

    provider: Literal["off", "searxng", "brave", "tavily"] = "off"
    address: str = ""
    """Where a SearXNG of one's own answers; the others have theirs."""
    key_variable: str = ""
    """The environment variable that holds the key; the provider's usual one where empty."""


class SavedFilter(Value):
    """A filter of the list of runs that somebody keeps."""

    name: str
    address: str
    """The address of the list that shows it: `/runs?status=failed`."""


class Preferences(Value):
    theme: Theme = "system"
    pause_sound: bool = False
    """Whether a run that begins to wait for a decision is heard."""
    day_cost: float = Field(default=10.0, ge=0)
    """US dollars that all runs of a day may cost together; 0 for no ceiling."""
    http_hosts: tuple[str, ...] = ()
    """The hosts that `http_get` may ask: `example.org`, `*.example.org`, or `*` for every public one."""
    web_search: WebSearch = WebSearch()
    run_filters: tuple[SavedFilter, ...] = ()
    """By name, no two of the same one."""
