"""Whether a call may run: what its agent's settings say, what a person decides, and whether it had begun before."""

from dataclasses import dataclass

from app.domain.events import PauseRequested, PauseResolved
from app.domain.messages import ToolCall
from app.domain.tools import GrantedTool
from app.domain.trace import LeftCall
from app.domain.values import new_id
from app.engine.loop.asking_people import decision_on
from app.engine.loop.outcomes import Outcome
from app.engine.run.run import Run

STEERED = "This call was not run: the user sent a new message first."
INTERRUPTED = (
    "The app was closed while this call was running, and it was not run again. Its work may have been done, in part or "
    "as a whole."
)


@dataclass(frozen=True)
class Permitted:
    """A call that may run, with the arguments as decided."""

    call: ToolCall
    answer: PauseResolved | None = None
    """What was answered to the question at which an earlier start of the call was left."""


async def permitted(run: Run, left: LeftCall, tool: GrantedTool) -> Permitted | Outcome:
    """The call as it may run, or what it comes to instead. Waits for a person where one has to decide."""
    if run.control.steered and not left.begun:
        return Outcome.of("cancelled", STEERED)
    if run.only_recorded(left.call):
        return Permitted(left.call)
    if left.begun and not tool.spec.idempotent:
        return await _once_more(run, left, tool)
    asks = tool.policy == "ask" and tool.spec.name not in run.allowed
    if left.begun or not asks or left.call.malformed is not None:  # what cannot be read never runs: nobody is asked
        return Permitted(left.call)
    pause = _approval(run, left.call, tool)
    decided = await _decision(run, left, pause)
    if decided.decision == "always":
        run.allowed.add(tool.spec.name)
    return _as_decided(
        left.call, decided, denied=Outcome.of("denied", _with_note("The user denied this call", decided))
    )


async def _once_more(run: Run, left: LeftCall, tool: GrantedTool) -> Permitted | Outcome:
    """A call that had begun and may have done its work runs again only when a person says so."""
    interrupted = Outcome.of("cancelled", INTERRUPTED)
    if left.pause is not None and left.pause.reason in ("question", "oauth") and left.decided is None:
        answer = await decision_on(run, left.pause)
        if left.pause.reason == "oauth":  # the server had turned the call away: it was never carried out
            denied = Outcome.of("denied", _with_note("Nobody signed in for this call", answer))
            return _as_decided(left.call, answer, denied=denied)
        allowed = _as_decided(left.call, answer.model_copy(update={"arguments": None}), denied=interrupted)
        return Permitted(left.call, answer) if isinstance(allowed, Permitted) else allowed
    pause = _approval(run, left.call, tool).model_copy(update={"begun": True})
    decided = await _decision(run, left, pause)
    denied = Outcome.of("cancelled", _with_note(INTERRUPTED.removesuffix("."), decided))
    return _as_decided(left.call, decided, denied=denied)


async def _decision(run: Run, left: LeftCall, pause: PauseRequested) -> PauseResolved:
    """The decision on exactly this call: the one that was left in the trace, or the one that comes."""
    if left.decided is not None and left.pause is not None and left.pause.subject == pause.subject:
        return left.decided
    return await decision_on(run, pause)


def _approval(run: Run, call: ToolCall, tool: GrantedTool) -> PauseRequested:
    return PauseRequested(
        pause_id=new_id(),
        reason="approval",
        call_id=call.call_id,
        name=call.name,
        arguments=call.arguments,
        tool=run.digest_now(tool),
        label=run.toolset.label(call.name),
        asked_by=run.started.trigger.name if run.started.trigger.kind == "app" else "",
    )


def _as_decided(call: ToolCall, decided: PauseResolved, *, denied: Outcome) -> Permitted | Outcome:
    if decided.by == "steer":
        return Outcome.of("cancelled", STEERED)
    if decided.decision == "deny":
        return denied
    if decided.arguments is None or decided.arguments == call.arguments:
        return Permitted(call)
    return Permitted(call.model_copy(update={"arguments": decided.arguments, "malformed": None}))


def _with_note(words: str, decided: PauseResolved) -> str:
    """The words, and what the person noted."""
    note = decided.note.strip()
    return f"{words}: {note}" if note else f"{words}."
