"""A trajectory of another program, as ATIF: read into the entries of a run, with a sentence for what was left out."""

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic_core import from_json

from app.domain.agents import Parameters
from app.domain.errors import TooLarge, WorkbenchError
from app.domain.events import (
    Entry,
    Event,
    FinalStatus,
    MessageAdded,
    ModelCalled,
    ModelReturned,
    Origin,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from app.domain.messages import (
    FinishReason,
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    ToolStatus,
    Usage,
)
from app.domain.provenance import AgentRef
from app.domain.tools import GrantedTool, ToolSpec
from app.domain.unpacked import values_in
from app.domain.values import is_of_a_clock, new_id, now
from app.export.atif import IMAGES, Json
from app.export.atif_models import (
    Said,
    ToldCall,
    ToldMetrics,
    ToldResult,
    ToldSource,
    ToldStep,
    ToldTrajectory,
    unknown,
)
from app.export.limits import MOST_AMOUNT
from app.export.words import file_stem, one_line

LARGEST = 32 * 1024 * 1024
"""Bytes of a document."""
MOST_VALUES = 500_000
MOST_TOLD = 20
"""Unknown fields that are named; more are counted."""
SYSTEM_INSIDE = "A step of the system in the middle is told as a message of the app."

T = TypeVar("T")
_FINAL: TypeAdapter[FinalStatus] = TypeAdapter(FinalStatus)
_ORIGIN: TypeAdapter[Origin] = TypeAdapter(Origin)
_STATUS: TypeAdapter[ToolStatus] = TypeAdapter(ToolStatus)
_FINISH: TypeAdapter[FinishReason | None] = TypeAdapter(FinishReason | None)
_PARAMETERS: TypeAdapter[Parameters] = TypeAdapter(Parameters)


class Trajectory(BaseModel):
    """What was read."""

    entries: list[Entry]
    artifacts: dict[str, bytes]
    """By sha256."""
    version: str
    notes: tuple[str, ...]
    """A sentence for each kind of thing that was left out, and what the writer noted."""


def read_atif(document: bytes, files: Mapping[str, bytes] | None = None) -> Trajectory:
    """The run that the document tells; `files` lie beside it, by their paths. Raises `WorkbenchError` in words."""
    if len(document) > LARGEST or values_in(document, MOST_VALUES) == MOST_VALUES:
        raise TooLarge(
            f"This trajectory is too large: it may have {LARGEST // 1024**2} MiB and {MOST_VALUES:,} values."
        )
    try:
        told = ToldTrajectory.model_validate(from_json(document, allow_inf_nan=False))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, fault["loc"])) or "document"
        raise WorkbenchError(f"This is no trajectory that can be read: {place}: {fault['msg']}.") from error
    except ValueError as error:
        raise WorkbenchError(f"This is no trajectory: it is not JSON ({error}).") from error
    return _Reader(told, files or {}).read()


class _Reader:
    def __init__(self, told: ToldTrajectory, files: Mapping[str, bytes]) -> None:
        self._told = told
        self._files = files
        self._artifacts: dict[str, bytes] = {}
        self._notes: dict[str, None] = {}
        """Sentences, each once."""
        self._ids: Counter[str] = Counter()
        """Of calls of tools and models, with how many wanted each."""
        self._at = next(filter(None, map(self._moment, told.steps)), None) or now()

    def read(self) -> Trajectory:
        told, run_id = self._told, new_id()
        copied = [step for step in told.steps if step.is_copied_context]
        steps = [step for step in told.steps if not step.is_copied_context]
        system = next((step for step in (*steps[:1], *copied[:1]) if step.source == "system"), None)
        first = self._started(system, [step for step in copied if step is not system])
        events: list[tuple[datetime, Event]] = [(self._at, first)]
        for step in steps:
            if step is not system:
                moment = max(self._moment(step) or events[-1][0], events[-1][0])
                events += [(moment, event) for event in self._events(step)]
        end: FinalStatus = _one(_FINAL, (told.extra or {}).get("status"), "completed")
        events.append((events[-1][0] + timedelta(milliseconds=1), RunFinished(status=end)))
        entries = [Entry(run_id=run_id, seq=seq, at=at, event=event) for seq, (at, event) in enumerate(events)]
        if told.notes:
            self._notes[f"Its writer noted: {one_line(told.notes, 500)}"] = None
        if fields := list(unknown(told, "")):
            more = f" and {len(fields) - MOST_TOLD:,} more" if len(fields) > MOST_TOLD else ""
            self._notes[f"Left out, as this app does not know it: {', '.join(fields[:MOST_TOLD])}{more}."] = None
        return Trajectory(
            entries=entries, artifacts=self._artifacts, version=told.schema_version, notes=tuple(self._notes)
        )

    def _started(self, system: ToldStep | None, before: Sequence[ToldStep]) -> RunStarted:
        agent = self._told.agent
        name = one_line(agent.name) or "Agent"
        variant = int(agent.version) if agent.version.isdecimal() and len(agent.version) < 9 else 1
        slug = (agent.extra or {}).get("slug")
        parameters = (agent.extra or {}).get("parameters")
        return RunStarted(
            session_id=new_id(),
            agent=AgentRef(id=new_id(), slug=file_stem(str(slug or name), "agent"), name=name, variant=variant),
            model=agent.model_name or "unknown/unknown",
            parameters=_one(_PARAMETERS, parameters, Parameters()),
            system=Message(role="system", parts=self._parts(system.message)) if system else None,
            tools=tuple(self._tools()),
            history=tuple(map(self._before, before)),
        )

    def _before(self, step: ToldStep) -> Message:
        if step.source == "system":
            self._notes[SYSTEM_INSIDE] = None
        return Message(role="assistant" if step.source == "agent" else "user", parts=self._parts(step.message))

    def _moment(self, step: ToldStep) -> datetime | None:
        """Without a time zone it is UTC."""
        if step.timestamp is None:
            return None
        if not is_of_a_clock(step.timestamp):
            self._notes[f"Left out: {step.timestamp.isoformat()}, which is no time of a step."] = None
            return None
        return step.timestamp if step.timestamp.tzinfo else step.timestamp.replace(tzinfo=UTC)

    def _tools(self) -> Iterator[GrantedTool]:
        for defined in self._told.agent.tool_definitions or ():
            told = defined.get("function", defined)
            try:
                yield GrantedTool(spec=ToolSpec.model_validate({"description": "", "parameters": {}, **_fields(told)}))
            except ValidationError:
                self._notes["Left out: a definition of a tool without a name."] = None

    def _events(self, step: ToldStep) -> Iterator[Event]:
        extra = step.extra or {}
        if step.source == "agent":
            yield from self._answer(step)
            return
        origin: Origin = "app" if step.source == "system" else _one(_ORIGIN, extra.get("origin"), "user")
        if step.source == "system":
            self._notes[SYSTEM_INSIDE] = None
        yield MessageAdded(message=Message(role="user", parts=self._parts(step.message)), origin=origin)
        for result in step.observation.results if step.observation else ():
            yield self._loose(result)

    def _answer(self, step: ToldStep) -> Iterator[Event]:
        call_id = self._own_id(f"step-{step.step_id}")
        model = step.model_name or self._told.agent.model_name or "unknown/unknown"
        calls = tuple(self._asked(call) for call in step.tool_calls or ())
        reasoning = (ReasoningPart(text=step.reasoning_content),) if step.reasoning_content else ()
        message = Message(role="assistant", parts=(*reasoning, *self._parts(step.message), *calls), model=model)
        asked = step.llm_call_count != 0 and not (step.extra or {}).get("copied")
        if asked:
            yield ModelCalled(call_id=call_id, model=model, parameters=Parameters(), message_count=0)
        yield MessageAdded(message=message, origin="model")
        if asked:
            yield _returned(call_id, step)
        results, loose = step.results()
        for call, given in zip(calls, results, strict=True):
            yield ToolCalled(call_id=call.call_id, name=call.name, arguments=call.arguments)
            if given:
                yield self._result(call, given)
        for result in loose:
            yield self._loose(result)

    def _asked(self, call: ToldCall) -> ToolCall:
        malformed = (call.extra or {}).get("malformed")
        return ToolCall(
            call_id=self._own_id(call.tool_call_id),
            name=call.function_name,
            arguments=call.arguments,
            malformed=malformed if isinstance(malformed, str) else None,
        )

    def _own_id(self, wanted: str) -> str:
        """That one, or where another call has it, one like it that is free."""
        free = wanted
        while free in self._ids:
            self._ids[wanted] += 1
            free = f"{wanted}-{self._ids[wanted]}"
        self._ids[free] = 1
        return free

    def _result(self, call: ToolCall, results: Sequence[ToldResult]) -> ToolReturned:
        """The first, and what the others say behind it."""
        extra = results[0].extra or {}
        status: ToolStatus = _one(_STATUS, extra.get("status"), "ok")
        parts = tuple(part for result in results for part in self._parts(result.content))
        given = ToolResult(call_id=call.call_id, name=call.name, status=status, parts=parts)
        return ToolReturned(call_id=call.call_id, result=given, ms=_amount(extra.get("ms")) or 0.0)

    def _loose(self, result: ToldResult) -> MessageAdded:
        self._notes["An observation that belongs to no tool call is told as a message of the app."] = None
        return MessageAdded(message=Message(role="user", parts=self._parts(result.content)), origin="app")

    def _parts(self, said: Said) -> tuple[TextPart | ImagePart, ...]:
        if not isinstance(said, list):
            return user_text(said or "")
        found: list[TextPart | ImagePart] = []
        for one in said:
            source = one.source or ToldSource()
            content = self._files.get(posixpath.normpath(source.path))
            if one.type == "text":
                found.append(TextPart(text=one.text or ""))
            elif one.type == "image" and content is not None and source.media_type in IMAGES:
                digest = hashlib.sha256(content).hexdigest()
                self._artifacts[digest] = content
                found.append(ImagePart(artifact=digest, media_type=source.media_type, alt=source.path))
            else:
                self._notes[f"Left out: content of the kind {one_line(one.type, 40)} that does not lie beside it."] = (
                    None
                )
                found.append(TextPart(text=f"[{one_line(one.type, 40)}: {one_line(source.path)}]"))
        return tuple(found)


def user_text(text: str) -> tuple[TextPart, ...]:
    """One part with the text, none for no text."""
    return (TextPart(text=text),) if text else ()


def _returned(call_id: str, step: ToldStep) -> ModelReturned:
    metrics = step.metrics or ToldMetrics()
    extra = metrics.extra or {}
    usage = Usage(
        input_tokens=metrics.prompt_tokens or 0,
        output_tokens=metrics.completion_tokens or 0,
        cached_tokens=metrics.cached_tokens or 0,
        cache_write_tokens=int(_amount(extra.get("cache_write_tokens")) or 0),
        reasoning_tokens=int(_amount(extra.get("reasoning_tokens")) or 0),
    )
    finish: FinishReason = "tool_calls" if step.tool_calls else "stop"
    return ModelReturned(
        call_id=call_id,
        usage=usage,
        cost=metrics.cost_usd,
        finish_reason=_one(_FINISH, (step.extra or {}).get("finish_reason"), finish),
        first_token_ms=_amount(extra.get("first_token_ms")),
        total_ms=_amount(extra.get("total_ms")) or 0.0,
    )


def _one(kind: TypeAdapter[T], said: object, otherwise: T) -> T:
    """What was said, where it is of that kind."""
    try:
        return kind.validate_python(said)
    except ValidationError:
        return otherwise


def _fields(told: JsonValue) -> Json:
    return told if isinstance(told, dict) else {}


def _amount(said: JsonValue) -> float | None:
    if not isinstance(said, (int, float)) or isinstance(said, bool):
        return None
    return float(said) if 0 <= said <= MOST_AMOUNT else None
