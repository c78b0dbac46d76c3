"""A node asks a person, and goes on as they decide."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.events import PauseRequested, PauseResolved
from app.domain.messages import ToolCall
from app.domain.values import new_id
from app.domain.workflows.document import APPROVED, DENIED, ApprovalNode
from app.engine.loop.asking_people import decision_on
from app.engine.workflows.given import Given, as_text, check

if TYPE_CHECKING:
    from app.engine.workflows.trying import Trying


async def ask_person(trying: "Trying", node: ApprovalNode, inputs: Mapping[str, JsonValue]) -> Given:
    """What was decided, with the values that they gave. Raises `NodeFailed` for values that do not fit."""
    shown = inputs["shown"]
    pause = PauseRequested(
        pause_id=new_id(),
        reason="question",
        call_id=trying.inner,
        arguments=shown if isinstance(shown, dict) else {},
        question=as_text(inputs["question"]),
        asked_by=trying.title,
        form=node.form,
    )
    decided = await _decision(trying, pause)
    if decided.decision == "deny":
        return Given({"decision": DENIED, "values": {}, "note": decided.note}, DENIED)
    values: dict[str, JsonValue] = decided.arguments or {}
    await asyncio.to_thread(check, node.form, values, "was answered")
    return Given({"decision": APPROVED, "values": values, "note": decided.note}, APPROVED)


async def _decision(trying: "Trying", pause: PauseRequested) -> PauseResolved:
    """The one that was left in the trace, or the one that comes."""
    left = trying.past.left(ToolCall(call_id=pause.call_id, name=""))
    if left.decided is not None and left.pause is not None and left.pause.subject == pause.subject:
        return left.decided
    return await decision_on(trying.run, pause)
