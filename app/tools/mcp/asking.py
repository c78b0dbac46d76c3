"""What a server asks in the middle of a call (elicitation, sampling), put to the person."""

from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    SamplingMessage,
    TextContent,
)
from pydantic import ValidationError

from app.domain.tools import Answer, JsonSchema, Question
from app.tools.mcp.running_calls import RunningCalls
from app.tools.mcp.server_log import ServerLog

USER_REJECTED = -1
"""As the specification's example of a declined sampling request has it."""
ANSWER: JsonSchema = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer", "format": "textarea"}},
    "required": ["answer"],
}


async def elicit(params: ElicitRequestParams, server: str, calls: RunningCalls, log: ServerLog) -> ElicitResult:
    """Ask for the values of a form, or to open an address."""
    log.event(f"It asks: {params.message}")
    if isinstance(params, ElicitRequestFormParams):
        question = Question(text=params.message, asked_by=server, form=params.requested_schema)
        return _filled(await calls.ask(question), log)
    text = f"{params.message}\n\nOpen this address, do there what it asks for, and accept: {params.url}"
    answer = await calls.ask(Question(text=text, asked_by=server))
    return ElicitResult(action=answer.decision)


async def sample(
    params: CreateMessageRequestParams, server: str, calls: RunningCalls, log: ServerLog
) -> CreateMessageResult | ErrorData:
    """Ask the person to write what the server wants a model to write."""
    log.event("It asks for a text that a model would write")
    answer = await calls.ask(Question(text=_prompt(params), asked_by=server, form=ANSWER))
    written = answer.values.get("answer")
    if answer.decision != "accept" or not isinstance(written, str):
        return ErrorData(code=USER_REJECTED, message="The user declined to answer")
    return CreateMessageResult(
        role="assistant", content=TextContent(text=written), model="human", stop_reason="endTurn"
    )


def _filled(answer: Answer, log: ServerLog) -> ElicitResult:
    if answer.decision != "accept":
        return ElicitResult(action=answer.decision)
    try:
        return ElicitResult.model_validate({"action": "accept", "content": answer.values})
    except ValidationError:
        log.event("The answer holds more than plain values, which it cannot be sent")
        return ElicitResult(action="decline")


def _prompt(params: CreateMessageRequestParams) -> str:
    system = [f"(system) {params.system_prompt}"] if params.system_prompt else []
    messages = [f"({message.role}) {_text(message)}" for message in params.messages]
    return "\n\n".join(["Write the answer that a model would give to this:", *system, *messages])


def _text(message: SamplingMessage) -> str:
    return "\n".join(
        part.text if isinstance(part, TextContent) else f"[{part.type}]" for part in message.content_as_list
    )
