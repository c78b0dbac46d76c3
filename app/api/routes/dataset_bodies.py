"""Datasets and cases as the API takes and shows them."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.api.door.envelopes import Reply
from app.api.door.strict_json import AsRead
from app.api.following.attaching import AttachmentRefs
from app.domain.evals.cases import LONGEST_INPUT, LONGEST_NAME, MOST_TURNS, Case, Dataset, ExpectedCall, SimulatedUser
from app.domain.evals.scorers import Check, Scorer
from app.domain.messages import Attachment, Disposition
from app.domain.values import Text

_CASE: dict[str, JsonValue] = {
    "input": "What is 12 * 7?",
    "variables": {"tone": "friendly"},
    "reference": "84",
    "expected_calls": [{"name": "calculator", "arguments": {"operation": "multiply", "x": 12, "y": 7}}],
    "checks": [{"type": "contains", "texts": ["84"]}],
    "tags": ["easy"],
    "must_pass": True,
}
_DATASET: dict[str, JsonValue] = {
    "name": "Sums",
    "description": "What the tutor is to get right.",
    "scorers": [{"type": "checks"}],
    "primary": "checks",
}
_TIMES: dict[str, JsonValue] = {"created_at": "2026-03-01T09:30:00Z", "updated_at": "2026-03-01T09:30:00Z"}
_ID = "c2k4m6p8r0t2v4x6"

Message = Annotated[Text, Field(max_length=LONGEST_INPUT)]
Words = Annotated[Text, Field(max_length=1000)]
Named = Annotated[Text, Field(min_length=1, max_length=LONGEST_NAME)]
Described = Annotated[Text, Field(max_length=10_000)]


class DatasetBody(BaseModel):
    """What a dataset is to be. What is left out stays as it is."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_DATASET]})

    name: Named | None = None
    description: Described | None = None
    scorers: Annotated[tuple[Scorer, ...], Field(max_length=20)] | None = Field(
        None, description="What new experiments on it score answers by, each under a name of its own."
    )
    primary: Words | None = Field(None, description="The name of the scorer that decides; empty for the first one.")


class NewDataset(DatasetBody):
    """A new dataset; its slug comes from its name."""

    name: Named


class DatasetReply(Reply):
    """Cases that belong together, and how answers to them are scored."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": _ID, "slug": "sums", **_DATASET, "version": 3, "cases": 12, **_TIMES}]}
    )

    id: str
    slug: str
    name: str
    description: str
    scorers: tuple[Scorer, ...]
    primary: str
    version: int
    """Goes up with every change of what is in it; an experiment names the one it ran."""
    cases: int
    """How many it has."""
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, dataset: Dataset, cases: int) -> Self:
        return cls(**{name: getattr(dataset, name) for name in set(cls.model_fields) - {"cases"}}, cases=cases)


class CaseBody(BaseModel):
    """What a case says. What is left out stays as it is, or empty in a new one."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_CASE]})

    input: Message = Field("", description="The message. A new case needs it, or an attachment.")
    turns: Annotated[tuple[Message, ...], Field(max_length=MOST_TURNS - 1)] = Field(
        (), description="The user's messages after it, each sent when the one before is answered."
    )
    user: SimulatedUser | None = Field(None, description="A model that says the messages after the first one.")
    data: AsRead = Field(None, description="Appended to the message as JSON, as with a run.")
    variables: Annotated[dict[Words, Message], Field(max_length=200)] = {}
    attachments: AttachmentRefs = []
    reference: AsRead = Field(None, description="The answer that is expected: text, a number, or JSON.")
    expected_calls: Annotated[tuple[ExpectedCall, ...], Field(max_length=500)] | None = Field(
        None, description="The calls of tools that are expected, in their order; null where that is open."
    )
    checks: Annotated[tuple[Check, ...], Field(max_length=50)] = Field(
        (), description="What is asked of answers to this case only; the dataset's scorer `checks` asks it."
    )
    tags: Annotated[tuple[Annotated[Text, Field(min_length=1, max_length=60)], ...], Field(max_length=50)] = ()
    must_pass: bool = Field(False, description="Whether it keeps a variant that fails it from being promoted.")
    note: Described = ""


class AttachedReply(Reply):
    """A file of a case."""

    sha256: str
    name: str
    media_type: str
    disposition: Disposition

    @classmethod
    def of(cls, part: Attachment) -> Self:
        return cls(sha256=part.artifact, name=part.name, media_type=part.media_type, disposition=part.disposition)


class CaseReply(Reply):
    """One thing to try an agent on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": _ID,
                    "turns": [],
                    "user": None,
                    "data": None,
                    "attachments": [],
                    "note": "",
                    "run_id": "",
                    "step": None,
                    "recorded": True,
                    "said_before": 0,
                    "files": {},
                    **_CASE,
                    **_TIMES,
                }
            ]
        }
    )

    id: str
    input: str
    turns: tuple[str, ...]
    user: SimulatedUser | None
    data: JsonValue
    variables: dict[str, str]
    attachments: tuple[AttachedReply, ...]
    reference: JsonValue
    expected_calls: tuple[ExpectedCall, ...] | None
    checks: tuple[Check, ...]
    tags: tuple[str, ...]
    must_pass: bool
    note: str
    run_id: str
    """The run it was made from, which may be gone; empty for none."""
    step: int | None
    """The step of that run, 1 for the first; null for the whole of it."""
    recorded: bool
    """Whether it holds recorded results of tools, from which they can answer in an experiment."""
    said_before: int
    """Messages of the conversation before its first one."""
    files: dict[str, str]
    """The session's files before the first message: path to sha256."""
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, case: Case) -> Self:
        made = {"attachments", "recorded", "said_before"}
        return cls(
            **{name: getattr(case, name) for name in set(cls.model_fields) - made},
            attachments=tuple(map(AttachedReply.of, case.attachments)),
            recorded=bool(case.record),
            said_before=len(case.history),
        )


class CaseOfRun(BaseModel):
    """Where a case that is made of a run goes, and how much of the run it is."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"dataset": "sums", "note": "Wrong sum"}]}
    )

    dataset: Words = Field(description="The dataset's slug.")
    step: Annotated[int, Field(ge=1)] | None = Field(None, description="Up to this step only; 1 is the first.")
    conversation: bool = Field(False, description="With the turns before it as messages of the case, up to 20.")
    note: Described = ""


class CaseFile(BaseModel):
    """What kind of file comes in."""

    format: Literal["jsonl", "csv", "promptfoo", "adk", "openai", "inspect"] = "jsonl"
    filename: Annotated[Text, Field(max_length=200, description="What errors call the file.")] = ""


class TakenInReply(Reply):
    """What came of a file."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "cases": 12,
                    "scorers": ["checks"],
                    "warnings": ["Not taken: 3 × assertions of the type javascript, as code in a file is never run."],
                }
            ]
        }
    )

    cases: int
    """How many were added."""
    scorers: tuple[str, ...]
    """The names of those that came along; one that the dataset has under that name stays as it is."""
    warnings: tuple[str, ...]
    """A sentence for each kind of thing that was not taken, and for what one has to know."""
