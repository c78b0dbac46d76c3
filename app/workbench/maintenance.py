"""What is run after each start, while the first page is shown: old runs and uploads, lost runs, plaintext secrets."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from app.domain.errors import WorkbenchError

if TYPE_CHECKING:
    from app.engine.experiments.experimenting import Experimenting
    from app.llm.attachments.provider_files import ProviderFiles
    from app.store.folder.folder import DataFolder
    from app.store.records.evals import Experiments
    from app.store.records.tables import PreferencesStore
    from app.store.runs.retention import Retention
    from app.tools.http.tools import HttpToolSource
    from app.tools.mcp.hub import McpHub

log = logging.getLogger(__name__)


async def run_maintenance(*steps: Callable[[], Awaitable[object]]) -> None:
    """One after the other, as each reads all runs or all tools; one that fails keeps no other from its turn."""
    for step in steps:
        try:
            await step()
        except Exception:
            log.exception("A part of the maintenance after a start has to wait for the next one")


async def forget_old_runs(preferences: "PreferencesStore", retention: "Callable[[], Retention]") -> None:
    """Delete what its owner wants to keep no longer; it can be brought back until the next start."""
    wanted = preferences.get()
    if not (wanted.keep_days or wanted.keep_runs):
        return
    try:
        expired = await retention().looked_through(days=wanted.keep_days, runs=wanted.keep_runs)
        await retention().remove(expired)
    except WorkbenchError as problem:
        log.warning("Old runs could not be deleted: %s", problem)


async def settle_experiments(experiments: "Experiments", experimenting: "Callable[[], Experimenting]") -> None:
    """Say of those that an app that was closed had left that they were interrupted."""
    if experiments.with_status("running"):
        await experimenting().settle()


async def forget_uploads(data: "DataFolder", at_providers: "Callable[[], ProviderFiles]") -> None:
    """Remove what programs sent and no message carried for a day, and what providers keep for deleted sessions."""
    if (data.path / "uploads").exists():
        await data.uploads.sweep()
    if data.kept_provider_files.all():
        await data.provider_keys.ready()
        await at_providers().sweep()


async def seal_secrets(data: "DataFolder", sources: "Callable[[], Iterable[McpHub | HttpToolSource]]") -> None:
    """Move to the keys what an earlier version stored in plaintext of servers and HTTP tools.

    What was written of them before is taken off the disk by whichever start finds it there, not only by this one.
    """
    if any([await _seal(source) for source in sources()]):
        await _tell_of_backups(data)
    await data.forget_past_of_tools()


async def _seal(source: "McpHub | HttpToolSource") -> bool:
    try:
        return await source.seal()
    except WorkbenchError as problem:
        log.warning("Secrets of %s stay where an earlier version stored them: %s", source.title, problem)
        return False


async def _tell_of_backups(data: "DataFolder") -> None:
    """A copy that was taken before holds in plaintext what is sealed now; it is its owner's, so it stays."""
    if taken := [backup.name for backup in await data.backups.all()]:
        log.warning(
            "Secrets of tools stood in plaintext among the data and are stored with the keys now. The backups taken "
            "before still hold them: %s. Delete those that you do not need, or give nobody a copy of them.",
            ", ".join(taken),
        )
