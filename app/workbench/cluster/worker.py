"""What a machine does with a cell that it was handed: it tries it as this app would, over a folder that goes again.

It runs in whatever process the cluster has for it, with the keys of that process's environment. Several go on at once.
"""

import asyncio
import platform
import tempfile
from collections.abc import Mapping
from pathlib import Path

from app import __version__
from app.domain.errors import WorkbenchError
from app.domain.evals.elsewhere import CellOrder, CellReturn, sha256
from app.domain.evals.experiments import Cell, CellKey
from app.engine.experiments.cells import new_cell
from app.engine.experiments.limiting import Slot
from app.engine.loop.granting import allowed
from app.workbench.workbench import Workbench

OTHER_APP = "The worker {worker} has version {own} of the app, and this cell is of {sent}. Install the same one there."
LACKS = "The worker {worker} has no tool {tool!r}. Install it there, or take it from the agent."
DIFFERS = "The worker {worker} has another tool {tool!r} than this app: its schema is not the same."
PACE = 0.0
"""Seconds for a token of the demo model, which nobody watches."""
FREE = Slot(lambda: None, lambda: None)


def tried(order: bytes, contents: Mapping[str, bytes]) -> tuple[bytes, list[bytes]]:
    """A `CellReturn` as JSON, and a bundle for each run of it. It takes as long as the agent does."""
    with tempfile.TemporaryDirectory(prefix="agent-playground-worker-", ignore_cleanup_errors=True) as folder:
        return asyncio.run(_tried(Path(folder), order, contents))


async def _tried(folder: Path, written: bytes, contents: Mapping[str, bytes]) -> tuple[bytes, list[bytes]]:
    order, worker = CellOrder.model_validate_json(written), platform.node()
    returned = CellReturn(secret=order.secret, order=sha256(written), worker=worker)
    if order.app != __version__:
        problem = OTHER_APP.format(worker=worker, own=__version__, sent=order.app)
        return returned.model_copy(update={"problem": problem}).model_dump_json().encode(), []
    workbench = Workbench.open(folder, demo_pace=PACE)
    try:
        cell, bundles = await _cell(workbench, order, contents, worker)
        changes = {"cell": cell, "bundles": tuple(map(sha256, bundles))}
        return returned.model_copy(update=changes).model_dump_json().encode(), bundles
    except WorkbenchError as problem:
        return returned.model_copy(update={"problem": str(problem)}).model_dump_json().encode(), []
    finally:
        await workbench.close()


async def _cell(
    workbench: Workbench, order: CellOrder, contents: Mapping[str, bytes], worker: str
) -> tuple[Cell, list[bytes]]:
    """The cell and its runs. Raises `WorkbenchError` where it cannot be tried here."""
    agent = await workbench.agents.create(order.agent)
    _check_tools(workbench, order, worker)
    for digest, content in contents.items():
        if await workbench.artifacts.put(content) != digest:
            raise WorkbenchError(f"The worker {worker} was sent a file that is not what its name says.")
    experimenting = workbench.experimenting
    key = CellKey(order.case.id, 0, order.repeat)
    experiment = order.experiment.model_copy(
        update={"plan": order.experiment.plan.model_copy(update={"agent_id": agent.id})}
    )
    begun = new_cell(experiment.id, key)
    tried = await experimenting.trying.tried(experiment, order.case, begun, FREE, stopped=lambda: False)
    cell = tried.told(tried.evidence)
    exported = [await workbench.exports.export(run_id, "bundle") for run_id in (*cell.runs, *cell.spoken)]
    return cell, [one.content for one in exported]


def _check_tools(workbench: Workbench, order: CellOrder, worker: str) -> None:
    own = {tool.spec.name: tool.spec.digest for tool in allowed(workbench.tools, order.agent.active_variant.behaviour)}
    for name, digest in order.tools.items():
        if own.get(name) != digest:
            raise WorkbenchError((DIFFERS if name in own else LACKS).format(worker=worker, tool=name))
