"""What a person has set for the whole app."""

from typing import Literal, get_args

from pydantic import Field

from app.domain.collectors import CollectorSettings
from app.domain.values import Value

Theme = Literal["light", "dark", "system"]
Mode = Literal["user", "developer"]
"""Whether schemas, raw JSON and the pages of the system are shown; the data is the same."""


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


SetupStep = Literal["begin", "choose", "ask", "tour"]


class SetupProgress(Value):
    """How far somebody came in the Setup guide, so that it is gone on with there."""

    step: SetupStep = "begin"
    provider: str = ""
    """Of the models that were chosen; empty until one was."""
    model: str = ""
    """`provider/model` that answers the first question."""
    agent: str = ""
    """The id of the agent that is asked."""
    session: str = ""
    """The id of the session that the guide began last."""
    toured: tuple[str, ...] = ()
    """The stops of the tour that were seen, by what they say."""
    offered: bool = False
    """Whether the Overview offers the guide: from the very first start until it is done or hidden."""


TourStep = Literal["offered", "choose", "add", "mend", "run", "save", "over"]
TOUR_STEPS: tuple[TourStep, ...] = get_args(TourStep)


class TourProgress(Value):
    """How far somebody came in the tour of Build."""

    step: TourStep = "offered"
    closed: bool = False


class Preferences(Value):
    theme: Theme = "system"
    mode: Mode = "developer"
    default_model: str = ""
    """What new agents ask, `provider/model` or an alias; empty for what their template says."""
    pause_sound: bool = False
    """Whether a run that begins to wait for a decision is heard."""
    day_cost: float = Field(default=10.0, ge=0)
    """US dollars that all runs of a day may cost together; 0 for no ceiling."""
    month_cost: float = Field(default=0.0, ge=0)
    """The same of a calendar month."""
    keep_days: int = Field(default=0, ge=0)
    """Days after which runs are deleted; 0 keeps them."""
    keep_runs: int = Field(default=0, ge=0)
    """How many of the newest runs are kept; 0 keeps all."""
    tool_percent: int = Field(default=10, ge=1, le=100)
    """Of a model's context that the schemas of an agent's tools may fill before they are loaded on demand."""
    attachment_mib: int = Field(default=20, ge=1, le=100)
    """MiB that one file may have which is attached to a message."""
    http_hosts: tuple[str, ...] = ()
    """The hosts that `http_get` may ask: `example.org`, `*.example.org`, or `*` for every public one."""
    web_search: WebSearch = WebSearch()
    review_criteria: tuple[str, ...] = ()
    """What a person answers with yes or no in Quick review, where no judge is asked something."""
    run_filters: tuple[SavedFilter, ...] = ()
    """By name, no two of the same one."""
    setup: SetupProgress = SetupProgress()
    samples_due: bool = False
    """Whether the very first start has samples to plant yet; one after it does so where that one was cut short."""
    tour: TourProgress = TourProgress()
    collector: CollectorSettings = CollectorSettings()
    dismissed: tuple[str, ...] = ()
    """The ids of failed jobs that the Overview shows no more, the newest at the end."""

    @property
    def largest_attachment(self) -> int:
        """Bytes of one attached file."""
        return self.attachment_mib * 1024**2
