"""Begins runs for callers of the API, and waits for their answers."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from app.api.door.access import run_for, session_for
from app.api.door.caller import Caller
from app.api.following.followed import FollowedRun, waits_at
from app.api.following.live_text import WaitsBelow
from app.api.following.replies import PauseReply, pauses_of
from app.domain.agents import Agent, check_model_choice, declared_of, template_of
from app.domain.errors import NotFound, StorageError, WorkbenchError
from app.domain.events import Entry, RunStarted
from app.domain.messages import Attachment
from app.domain.prompts import variables_of
from app.domain.sessions import Session, switched
from app.domain.trace import RunRow, open_pauses
from app.engine.run.run import Run
from app.engine.runs.standing import asking
from app.engine.sessions.first_messages import begun_or_gone
from app.workbench import Workbench


def session_named(workbench: Workbench, caller: Caller, session_id: str | None, *, after: str | None) -> Session | None:
    """The session that a request goes on in, by its id or by that of a run of it; `None` where it names neither.

    Raises `NotFound` for what is not there, `WorkbenchError` for a run that is no turn of the session.
    """
    if after is None:
        return session_for(workbench, caller, session_id) if session_id is not None else None
    session = session_for(workbench, caller, session_id or run_for(workbench, caller, after).session_id)
    run_for(workbench, caller, after)
    if after not in workbench.runs.branches(session).follows:
        raise WorkbenchError(f"The run {after!r} is no turn of the session {session.id!r}.")
    return session


def runs_below(workbench: Workbench, run_id: str, entries: Sequence[Entry]) -> Sequence[RunRow]:
    """The runs whose use is told with that of this one: of a workflow those that its nodes began."""
    started = entries[0].event if entries else None
    return workbench.rows.below(run_id) if isinstance(started, RunStarted) and started.workflow else ()


def beginning_of(run_id: str, entries: Sequence[Entry]) -> RunStarted:
    """How the run began. Raises `StorageError` where that cannot be read."""
    started = entries[0].event if entries else None
    if not isinstance(started, RunStarted):
        words = f"The beginning of the run {run_id!r} cannot be read any more."
        raise StorageError(f"{words} Its page /runs/{run_id} shows what is left of it.")
    return started


LOOK_SECONDS = 0.25
"""Between looks at the runs below one."""


@asynccontextmanager
async def session_of_request(
    workbench: Workbench,
    caller: Caller,
    agent: Agent,
    session: Session | None,
    *,
    variant: int | None = None,
    model: str | None = None,
    variables: Mapping[str, str] | None = None,
) -> AsyncIterator[Session]:
    """A new session of the agent, or the one named, as the request wants it, to begin its run inside.

    A new one is gone again where no run comes of it. Raises `WorkbenchError`, `NotFound`.
    """
    if model is not None:
        await check_model(workbench, model)
    if session is None:
        check_variables(agent, variant or agent.active, variables or {})
        made = await workbench.chat.new_session(agent.id, variant, model=model, variables=variables)
        async with begun_or_gone(workbench.chat, made):
            yield made
        return
    if session.agent_id != agent.id:
        raise WorkbenchError(
            f"The session {session.id!r} is one of the agent {session.agent_slug!r}, not of {agent.slug!r}."
        )
    number = variant or (session.variant if caller.may("variants") else agent.active)
    check_model_choice(agent.variant(number).behaviour, model)
    check_variables(agent, number, variables or {})
    chosen = {"variables": {**session.variables, **(variables or {})}, "model": model or session.model}

    def change(newest: Session) -> Session:
        return switched(newest, agent, number).model_copy(update=chosen)

    yield await workbench.sessions.change(session.id, change) if variant or model or variables else session


def check_variables(agent: Agent, number: int, variables: Mapping[str, str]) -> None:
    """Raises `WorkbenchError` for a variable that the variant does not have, `NotFound` for no such variant."""
    behaviour = agent.variant(number).behaviour
    declared = (variable.name for variable in declared_of(behaviour))
    known = dict.fromkeys((*declared, *variables_of(template_of(behaviour))))
    if unknown := [name for name in variables if name not in known]:
        there_are = ", ".join(known) or "none"
        raise WorkbenchError(f"Agent {agent.name!r} has no variable {unknown[0][:80]!r}. Variables: {there_are}.")


async def begin(
    workbench: Workbench,
    caller: Caller,
    session: Session,
    text: str,
    attachments: tuple[Attachment, ...] = (),
    *,
    after: str | None = None,
    run_id: str | None = None,
) -> Run:
    """A run with the text as the session's next turn, or behind that run of it. Raises what `Chat.send` does."""
    return await workbench.chat.send(
        session.id, text, attachments, trigger=caller.trigger, purpose="api", run_id=run_id, after=after
    )


def pauses_now(workbench: Workbench, run_id: str) -> list[PauseReply]:
    """What the run waits for, itself or in runs below it, where it does nothing else."""
    return [pause for one in asking(run_id, workbench.runs.live_runs()) for pause in pauses_of(one.entries)]


def waits_below(workbench: Workbench, run_id: str) -> list[WaitsBelow]:
    """The same, but for what it waits for itself."""
    below = [one for one in asking(run_id, workbench.runs.live_runs()) if one.run_id != run_id]
    return [WaitsBelow(one.run_id, pause) for one in below for pause in open_pauses(one.entries)]


async def wait_until_idle(workbench: Workbench, live: FollowedRun) -> list[PauseReply]:
    """Return when the run has ended and is stored, or waits for a person, whom nobody at the API can ask in time.

    What it waits for then, itself or in runs below it.
    """
    idle = asyncio.ensure_future(_idle(live))
    try:
        while not idle.done():
            if asked := pauses_now(workbench, live.run_id):
                return asked
            await asyncio.wait([idle], timeout=LOOK_SECONDS)
        return list(await idle)
    finally:
        idle.cancel()


async def _idle(live: FollowedRun) -> tuple[PauseReply, ...]:
    async for entry in live.follow():
        if waits_at(live, entry):
            return pauses_of(live.entries)
    await live.ended()
    return ()


async def check_model(workbench: Workbench, model: str) -> None:
    """Raises `WorkbenchError` where no model can be behind that name."""
    try:
        await workbench.models.check(model)
    except NotFound as error:
        raise WorkbenchError(str(error)) from None
