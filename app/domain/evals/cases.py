"""Datasets and their cases: what agents are tried on, and what a good answer to it is."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import count
from typing import Annotated, Self

from pydantic import Field, JsonValue, TypeAdapter, model_validator

from app.domain.evals.scorers import Check, Checks, Scorer
from app.domain.messages import Attachment, Message
from app.domain.values import Text, Value, new_id, now

LONGEST_NAME = 80  # characters
MOST_CASES = 10_000
"""Of one dataset."""
MOST_TURNS = 20
"""Messages of the user in one case."""
LONGEST_INPUT = 200_000  # characters
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_TAG = re.compile(r"\s+")


class ExpectedCall(Value):
    """A call of a tool that a good answer makes."""

    name: str
    arguments: dict[str, JsonValue] | None = None
    """`None`: whatever they are."""


class SimulatedUser(Value):
    """A model that says the user's next messages, for cases of several turns."""

    goal: Text
    """What it wants to reach, as it is told."""
    persona: Text = ""
    model: str
    most_turns: int = Field(default=5, ge=1, le=MOST_TURNS)
    """Messages of the user at most, the first one counted."""


class CaseContent(Value):
    """What a case says, wherever it is kept: what is told to the agent, and what a good answer to it is."""

    input: Text = Field(max_length=LONGEST_INPUT)
    """The first message."""
    turns: tuple[Text, ...] = ()
    """The user's messages after it, each sent when the one before is answered."""
    user: SimulatedUser | None = None
    """Says the messages after the first one, in place of `turns`."""
    data: JsonValue = None
    """Appended to the input as JSON, as the API does with a run's `data`."""
    variables: dict[str, str] = {}
    attachments: tuple[Attachment, ...] = ()
    """Of the first message; their contents are artifacts."""
    history: tuple[Message, ...] = ()
    """What was said before the first message, where the case was made in the middle of a conversation."""
    files: dict[str, str] = {}
    """The session's files before the first message: path to sha256."""
    reference: JsonValue = None
    """The answer that is expected: text, a number, or JSON; `None` where nobody said."""
    expected_calls: tuple[ExpectedCall, ...] | None = None
    """The calls of tools that are expected, in their order; `None` where nobody said."""
    checks: tuple[Check, ...] = ()
    """What is asked of answers to this case only; the dataset's scorer `checks` asks it."""
    tags: tuple[str, ...] = ()
    must_pass: bool = False
    """Whether a variant that fails it is not promoted, where the dataset guards that."""
    note: Text = ""

    @model_validator(mode="after")
    def _says_who_goes_on(self) -> Self:
        if self.user is not None and self.turns:
            raise ValueError("A case has either further messages or a simulated user, not both.")
        if len(self.turns) >= MOST_TURNS:
            raise ValueError(f"A case has at most {MOST_TURNS} messages of the user.")
        return self

    @property
    def first_message(self) -> str:
        """Its input, with its data behind it as the API puts it."""
        if self.data is None:
            return self.input
        return f"{self.input}\n\nData:\n{_JSON.dump_json(self.data).decode()}"

    @property
    def headline(self) -> str:
        """The first line of its input, or what is attached."""
        first = next((line.strip() for line in self.input.splitlines() if line.strip()), "")
        return first or ", ".join(part.name for part in self.attachments) or "(empty)"


class Case(CaseContent):
    """One thing to try an agent on. It holds all that is needed: the run it was made from may go."""

    id: str
    dataset_id: str
    run_id: str = ""
    """The run it was made from, which may be gone."""
    step: int | None = None
    """The step of that run, where it was made from one: 1 for the first."""
    record: str = ""
    """The sha256 of the recorded tool calls: entries of a trace as JSON Lines; empty where nothing is recorded."""
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None

    @property
    def content(self) -> str:
        """The sha256 of all that decides how an agent does on it and whether that is good."""
        told = self.model_copy(update={"created_at": _NEVER, "updated_at": _NEVER, "deleted_at": None, "note": ""})
        return told.digest


class Dataset(Value):
    """Cases that belong together, and how answers to them are scored."""

    id: str
    slug: str
    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    description: Text = ""
    scorers: tuple[Scorer, ...] = ()
    """What new experiments on it use."""
    primary: str = ""
    """The name of the scorer that decides; empty for the first one."""
    version: int = 1
    """Goes up with every change of what is in it; experiments name the one they ran."""
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None

    @property
    def deciding(self) -> Scorer | None:
        """The scorer that decides; `None` where there is none."""
        return self.decided_by("")

    def decided_by(self, primary: str) -> Scorer | None:
        """The scorer of that name, the dataset's own choice for none; `None` where there is none such."""
        name = primary or self.primary
        return next((one for one in self.scorers if one.name == name or not name), None)

    def leaves_unscored(self, case: CaseContent) -> bool:
        """Whether nothing decides how the case does: that is asked by the case itself, which asks nothing."""
        return isinstance(self.deciding, Checks) and not case.checks


class DatasetChanges(Value):
    """What is to be another way; what is not set stays."""

    name: Text = ""
    description: Text = ""
    scorers: tuple[Scorer, ...] = ()
    primary: str = ""


def new_cases(dataset_id: str, contents: Iterable[CaseContent]) -> list[Case]:
    """Cases of that dataset that say this, made in this order."""
    began = now()
    said = ({name: getattr(content, name) for name in CaseContent.model_fields} for content in contents)
    times = (began + timedelta(microseconds=place) for place in count())
    return [
        Case(**fields, id=new_id(), dataset_id=dataset_id, created_at=time, updated_at=time)
        for fields, time in zip(said, times, strict=False)
    ]


def tags_of(words: str) -> tuple[str, ...]:
    """The tags in what somebody typed, separated by commas: each once, in its first spelling."""
    found: dict[str, str] = {}
    for word in words.split(","):
        tag = _TAG.sub(" ", word).strip()
        found.setdefault(tag.casefold(), tag)
    return tuple(tag for key, tag in found.items() if key)


_NEVER = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
