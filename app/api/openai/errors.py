"""Errors as clients of OpenAI read them, with a status that tells whether asking again makes sense."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from fastapi.responses import JSONResponse
from pydantic import JsonValue

from app.api.door.envelopes import NOT_AGAIN, STATUS_OF_CODE, STATUS_OF_FAILURE
from app.api.door.refusals import OPENAI_KINDS, openai_error
from app.api.following.replies import error_in_words
from app.domain.errors import FailureClass, WorkbenchError
from app.domain.events import Entry
from app.domain.trace import error_of, open_pauses

CODE_OF_FAILURE: dict[FailureClass, str] = {
    "context_overflow": "context_length_exceeded",
    "safety_filter": "content_filter",
    "quota": "insufficient_quota",
    "rate_limit": "rate_limit_exceeded",
}
"""Where OpenAI has a word of its own for it."""


@dataclass(eq=False)
class OpenAiError(Exception):
    """A request that is answered with an error."""

    message: str
    _: KW_ONLY
    status: int = 400
    code: str = "invalid"
    param: str | None = None
    of_run: bool = False
    """Whether a run came to it, so that its client should not ask again by itself: the app has tried already."""

    @property
    def body(self) -> dict[str, JsonValue]:
        kind = OPENAI_KINDS.get(self.status, OPENAI_KINDS[500 if self.status >= 500 else 400])
        return openai_error(self.message, code=self.code, kind=kind, param=self.param)

    @property
    def response(self) -> JSONResponse:
        return JSONResponse(self.body, self.status, NOT_AGAIN if self.of_run else None)


def unsupported(param: str, sentence: str) -> OpenAiError:
    """The refusal of something that OpenAI has and an agent has not."""
    return OpenAiError(sentence, code="unsupported_parameter", param=param)


def of_workbench(error: WorkbenchError) -> OpenAiError:
    return OpenAiError(str(error), status=STATUS_OF_CODE.get(error.code, 400), code=error.code)


def waiting(tool: str, run_id: str) -> OpenAiError:
    """A person has to decide on the call of that tool, or to answer a question where there is none."""
    about = f"its call of {tool!r}" if tool else "its question"
    sentence = f"The agent waits for a person to decide about {about}. Decide on the page /runs/{run_id}."
    return OpenAiError(sentence, status=409, code="paused", of_run=True)


def of_run(entries: Sequence[Entry], run_id: str) -> OpenAiError:
    """Why the run has no answer."""
    if pauses := open_pauses(entries):
        return waiting(pauses[0].name, run_id)
    if (error := error_of(entries)) is None:
        sentence = f"The run was stopped before it had an answer. See the page /runs/{run_id}."
        return OpenAiError(sentence, status=STATUS_OF_FAILURE["cancelled"], code="cancelled", of_run=True)
    return OpenAiError(
        error_in_words(entries) or error.text,
        status=STATUS_OF_FAILURE[error.failure],
        code=CODE_OF_FAILURE.get(error.failure, error.failure),
        of_run=True,
    )
