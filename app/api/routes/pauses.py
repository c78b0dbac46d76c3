"""REST for runs that wait: decided on, gone on with."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.api.door.access import may_only, run_for
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope
from app.api.following.run_replies import triggered_by
from app.api.routes.runs import RunStands
from app.domain.events import Decision
from app.domain.values import Text
from app.engine.run.live_run import LiveRun


class DecisionRequest(BaseModel):
    """`approve`, `always`, `deny` or `edit` for a tool's call, `answer` or `deny` for a question."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"decision": "approve"}, {"decision": "deny", "note": "no"}]}
    )

    decision: Decision
    arguments: dict[str, JsonValue] | None = Field(
        None,
        description="With `edit` those to call the tool with, with `answer` the values of its form; with `approve` "
        "those that the call has, so that it is refused where it has others.",
    )
    note: Annotated[Text, Field(max_length=10_000)] = Field("", description="Why, for the model to read.")


router = resource("/runs/{run_id}", "Runs")


@router.post("/pauses/{asked}")
async def decide(
    run_id: str, asked: str, body: DecisionRequest, workbench: Here, caller: Asking
) -> Envelope[RunStands]:
    """Decide on the pause of that id, or of the call of that id; with a key that may approve."""
    run_for(workbench, caller, run_id)
    may_only(caller, "approve", "decide what a run waits for")
    live = await workbench.pauses.decide(
        run_id, asked, body.decision, arguments=body.arguments, note=body.note, by=triggered_by(caller.trigger)
    )
    return Envelope(data=_going_on(live))


@router.post("/resume")
async def resume(run_id: str, workbench: Here, caller: Asking) -> Envelope[RunStands]:
    """Go on with a run that was left when the app was closed."""
    run_for(workbench, caller, run_id)
    return Envelope(data=_going_on(await workbench.chat.resume(run_id, by=triggered_by(caller.trigger))))


def _going_on(live: LiveRun) -> RunStands:
    return RunStands(run_id=live.run_id, session_id=live.started.session_id, status=live.status)
