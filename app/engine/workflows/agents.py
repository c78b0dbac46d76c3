"""A node asks an agent, which may be a workflow: a run of its own, below this one."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from pydantic import JsonValue

from app.domain.errors import ToolError
from app.domain.reading.answers import unfenced
from app.domain.tools import Progress, Task, TaskEnd
from app.domain.values import json_in
from app.domain.workflows.document import AgentNode
from app.engine.run.run import Run
from app.engine.workflows.beginning import written_value
from app.engine.workflows.given import Given, NodeFailed, as_text, check

if TYPE_CHECKING:
    from app.engine.workflows.trying import Trying

VARIABLES = "variables."


async def ask_agent(trying: "Trying", node: AgentNode, inputs: Mapping[str, JsonValue]) -> Given:
    """Its answer, read as JSON where it has a schema. Raises `NodeFailed`."""
    run, call_id = trying.run, trying.inner
    if run.spawner is None:
        raise NodeFailed("Here no agent can be asked.")
    told = {name.removeprefix(VARIABLES): one for name, one in inputs.items() if name.startswith(VARIABLES)}
    task = Task(
        text=as_text(inputs["message"]),
        agent=node.agent,
        tools=node.tools,
        variant=node.variant,
        variables={name: written_value(value) for name, value in told.items()},
        seconds=node.timeout,
    )

    def progressed(progress: Progress) -> None:
        run.recorder.progress[call_id] = progress

    async with trying.walk.agents:
        try:
            child_id = await run.spawner.spawn(run.run_id, call_id, task)
            with run.working(call_id), _speaking(run, child_id, aloud=node.id in trying.walk.speakers):
                end = await run.spawner.join(run.run_id, call_id, child_id, progressed)
        except ToolError as error:
            raise NodeFailed(str(error)) from error
        except asyncio.CancelledError:
            if trying.cut_short:
                run.spawner.stop(run.run_id, call_id)
            raise
        finally:
            run.recorder.progress.pop(call_id, None)
    return await asyncio.to_thread(_given, end)


@contextmanager
def _speaking(run: Run, child_id: str, *, aloud: bool) -> Iterator[None]:
    """What the agent says is what the run says, where it is the answer."""
    spawner = run.spawner
    if not aloud or spawner is None or run.voice is not None:
        yield
        return
    run.voice = partial(spawner.draft, child_id)
    try:
        yield
    finally:
        run.voice = None


def _given(end: TaskEnd) -> Given:
    if end.status != "completed":
        words = end.error or f"It was {end.status} before its end."
        raise NodeFailed(words, failure=end.failure or "node", may_pass=end.status == "failed" and not end.changed)
    if end.gave is not None:
        return Given(end.gave[0])
    if end.output_schema is None:
        return Given(end.answer)
    try:
        answer = json_in(unfenced(end.answer))
    except (ValueError, RecursionError) as error:
        raise NodeFailed(f"Its answer is not the JSON that it should be: {error}", may_pass=not end.changed) from error
    check(end.output_schema, answer, "answered")
    return Given(answer)
