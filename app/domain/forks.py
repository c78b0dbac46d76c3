"""Forks: a new run that copies the beginning of another one, changed or not, and goes on by itself from there."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, JsonValue

from app.domain.events import ToolSource
from app.domain.messages import ToolStatus
from app.domain.values import Text, Value


class EditedMessage(Value):
    """Other words for a message; what is attached to it, and the calls in it, stay."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["message"] = "message"
    seq: int
    text: Annotated[Text, Field(min_length=1, max_length=200_000)]


class EditedArguments(Value):
    """Other arguments for a call that the model asked for; it is made again with them."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["arguments"] = "arguments"
    call_id: str
    arguments: dict[str, JsonValue]


class EditedResult(Value):
    """Another result for a call, which is not made."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["result"] = "result"
    call_id: str
    text: Annotated[Text, Field(max_length=200_000)]
    status: ToolStatus = "ok"


Edit = Annotated[EditedMessage | EditedArguments | EditedResult, Field(discriminator="type")]


class ToolPlan(Value):
    """What becomes of a tool's calls."""

    model_config = ConfigDict(extra="forbid")

    before: Literal["recorded", "live"] = "recorded"
    """`live`: the calls that are copied are made again."""
    after: ToolSource = ToolSource()


class ForkPlan(Value):
    """From where a run is to go on, and with what changed."""

    model_config = ConfigDict(extra="forbid")

    seq: int
    """The last entry to copy; the fork starts there, or at the nearest place before at which no call is open."""
    edits: tuple[Edit, ...] = ()
    variant: int | None = None
    """Another variant of its agent, with that one's model, prompt, tools and limits."""
    model: str | None = None
    system_prompt: Annotated[Text, Field(max_length=200_000)] | None = None
    """Another template in place of the system prompt."""
    tools: Mapping[str, ToolPlan] = {}
    """By name; what is not here is recorded before the point and live after it."""

    @property
    def sources(self) -> dict[str, ToolSource]:
        """Where results come from after the point, of the tools that are not simply live."""
        return {name: plan.after for name, plan in self.tools.items() if plan.after.mode != "live"}


class CallAgain(Value):
    """A call that is made again as soon as the fork starts."""

    call_id: str
    name: str
    arguments: dict[str, JsonValue]


class ForkCheck(Value):
    """What a fork would do, said before anything runs."""

    seq: int
    """The last entry that is copied."""
    moved: str = ""
    """Why that is not the one that was asked for."""
    reused_steps: int
    reused_calls: int
    again: tuple[CallAgain, ...] = ()
    live: tuple[str, ...] = ()
    """Tools that may be called for real."""
    side_effects: tuple[str, ...] = ()
    """Those of them that change something outside the conversation."""
    files: tuple[str, ...] = ()
    """The session's files as of that step."""
    notes: tuple[str, ...] = ()
    """What the person should know before."""
