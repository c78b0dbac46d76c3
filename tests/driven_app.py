"""An app whose model and tools a test drives: the real one, with others in the place of these two."""

import argparse
import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path

from app.domain.agents import Behaviour, new_agent
from app.llm.directory import ModelDirectory
from app.start.port import open_port
from app.start.serve import serve
from app.tools.function.tool import AnyTool
from app.tools.registry import Registry
from app.workbench import Workbench
from tests.parts import having


def driven(workbench: Workbench, models: ModelDirectory, tools: Sequence[AnyTool]) -> Workbench:
    """The workbench, from which nothing was asked yet, with these models and tools."""
    return having(workbench, models=models, tools=Registry(tools))


async def given_agent(workbench: Workbench, name: str, behaviour: Behaviour) -> None:
    """There is an agent of this name, which is its slug too: the one that behaves so, if there was none."""
    if name.lower() not in workbench.agents.slugs():
        await workbench.agents.create(new_agent(name, behaviour, taken_slugs=workbench.agents.slugs()))


def append_to(appended: Path, moment: float) -> Callable[[str], Coroutine[None, None, str]]:
    """What a tool does that writes lines to that file, which takes it twice so many seconds."""

    async def append(line: str) -> str:
        """Appends a line."""
        await asyncio.sleep(moment)
        with appended.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        await asyncio.sleep(moment)
        return f"appended {line}"

    return append


def serve_driven(
    drive: Callable[[Workbench], Workbench], prepare: Callable[[Workbench], Coroutine[None, None, None]]
) -> None:
    """Serve the driven workbench as the app's own command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--no-browser", action="store_true")
    chosen = parser.parse_args()
    workbench = drive(Workbench.open(chosen.data))
    asyncio.run(prepare(workbench))
    serve(workbench, open_port(chosen.port))
