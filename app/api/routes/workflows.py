"""REST for workflows: the agents among all whose nodes answer, with their documents; checked, and taken along."""

import asyncio
from typing import Annotated, Literal

from fastapi import Query
from fastapi.responses import Response

from app.api.door.access import agent_for, managers_only, run_for
from app.api.door.caller import Caller
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, ListEnvelope
from app.api.following.replies import Deleted
from app.api.following.run_replies import triggered_by
from app.api.routes.agent_config import Several
from app.api.routes.agents import check_name
from app.api.routes.workflow_bodies import (
    Checked,
    CheckedWorkflow,
    NewWorkflow,
    WorkflowChange,
    WorkflowOfRun,
    WorkflowReply,
    WorkflowToCheck,
)
from app.domain.agents import Agent, WorkflowBehaviour, new_agent, with_variant
from app.domain.errors import NotFound
from app.domain.workflows.checking import errors
from app.export.workflows.mermaid import mermaid
from app.export.workflows.workflow_file import WorkflowFile, read_workflow, workflow_file
from app.workbench import Workbench

router = resource("/workflows", "Workflows")
of_runs = resource("/runs/{run_id}/workflow", "Workflows")
Number = Annotated[Several | None, Query(description="The number of a variant; without it the active one.")]


@router.get("")
async def list_workflows(workbench: Here) -> ListEnvelope[WorkflowReply]:
    """All agents that are workflows, by name, without their documents. Callers whom only some are open to find theirs
    in the list of agents."""
    found = [agent for agent in workbench.agents.all() if agent.kind == "workflow"]
    shown = [WorkflowReply.of_agent(agent, _behaviour(agent)) for agent in found]
    return ListEnvelope(data=shown, count=len(shown))


@router.post("", status_code=201)
async def create_workflow(body: NewWorkflow, workbench: Here, caller: Asking) -> Envelope[WorkflowReply]:
    """Make a workflow, which is an agent. One with errors is answered 422 with its `faults`."""
    managers_only(caller, "make agents")
    check_name(workbench, body.name)
    behaviour = await asyncio.to_thread(body.behaviour, None)
    await workbench.workflow_checks.check(behaviour)
    described, is_public = body.description or "", bool(body.is_public)
    return await _made(workbench, caller, body.name, behaviour, description=described, is_public=is_public)


@of_runs.get("")
async def get_workflow_of_run(run_id: str, workbench: Here, caller: Asking) -> Envelope[CheckedWorkflow]:
    """A document of nodes that do what the run did, and what is wrong with it. Nothing is saved."""
    run_for(workbench, caller, run_id)
    managers_only(caller, "make agents")
    document = await workbench.workflows_of_runs.workflow(run_id)
    found = await workbench.workflow_checks.faults(document)
    return Envelope(data=CheckedWorkflow(workflow=document, saves=not errors(found), faults=found))


@of_runs.post("", status_code=201)
async def make_workflow_of_run(
    run_id: str, body: WorkflowOfRun, workbench: Here, caller: Asking
) -> Envelope[WorkflowReply]:
    """Make an agent of them: its tool calls and its answer as nodes, which read what was equal to something before.

    One with errors, as where a tool has gone since, is answered 422 with its `faults`; GET shows the document.
    """
    run_for(workbench, caller, run_id)
    managers_only(caller, "make agents")
    check_name(workbench, body.name)
    behaviour = WorkflowBehaviour(workflow=await workbench.workflows_of_runs.workflow(run_id))
    await workbench.workflow_checks.check(behaviour)
    return await _made(workbench, caller, body.name, behaviour, description=body.description)


@router.post("/check")
async def check_workflow(body: WorkflowToCheck, workbench: Here, caller: Asking) -> Envelope[Checked]:
    """What is wrong with a document, errors first. Nothing is saved."""
    managers_only(caller, "check workflows")
    document = await asyncio.to_thread(read_workflow, body.workflow)
    found = await workbench.workflow_checks.faults(document, body.slug)
    return Envelope(data=Checked(saves=not errors(found), faults=found))


@router.get("/{workflow}")
async def get_workflow(
    workflow: str, workbench: Here, caller: Asking, variant: Number = None
) -> Envelope[WorkflowReply]:
    """The workflow of that slug or id, with the document of its active variant or the one asked for."""
    found = _found(workbench, caller, workflow, "read their nodes")
    return await _shown(workbench, found, variant)


@router.put("/{workflow}")
async def change_workflow(
    workflow: str, body: WorkflowChange, workbench: Here, caller: Asking
) -> Envelope[WorkflowReply]:
    """Change what the body names. Another document or other limits are saved as a variant, which becomes active.

    Where the gate holds that variant back, it is saved, not active, and the answer is 409 `gate`.
    """
    found = _found(workbench, caller, workflow, "change agents")
    if body.name is not None:
        check_name(workbench, body.name, itself=found.id)
    before = _behaviour(found)
    if (behaviour := await asyncio.to_thread(body.behaviour, before)) != before:
        await workbench.workflow_checks.check(behaviour, found.slug)

    def changed(newest: Agent) -> Agent:
        newest, current = newest.model_copy(update=body.described()), _behaviour(newest)
        # Somebody may have changed meanwhile what this leaves as it is.
        after = behaviour if current == before else body.behaviour(current)
        if after == current:
            return newest
        return with_variant(newest, after, origin=newest.active, note="Changed over the API")

    by = triggered_by(caller.trigger)
    return await _shown(workbench, await workbench.gating.keep(found.id, changed, by=by, override=body.override))


@router.delete("/{workflow}")
async def delete_workflow(workflow: str, workbench: Here, caller: Asking) -> Envelope[Deleted]:
    """Take it out of the lists. Its runs stay, and the app's Trash brings it back."""
    found = _found(workbench, caller, workflow, "delete agents")
    await workbench.agents.delete(found.id)
    return Envelope(data=Deleted(id=found.id))


@router.get("/{workflow}/export", response_class=Response)
async def export_workflow(
    workflow: str,
    workbench: Here,
    caller: Asking,
    format: Annotated[Literal["json", "mermaid"], Query()] = "json",
    variant: Number = None,
) -> Response:
    """The file that Build exports and imports, which POST and PUT take as `workflow` too; or drawn in Mermaid."""
    found = _found(workbench, caller, workflow, "read their nodes")
    document = _behaviour(found, variant).workflow
    if format == "mermaid":
        return Response(await asyncio.to_thread(mermaid, document), media_type="text/vnd.mermaid")
    named = {"Content-Disposition": f'attachment; filename="{found.slug}.workflow.json"'}
    content = WorkflowFile(name=found.name, description=found.description, workflow=document)
    return Response(await asyncio.to_thread(workflow_file, content), media_type="application/json", headers=named)


async def _made(
    workbench: Workbench,
    caller: Caller,
    name: str,
    behaviour: WorkflowBehaviour,
    *,
    description: str = "",
    is_public: bool = False,
) -> Envelope[WorkflowReply]:
    slugs, by = workbench.agents.slugs(), triggered_by(caller.trigger)
    made = new_agent(name, behaviour, taken_slugs=slugs, description=description, created_by=by)
    return await _shown(workbench, await workbench.agents.create(made.model_copy(update={"is_public": is_public})))


def _found(workbench: Workbench, caller: Caller, named: str, wish: str) -> Agent:
    """The workflow of that slug or id. Raises `NotFound`, and `Forbidden` for whom their wish is not."""
    agent = agent_for(workbench, caller, named)
    managers_only(caller, wish)
    if agent.kind != "workflow":
        raise NotFound(f"The agent {agent.slug!r} is no workflow. GET /api/v1/agents/{agent.slug} shows it.")
    return agent


def _behaviour(agent: Agent, number: int | None = None) -> WorkflowBehaviour:
    behaviour = agent.variant(number or agent.active).behaviour
    if not isinstance(behaviour, WorkflowBehaviour):
        raise NotFound(f"Variant {number} of {agent.slug!r} is no workflow.")
    return behaviour


async def _shown(workbench: Workbench, agent: Agent, number: int | None = None) -> Envelope[WorkflowReply]:
    behaviour = _behaviour(agent, number)
    found = await workbench.workflow_checks.faults(behaviour.workflow, agent.slug)
    return Envelope(data=WorkflowReply.of_agent(agent, behaviour, faults=found, number=number))
