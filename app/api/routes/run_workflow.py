"""REST for running a workflow, which is given a text or an object."""

import json
from functools import cached_property
from typing import Annotated, Any, Self

from fastapi import Request, Response
from pydantic import ConfigDict, Field, JsonValue, ValidationError, model_validator

from app.api.door.access import agent_for
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, faults_in_words
from app.api.following.endings import FAILED_RUNS
from app.api.following.idempotency import SentAgain
from app.api.following.replies import RunReply
from app.api.routes.run_agent import HowToRun, RunRequest, run
from app.domain.errors import NotFound
from app.domain.values import Text
from app.domain.workflows.document import TEXT

_EXAMPLES: list[JsonValue] = [{"input": "5 + 10"}, {"input": {"text": "Sum up these orders.", "customer": "Ada"}}]
_ANSWERS: dict[int | str, dict[str, Any]] = {201: {"model": Envelope[RunReply]}, **FAILED_RUNS}

router = resource("/workflows/{workflow}/run", "Workflows")


class WorkflowRunRequest(HowToRun):
    """What a workflow is given."""

    model_config = ConfigDict(json_schema_extra={"examples": _EXAMPLES})

    input: Text | dict[Annotated[Text, Field(max_length=200)], JsonValue] = Field(
        description="Its `text`, or all fields that its input takes."
    )
    data: JsonValue = Field(None, description="The field `data`, where its input has one; else appended to the text.")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Fields may be too many, or too long."""
        try:
            _ = self.told
        except ValidationError as error:
            raise ValueError(faults_in_words(map(dict, error.errors(include_url=False)))) from None
        return self

    @cached_property
    def told(self) -> RunRequest:
        """The same as an agent is asked: the text is the message, and the other fields are variables."""
        how = {name: getattr(self, name) for name in HowToRun.model_fields}
        if isinstance(self.input, str):
            return RunRequest(input=self.input, data=self.data, **how)
        text = self.input.get(TEXT)
        if not isinstance(text, str) or not text.strip():
            return RunRequest(input=json.dumps(self.input, ensure_ascii=False), data=self.data, **how)
        fields = {name: _written(value) for name, value in self.input.items() if name != TEXT}
        return RunRequest(input=text, data=self.data, variables={**fields}, **how)


@router.post("", response_model=Envelope[RunReply], responses=_ANSWERS)
async def run_workflow(
    *,
    workflow: str,
    body: WorkflowRunRequest,
    request: Request,
    workbench: Here,
    caller: Asking,
    idempotency_key: SentAgain = None,  # noqa: ARG001  read by `idempotent`
) -> Envelope[RunReply] | Response:
    """Run a workflow. Answers as POST /agents/{agent}/run does; its `steps` are the nodes that began."""
    agent = agent_for(workbench, caller, workflow)
    if agent.kind != "workflow":
        raise NotFound(f"The agent {agent.slug!r} is no workflow. POST /api/v1/agents/{agent.slug}/run asks it.")
    return await run(workbench, caller, agent, body.told, request)


def _written(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
