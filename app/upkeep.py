"""What is put in order after each start, beside the first page: old runs, lost runs, secrets that stand in clear."""

import logging
from typing import TYPE_CHECKING

from app.domain.errors import WorkbenchError
from app.engine.lost_runs import LostRuns

if TYPE_CHECKING:
    from app.workbench import Workbench

log = logging.getLogger(__name__)


async def put_in_order(workbench: "Workbench") -> None:
    """One after the other, as each reads all runs or all tools."""
    await workbench.removed_runs.remove()
    await LostRuns(workbench.chat, workbench.data.traces.ids, workbench.rows.knows).find()
    await _forget_old_runs(workbench)
    await _seal_secrets(workbench)


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
    """Keep with the keys what an earlier version stored in clear of servers and HTTP tools."""
    data = workbench.data
    stored = ((data.mcp_servers, lambda: workbench.mcp), (data.http_tools, lambda: workbench.http_tools))
    try:
        sealed = [await source().seal() for table, source in stored if table.all()]
        if any(sealed):
            await data.forget_past()
    except WorkbenchError as problem:
        log.warning("Secrets of tools stay where an earlier version stored them: %s", problem)
