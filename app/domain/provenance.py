"""Where a run comes from: whose agent it is, who started it and why, the run above it, the app that it was made in."""

import re
from datetime import datetime
from typing import Literal, Self

from app.domain.values import Text, Value

Purpose = Literal["chat", "api", "compare", "experiment", "judge", "suggestion", "simulated_user", "try", "replay"]
"""`try`: a person tries what is not saved as a variant yet; such a run counts in no figure of its agent."""
BEHIND: tuple[Purpose, ...] = ("experiment", "judge", "suggestion", "simulated_user", "try")
"""What lists and search leave out until they are asked for it: nobody talked to an agent there. Its money counts."""
PURPOSE_TITLES: dict[Purpose, str] = {
    "chat": "Chat",
    "api": "API",
    "compare": "Compare",
    "experiment": "Experiments",
    "judge": "Judges",
    "suggestion": "Suggestions",
    "simulated_user": "Simulated users",
    "try": "Tries in the editor",
    "replay": "Replays",
}
"""What runs of each are called together."""
BACKGROUND_TITLES = {True: "In the background", False: "Waited for"}
"""What runs are called together of which nobody, or somebody, waited for the end."""
WITHOUT_AGENT: tuple[Purpose, ...] = ("judge", "suggestion", "simulated_user")
"""A model alone: no agent of the person's was asked, so there is no conversation with one to go to."""

WORKING_COPY = 0
"""The number of the variant that nobody has saved yet."""


def variant_words(number: int) -> str:
    """What a variant is called: `variant 3`, or that it was none."""
    return f"variant {number}" if number != WORKING_COPY else "working copy"


class AgentRef(Value):
    """The agent and variant a run used, as they were called then."""

    id: str
    slug: str
    name: str
    variant: int

    @property
    def variant_words(self) -> str:
        """`variant 3`, or that it was none."""
        return variant_words(self.variant)

    @property
    def variant_mark(self) -> str:
        """The same where there is little room: `v3`."""
        return f"v{self.variant}" if self.variant != WORKING_COPY else self.variant_words


class Trigger(Value):
    """Who started a run: a page, the terminal, a named API key, another agent, a job, or the view of an MCP App."""

    kind: Literal["page", "terminal", "api_key", "agent", "job", "app"]
    name: str = ""
    key: str = ""
    """The id of the API key that started it, or the run above it. Empty for all others, and in old runs."""
    program: Text = ""
    """What called the API, as it says of itself in its `User-Agent`. Empty for all others, and in old runs."""
    traceparent: str = ""
    """The caller's trace and span that its run belongs below, as W3C's header names them. Empty for most."""

    @property
    def who(self) -> tuple[str, str, str]:
        """The same for all that one caller starts, whatever it calls itself."""
        return self.kind, self.name, self.key

    @property
    def is_owner(self) -> bool:
        """Whether the app's owner started it, who sends no key but its own token. Agents and views may be anybody's."""
        return self.kind not in ("api_key", "agent", "app") or (self.kind == "api_key" and not self.name)


class Parent(Value):
    """The run and the tool call that started this one."""

    run_id: str
    call_id: str
    root: str = ""
    """The first run above all; empty in old runs."""

    @classmethod
    def of(cls, run_id: str, call_id: str, *, above: "Parent | None") -> Self:
        """For a run that this call of that run starts, above which is `above`."""
        return cls(run_id=run_id, call_id=call_id, root=(above.root or above.run_id) if above else run_id)


_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")


def caller_span(traceparent: str) -> tuple[str, str] | None:
    """The trace and the span in that header; `None` for one that is to be passed over (w3.org/TR/trace-context)."""
    found = _TRACEPARENT.fullmatch(traceparent)
    if found is None or found[1] == "ff" or (found[1] == "00" and found[4]):
        return None
    return None if not (found[2].strip("0") and found[3].strip("0")) else (found[2], found[3])


class Imported(Value):
    """Where a run was made that came here as a bundle, or as a trajectory of another program."""

    run_id: str
    """Its id there."""
    app: str
    """The version of the app that exported it, or the format that it came in."""
    at: datetime
    """When it came here."""
    notes: tuple[str, ...] = ()
    """A sentence for each kind of thing of it that could not be taken in."""
