"""REST for running a workflow, which is given a text or an object."""

import json
from typing import Annotated

from fastapi import Request, Response
from pydantic import ConfigDict, Field, JsonValue, Tag, ValidationError

from app.api.door.access import agent_for
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, faults_in_words, told_by
from app.api.door.strict_json import AsRead
from app.api.following.idempotency import SentAgain
from app.api.following.replies import RunReply
from app.api.routes.run_agent import ANSWERS, HowToRun, RunRequest, run
from app.domain.errors import NotFound, WorkbenchError
from app.domain.values import Text
from app.domain.workflows.document import TEXT

_EXAMPLES: list[JsonValue] = [{"input": "5 + 10"}, {"input": {"text": "Sum up these orders.", "customer": "Ada"}}]

router = resource("/workflows/{workflow}/run", "Workflows")


class WorkflowRunRequest(HowToRun):
    """What a workflow is given."""

    model_config = ConfigDict(json_schema_extra={"examples": _EXAMPLES})

    input: Annotated[
        Annotated[Text, Tag(TEXT)] | Annotated[dict[Annotated[Text, Field(max_length=200)], AsRead], Tag("fields")],
        told_by({str: TEXT, dict: "fields"}, "Send a text, or an object with the fields that its input takes"),
    ] = Field(description="Its `text`, or all fields that its input takes.")
    data: AsRead = Field(None, description="The field `data`, where its input has one; else appended to the text.")

    def told(self) -> RunRequest:
        """The same as an agent is asked: the text is the message, and the other fields are variables.

        Raises `WorkbenchError` where fields are too many, or too long.
        """
        try:
            return self._told()
        except ValidationError as error:
            faults = [{**fault, "loc": ("input", *fault["loc"][1:2])} for fault in error.errors(include_url=False)]
            raise WorkbenchError(f"The request does not fit: {faults_in_words(faults)}.") from None

    def _told(self) -> RunRequest:
        how = {name: getattr(self, name) for name in HowToRun.model_fields}
        if isinstance(self.input, str):
            return RunRequest(input=self.input, data=self.data, **how)
        text = self.input.get(TEXT)
        if not isinstance(text, str) or not text.strip():
            return RunRequest(input=json.dumps(self.input, ensure_ascii=False), data=self.data, **how)
        fields = {name: _written(value) for name, value in self.input.items() if name != TEXT}
        return RunRequest(input=text, data=self.data, variables={**fields}, **how)


@router.post("", response_model=Envelope[RunReply], responses=ANSWERS)
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
    return await run(workbench, caller, agent, body.told(), request)


def _written(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
