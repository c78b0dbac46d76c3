"""E2: kill the app in the middle of experiments, start it again and resume them: each cell counts once.

50 cases × 2 columns × 3 repeats, with tools that answer from the record. No cell may be lost or counted twice, no run
be one that no cell knows or be left without an end, none be made again but those that were going on, and no tool be
called for real.
"""

import asyncio
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.domain.evals.experiments import Cell, cell_id, planned
from app.domain.trace import RunFilter
from app.store.folder.folder import DataFolder
from tests.app_process import AppProcess
from tests.faults.experimenting_app import DATASET, REPEATS, SLUG, VARIANTS
from tests.faults.run_kills import get, post
from tests.figures import Figure
from tests.waiting import wait_until

KILLS = 200
AT_ONCE = 4
_LONGEST = 0.6
"""Seconds that the app is left alone at most; a whole experiment takes some five."""


@dataclass
class Toll:
    kills: int = 0
    experiments: int = 0
    cells: int = 0
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    again: int = 0
    """Runs that were made again."""


def run(kills: int = KILLS, *, repeats: int = REPEATS) -> list[Figure]:
    toll, chance = Toll(), random.Random(11)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        appended = place / "appended.txt"
        appended.touch()
        environment = {"APPENDED": str(appended)}
        while toll.kills < kills:
            folder = place / f"data{toll.experiments}"
            one_experiment(
                AppProcess(folder, module=f"{__package__}.experimenting_app", environment=environment),
                chance,
                toll,
                kills,
                repeats,
            )
        called = len(appended.read_text().splitlines())
    for problem in (*toll.lost, *toll.twice, *toll.stuck):
        print(f"  {problem}")
    counted = f"of {toll.cells} cells, {toll.kills} kills in mid-experiment"
    most = toll.kills * AT_ONCE
    return [
        Figure("E2 cells of killed experiments: lost", f"{len(toll.lost)} {counted}", "0", not toll.lost),
        Figure("E2 cells of killed experiments: counted twice", f"{len(toll.twice)} {counted}", "0", not toll.twice),
        Figure("E2 killed experiments not brought to their end", f"{len(toll.stuck)}", "0", not toll.stuck),
        Figure("E2 runs made again", f"{toll.again}, {most} were going on at most", f"<= {most}", toll.again <= most),
        Figure("E2 tools called for real in killed experiments", f"{called}", "0", not called),
    ]


def one_experiment(app: AppProcess, chance: random.Random, toll: Toll, kills: int, repeats: int) -> None:
    """Start an experiment and kill the app again and again until all is done; then look at what came of it."""
    app.start()
    try:
        experiment = started(app, repeats)
        while not over(app, experiment):
            if toll.kills < kills:
                time.sleep(chance.random() * _LONGEST)
                if over(app, experiment):
                    break
                app.kill()
                toll.kills += 1
                app.start()
                resume(app, experiment, toll)
            elif not_over(app, experiment):
                toll.stuck.append(f"{experiment} did not end")
                break
    finally:
        app.kill()
    toll.experiments += 1
    asyncio.run(judged(app.data, experiment, toll))


def started(app: AppProcess, repeats: int) -> str:
    draft = {"dataset": DATASET, "agent": SLUG, "variants": VARIANTS, "repeats": repeats, "concurrency": AT_ONCE}
    scorers = [{"type": "contains", "texts": ["done"]}]
    reply = post(app, "experiments", {**draft, "scorers": scorers})  # type: ignore[arg-type]
    return str(reply.raise_for_status().json()["data"]["id"])


def over(app: AppProcess, experiment: str) -> bool:
    return bool(get(app, f"experiments/{experiment}").raise_for_status().json()["data"]["status"] == "completed")


def not_over(app: AppProcess, experiment: str) -> bool:
    """Whether it does not come to its end although it is left alone."""
    try:
        wait_until(lambda: over(app, experiment), seconds=120, pause=0.2)
    except AssertionError:
        return True
    return False


def resume(app: AppProcess, experiment: str, toll: Toll) -> None:
    reply = post(app, f"experiments/{experiment}/resume", {})
    if reply.status_code not in (httpx.codes.ACCEPTED, httpx.codes.CONFLICT):
        toll.stuck.append(f"{experiment}: {reply.text}")


async def judged(folder: Path, experiment_id: str, toll: Toll) -> None:
    """The cells against the plan, their runs against all that was run."""
    data = DataFolder.open(folder)
    try:
        experiment = data.experiments.get(experiment_id)
        cells = {cell.id: cell for cell in data.cells.of(experiment_id)}
        wanted = [cell_id(experiment_id, key) for key in planned(experiment.plan)]
        toll.cells += len(wanted)
        toll.lost += [
            f"{one}: {_words(cells.get(one))}" for one in wanted if one not in cells or cells[one].end != "passed"
        ]
        toll.twice += [f"{one} was not planned" for one in cells.keys() - set(wanted)]
        toll.twice += [f"{one} has {len(cell.runs)} runs" for one, cell in cells.items() if len(cell.runs) != 1]
        of_cells = Counter(run_id for cell in cells.values() for run_id in _runs(cell))
        toll.twice += [f"run {run_id} is of {times} cells" for run_id, times in of_cells.items() if times > 1]
        rows = data.rows.find(RunFilter(behind=True), limit=10 * len(wanted)).rows
        toll.lost += [f"run {row.run_id} is of no cell" for row in rows if row.run_id not in of_cells]
        toll.stuck += [f"run {row.run_id} was left" for row in rows if row.status == "running"]
        toll.again += sum(len(cell.before) for cell in cells.values())
    finally:
        await data.close()


def _words(cell: Cell | None) -> str:
    return f"{cell.end}: {cell.why}" if cell else "not begun"


def _runs(cell: Cell) -> tuple[str, ...]:
    return (*cell.runs, *cell.before)
