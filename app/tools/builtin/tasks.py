"""Handing work over: a task becomes a run of its own, which goes on beside the agent that asked for it."""

from pydantic import JsonValue

from app.domain.tools import CallContext, Task
from app.tools.function.tool import tool


@tool(icon="call_split", idempotent=True, cancellable=False)
async def spawn_task(task: str, context: CallContext, agent: str = "", tools: list[str] | None = None) -> str:
    """Hand a task over to a run of its own, which begins at once and goes on while you do something else.

    It knows nothing of this conversation, but has the files of this session as they are now. Returns the task's id, for
    join_task. To have several things done at the same time, hand over all of them before you join the first.

    Args:
        task: All that has to be known and done, in words that stand alone.
        agent: The slug or name of the agent that is to do it; you yourself where it is left out.
        tools: The only tools it may use; never more than you have.
    """
    wanted = None if tools is None else tuple(tools)
    return await context.spawn(Task(text=task, agent=agent, tools=wanted))


@tool(icon="call_merge", idempotent=True)
async def join_task(task_id: str, context: CallContext) -> dict[str, JsonValue]:
    """Wait until a task that was handed over has ended, and get what came of it.

    Returns its status and answer, what it cost in US dollars, and the files it has changed: these are changed here too,
    but for those under `files_kept`, which were changed here since.

    Args:
        task_id: What spawn_task returned.
    """
    end = await context.join(task_id)
    told: dict[str, JsonValue] = {"task_id": end.task_id, "status": end.status, "answer": end.answer}
    if end.error:
        told["error"] = end.error
    told["cost_usd"] = None if end.cost is None else round(end.cost, 6)
    told["files"] = list(end.files)
    if end.kept:
        told["files_kept"] = list(end.kept)
    return told
