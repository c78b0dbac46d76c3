"""Workflows as the API takes and shows them."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Tag, ValidationError

from app.api.door.envelopes import Reply, faults_in_words, told_by
from app.api.routes.agent_bodies import Described, Named, Reason
from app.domain.agents import WORKFLOW_LIMITS, Agent, Limits, WorkflowBehaviour
from app.domain.errors import WorkbenchError
from app.domain.workflows.document import Workflow
from app.domain.workflows.references import Fault
from app.export.workflows.workflow_file import read_workflow

_DOCUMENT: dict[str, JsonValue] = {
    "nodes": [
        {"id": "question", "kind": "input", "title": "Question"},
        {"id": "answer", "kind": "output", "title": "Answer", "value": {"kind": "text", "text": "{{question.text}}"}},
    ],
    "edges": [{"source": "question", "port": "next", "target": "answer"}],
}
_NEW: dict[str, JsonValue] = {"name": "Echo", "workflow": _DOCUMENT, "limits": {"total_time": 600}}
_FAULT: dict[str, JsonValue] = {
    "node": "answer",
    "field": "value",
    "severity": "error",
    "text": "“Answer” (answer) reads “questoin”, and there is no such node. Did you mean “question”?",
}
Limit = Annotated[
    Annotated[bool, Tag("truth")] | Annotated[float, Tag("number")],
    told_by({bool: "truth", int: "number", float: "number", str: "number"}, "Send a number, true or false"),
]
Document = Annotated[
    dict[str, JsonValue],
    Field(description="`nodes` and `edges`, with places in `x` and `y` or in `positions`; or what an export holds."),
]


class WorkflowChange(BaseModel):
    """What is to be different. What is left out stays as it is."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"workflow": _DOCUMENT}]})

    name: Named | None = None
    description: Described | None = None
    workflow: Document | None = None
    limits: dict[str, Limit] | None = Field(
        None, description="Of a run: `total_time` in seconds, `run_cost`, `day_cost`, … in US dollars."
    )
    is_public: bool | None = Field(None, description="Whether it may be run on this machine without a key.")
    override: Reason = ""

    def behaviour(self, before: WorkflowBehaviour | None) -> WorkflowBehaviour:
        """What it was before, with what this names. Raises `WorkbenchError` for what is no workflow, or no limit."""
        limits = _limits(self.limits or {}, before.limits if before else WORKFLOW_LIMITS)
        if self.workflow is not None:
            return WorkflowBehaviour(workflow=read_workflow(self.workflow), limits=limits)
        return WorkflowBehaviour(workflow=before.workflow if before else Workflow(), limits=limits)

    def described(self) -> dict[str, object]:
        """What it names of the agent beside its behaviour."""
        told = {"description": self.description, "is_public": self.is_public}
        told |= {"name": self.name.strip() if self.name is not None else None}
        return {name: value for name, value in told.items() if value is not None}


class NewWorkflow(WorkflowChange):
    """A new workflow, which is an agent."""

    model_config = ConfigDict(json_schema_extra={"examples": [_NEW]})

    name: Named
    workflow: Document


class WorkflowToCheck(BaseModel):
    """A document that may have faults."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"workflow": _DOCUMENT}]})

    workflow: Document
    slug: Named = Field("", description="Of the workflow that it is to be, so that one that calls itself is found.")


class Checked(Reply):
    """What is wrong with a document."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"saves": False, "faults": [_FAULT]}]})

    saves: bool
    """Whether it can be saved as a variant: it has no errors."""
    faults: tuple[Fault, ...]
    """Errors first, then warnings, then what is checked when a value is there."""


class CheckedWorkflow(Checked):
    """A document that nobody has saved, and what is wrong with it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"workflow": _DOCUMENT, "saves": True, "faults": []}]})

    workflow: Workflow


class WorkflowOfRun(BaseModel):
    """What the workflow that is made of a run is to be called."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "Weekly report"}]})

    name: Named
    description: Described = ""


class WorkflowReply(Reply):
    """An agent whose nodes answer; /api/v1/agents shows it too, and runs it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **{"id": "h2k4m6p8r0t2v4x6", "slug": "echo", "name": "Echo", "description": "", "is_public": False},
                    **{"variant": 1, "variants": 1, "nodes": 2, "tools": [], "workflow": _DOCUMENT, "faults": []},
                    **{"limits": {"total_time": 600.0, "run_cost": 1.0}, "created_at": "2026-03-01T09:30:00Z"},
                    "updated_at": "2026-03-02T10:00:00Z",
                }
            ]
        }
    )

    id: str
    slug: str
    """Its name in addresses, which stays when it is renamed."""
    name: str
    description: str
    is_public: bool
    variant: int
    """The number of the one that is shown; the active one where none was asked for."""
    variants: int
    """How many there are."""
    nodes: int
    """How many it has."""
    workflow: Workflow | None
    """The document; null in lists."""
    faults: tuple[Fault, ...]
    """What is wrong with it today: an agent or a tool that it names may have gone since."""
    limits: Limits
    """What a run may use up. Times in seconds, money in US dollars."""
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of_agent(
        cls,
        agent: Agent,
        behaviour: WorkflowBehaviour,
        *,
        faults: tuple[Fault, ...] | None = None,
        number: int | None = None,
    ) -> Self:
        """Without `faults` as a list shows it."""
        return cls(
            **agent.model_dump(include={"id", "slug", "name", "description", "is_public", "created_at"}),
            variant=number or agent.active,
            variants=len(agent.variants),
            nodes=len(behaviour.workflow.nodes),
            workflow=None if faults is None else behaviour.workflow,
            faults=faults or (),
            limits=behaviour.limits,
            updated_at=agent.updated_at or agent.created_at,
        )


def _limits(given: dict[str, Limit], before: Limits) -> Limits:
    if unknown := sorted(set(given) - set(Limits.model_fields)):
        known = ", ".join(Limits.model_fields)
        raise WorkbenchError(f"There is no limit {unknown[0][:80]!r}. Limits: {known}.")
    try:
        return Limits.model_validate(before.model_dump() | given)
    except ValidationError as error:
        told = [dict(fault) for fault in error.errors(include_url=False, include_context=False, include_input=False)]
        raise WorkbenchError(f"These limits do not fit: {faults_in_words(told)}.") from None
