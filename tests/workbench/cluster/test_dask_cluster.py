"""A real scheduler with two workers in processes of their own, one of which is killed with a cell in its hands."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.evals.cases import CaseContent, new_cases
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.experiments import Experiment
from app.domain.evals.scorers import Contains
from app.domain.provenance import Trigger
from app.domain.trace import RunFilter
from app.workbench import Workbench
from tests.api.over import opened
from tests.app_process import free_port
from tests.fakes.openai import SECRET, FakeOpenAI
from tests.waiting import until

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

PAGE = Trigger(kind="page")
CASES = 6
SECONDS = 40


class Holding(FakeOpenAI):
    """Answers nobody before it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived = 0
        self.answering = asyncio.Event()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.arrived += 1
        await self.answering.wait()
        return await super()._chat(request)


@dataclass
class Cluster:
    folder: Path
    keys: dict[str, str]
    """What its workers have in their environment, and this process has not."""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    port: int = field(default_factory=free_port)

    @property
    def address(self) -> str:
        file = self.folder / "scheduler.json"
        return str(json.loads(file.read_text())["address"]) if file.exists() and file.stat().st_size else ""

    def run(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        files = ("--scheduler-file", str(self.folder / "scheduler.json"))
        environment = {**os.environ, **self.keys, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", "dask", what, "--host", "127.0.0.1", "--no-dashboard", *files, *arguments]
        log = (self.folder / f"{what}-{len(self.processes)}.log").open("wb")
        self.processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.folder))
        return self.processes[-1]

    async def scheduler(self) -> None:
        (self.folder / "scheduler.json").unlink(missing_ok=True)
        self.run("scheduler", "--port", str(self.port))
        await until(lambda: self.address, seconds=SECONDS, pause=0.05)

    async def worker(self) -> subprocess.Popen[bytes]:
        name = f"worker-{len(self.processes)}"
        process = self.run("worker", "--nthreads", "1", "--no-nanny", "--name", name)
        log = self.folder / f"{name}.log"
        await until(lambda: b"Registered to" in log.read_bytes(), seconds=SECONDS, pause=0.05)
        return process

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
async def fake() -> AsyncIterator[Holding]:
    async with Holding() as fake:
        yield fake


@pytest.fixture
async def cluster(tmp_path: Path, fake: Holding) -> AsyncIterator[Cluster]:
    keys = {"OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": f"{fake.url}/v1"}
    cluster = Cluster(tmp_path, keys)
    try:
        await cluster.scheduler()
        yield cluster
    finally:
        cluster.end()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = opened(tmp_path)
    await workbench.start()
    await workbench.agents.create(new_agent("Remote", PromptBehaviour(model="openai/gpt-4o-mini"), taken_slugs=()))
    dataset = await workbench.collecting.new_dataset("Greetings")
    contents = [CaseContent(input=f"Greet number {number}") for number in range(CASES)]
    await workbench.collecting.add_all(dataset.id, new_cases(dataset.id, contents))
    yield workbench
    await workbench.close()


async def begun(bench: Workbench, cluster: Cluster) -> Experiment:
    asked = {"dataset": "greetings", "agent": "remote", "scorers": (Contains(texts=("Hello world",)),)}
    draft = ExperimentDraft.model_validate({**asked, "workers": cluster.address, "concurrency": 4})
    planned = await bench.experimenting.plan(draft, PAGE)
    if planned.pilot:
        await bench.experiments.change(planned.id, lambda one: one.model_copy(update={"pilot": False}))
    return await bench.experimenting.start(planned.id)


async def test_a_lost_workers_cells_are_made_again_and_none_counts_twice(bench, cluster, fake):
    lost, _ = await cluster.worker(), await cluster.worker()
    experiment = await begun(bench, cluster)
    await until(lambda: fake.arrived == 2, seconds=SECONDS, pause=0.05)
    lost.kill()
    fake.answering.set()
    await until(lambda: not bench.experimenting.is_live(experiment.id), seconds=SECONDS, pause=0.05)

    cells, count = await bench.experimenting.cells(experiment.id)
    assert (count, [cell.end for cell in cells]) == (CASES, ["passed"] * CASES), cells
    runs = [run_id for cell in cells for run_id in cell.runs]
    page = bench.rows.find(RunFilter(behind=True))
    assert sorted(row.run_id for row in page.rows) == sorted(runs) and len(set(runs)) == CASES
    assert fake.arrived > CASES - 1 and {head["Authorization"] for head in fake.seen.headers} == {f"Bearer {SECRET}"}
    results = await bench.experimenting.results(experiment.id)
    assert (results.columns[0].passed, results.finished) == (CASES, True)
    assert SECRET not in (await bench.exports.export(runs[0], "jsonl")).content.decode()


@pytest.mark.long
async def test_what_is_left_when_the_scheduler_goes_is_gone_on_with_later(bench, cluster, fake):
    await cluster.worker()
    experiment = await begun(bench, cluster)
    await until(lambda: fake.arrived == 1, seconds=SECONDS, pause=0.05)
    cluster.end()
    await until(lambda: not bench.experimenting.is_live(experiment.id), seconds=SECONDS, pause=0.05)
    stands = bench.experimenting.get(experiment.id)
    assert stands.status == "paused" and "Start it again, then resume" in stands.why
    cells, _ = await bench.experimenting.cells(experiment.id)
    assert {cell.end for cell in cells} <= {None}

    await cluster.scheduler()
    await cluster.worker()
    fake.answering.set()
    await bench.experimenting.resume(experiment.id)
    await until(lambda: not bench.experimenting.is_live(experiment.id), seconds=SECONDS, pause=0.05)
    cells, _ = await bench.experimenting.cells(experiment.id)
    assert [cell.end for cell in cells] == ["passed"] * CASES
