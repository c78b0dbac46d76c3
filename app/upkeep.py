"""What is put in order after each start, beside the first page: old runs, lost runs, secrets that stand in clear."""

import logging
from functools import partial
from typing import TYPE_CHECKING

from app.domain.errors import WorkbenchError
from app.engine.lost_runs import LostRuns

if TYPE_CHECKING:
    from app.tools.http_tools import HttpToolSource
    from app.tools.mcp.hub import McpHub
    from app.workbench import Workbench

log = logging.getLogger(__name__)


async def put_in_order(workbench: "Workbench") -> None:
    """One after the other, as each reads all runs or all tools; one that fails keeps no other from its turn."""
    lost_runs = LostRuns(workbench.chat, workbench.data.traces.ids, workbench.rows.knows)
    forget, seal = partial(_forget_old_runs, workbench), partial(_seal_secrets, workbench)
    for step in (workbench.removed_runs.remove, lost_runs.find, forget, seal):
        try:
            await step()
        except Exception:
            log.exception("A part of what is put in order after a start has to wait for the next one")


async def _forget_old_runs(workbench: "Workbench") -> None:
    """Delete what its owner wants to keep no longer; it can be brought back until the next start."""
    wanted = workbench.preferences.get()
    if not (wanted.keep_days or wanted.keep_runs):
        return
    try:
        expired = await workbench.retention.looked_through(days=wanted.keep_days, runs=wanted.keep_runs)
        await workbench.retention.remove(expired)
    except WorkbenchError as problem:
        log.warning("Old runs could not be deleted: %s", problem)


async def _seal_secrets(workbench: "Workbench") -> None:
    """Keep with the keys what an earlier version stored in clear of servers and HTTP tools.

    What was written of them before is taken off the disk by whichever start finds it there, not only by this one.
    """
    data, sealed = workbench.data, False
    if data.mcp_servers.all():
        sealed |= await _seal(workbench.mcp)
    if data.http_tools.all():
        sealed |= await _seal(workbench.http_tools)
    if sealed:
        await _tell_of_backups(workbench)
    await data.forget_past_of_tools()


async def _seal(source: "McpHub | HttpToolSource") -> bool:
    try:
        return await source.seal()
    except WorkbenchError as problem:
        log.warning("Secrets of %s stay where an earlier version stored them: %s", source.title, problem)
        return False


async def _tell_of_backups(workbench: "Workbench") -> None:
    """A copy that was taken before holds in clear what is sealed now; it is its owner's, so it stays."""
    if taken := [backup.name for backup in await workbench.data.backups.all()]:
        log.warning(
            "Secrets of tools stood in clear among the data and are kept with the keys now. The backups taken before "
            "still hold them: %s. Delete those that you do not need, or give nobody a copy of them.",
            ", ".join(taken),
        )
