"""Figures made again in a terminal: by the app where it is up, else over the data folder itself."""

import asyncio
import json
import sys
from pathlib import Path

from app.start.already_running import ask, running_app
from app.workbench import Workbench

ANSWER_SECONDS = 3600


def make_figures_again(folder: Path) -> int:
    """Tell from all traces what figures are made of, and make those anew; say how many rows were others."""
    if (running := running_app(folder)) is not None:
        answer, _ = ask(running, "/usage/again", method="POST", seconds=ANSWER_SECONDS)
        changed = int(json.loads(answer)["data"]["changed"])
    else:
        changed = asyncio.run(_here(folder))
    runs = "1 run was" if changed == 1 else f"{changed} runs were"
    sys.stdout.write(f"The figures are made again; {runs} not counted as the trace has it.\n")
    return 0


async def _here(folder: Path) -> int:
    workbench = Workbench.open(folder)
    try:
        return await workbench.told_again.all()
    finally:
        await workbench.close()
