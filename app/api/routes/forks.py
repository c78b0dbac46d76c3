"""REST: run on from a step of a run, and put a run through the engine again without asking anybody."""

from typing import Annotated

from fastapi import Body
from fastapi.openapi.models import Example
from pydantic import Field

from app.api.door.access import fork_for, may_only, run_for
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, Reply
from app.domain.forks.forks import ForkCheck, ForkPlan
from app.domain.forks.node_forks import NodePlan
from app.domain.forks.replays import ReplayReport

EXAMPLES = {
    "Run on from here": Example(value={"seq": 6}),
    "With another result": Example(
        value={"seq": 6, "edits": [{"type": "result", "call_id": "call_1", "text": "5 + 10 = 20"}]}
    ),
    "With another variant, and tools that answer as they did": Example(
        value={"seq": 1, "variant": 2, "tools": {"calculator": {"after": {"mode": "recorded"}}}}
    ),
}


OF_NODES = {
    "Run a node and all that comes after it": Example(value={"again": ["draft"]}),
    "Run to a node": Example(value={"to": "draft"}),
    "Run this node alone": Example(value={"again": ["draft"], "to": "draft"}),
    "With a value in place of what a node gives": Example(value={"pins": {"draft": "Another text"}}),
}


class ForkReply(Reply):
    """A fork that has begun."""

    run_id: str
    session_id: str
    reused_steps: int = Field(description="Answers of the model that were copied with all their results.")
    seq: int = Field(description="The last entry that was copied.")
    moved: str = Field(description="Why that is not the one that was asked for; empty where it is.")
    side_effects: tuple[str, ...] = Field(description="Tools that change something outside and may be called for real.")
    notes: tuple[str, ...]


class NodeForkReply(Reply):
    """A fork of a workflow's run that has begun."""

    run_id: str
    session_id: str
    kept: tuple[str, ...] = Field(description="Nodes that stand as they are recorded.")
    anew: tuple[str, ...] = Field(description="Nodes that run, where what leads to them does.")


class ReplayReply(ReplayReport):
    """What came of it."""

    cost_usd: float = Field(0.0, description="Nobody is asked, so nothing is paid.")


router = resource("/runs/{run_id}", "Runs")


@router.post("/fork", status_code=201)
async def fork_run(
    run_id: str, body: Annotated[ForkPlan, Body(openapi_examples=EXAMPLES)], workbench: Here, caller: Asking
) -> Envelope[ForkReply]:
    """Run on from one of its entries, with what is edited, in a run and a session of their own.

    An edit is another `message`, other `arguments` of a call or another `result` of one. By tool it is chosen where its
    results come from: `live`, `recorded`, `recorded_or_live` or `edited`. Tasks that the run handed over are not begun
    again: where nothing is chosen, `spawn_task` and `join_task` are then `recorded`.
    A key for certain agents that may not choose variants runs on with the active one, and changes nothing.
    """
    plan = fork_for(workbench, caller, run_id, body)
    check = await workbench.forks.check(run_id, plan)
    live = await workbench.forks.start(run_id, plan, trigger=caller.trigger)
    told = check.model_dump(include={"reused_steps", "seq", "moved", "side_effects", "notes"})
    return Envelope(data=ForkReply(run_id=live.run_id, session_id=live.started.session_id, **told))


@router.post("/fork/check")
async def check_fork(
    run_id: str, body: Annotated[ForkPlan, Body(openapi_examples=EXAMPLES)], workbench: Here, caller: Asking
) -> Envelope[ForkCheck]:
    """What such a fork would reuse, call for real and change; nothing runs."""
    return Envelope(data=await workbench.forks.check(run_id, fork_for(workbench, caller, run_id, body)))


@router.post("/nodes", status_code=201)
async def fork_nodes(
    run_id: str, body: Annotated[NodePlan, Body(openapi_examples=OF_NODES)], workbench: Here, caller: Asking
) -> Envelope[NodeForkReply]:
    """Run nodes of a workflow's run anew, in a run and a session of their own; the others stand as they are recorded.

    `again` names nodes that run anew with all that comes after them, `to` the last one that runs, `pins` values that
    stand for what nodes give, `variant` another variant, in which what differs runs anew.
    """
    run_for(workbench, caller, run_id)
    may_only(caller, "variants", "run a part of a workflow")
    live, kept = await workbench.node_forks.start(run_id, body, trigger=caller.trigger)
    ids = {"run_id": live.run_id, "session_id": live.started.session_id}
    return Envelope(data=NodeForkReply(**ids, kept=kept.kept, anew=kept.anew))


@router.post("/replay")
async def replay_run(run_id: str, workbench: Here, caller: Asking) -> Envelope[ReplayReply]:
    """Whether the run comes out the same with its recorded answers and results, or the first step that differs."""
    run_for(workbench, caller, run_id)
    report = await workbench.forks.replay(run_id)
    return Envelope(data=ReplayReply.model_validate(report.model_dump()))
