"""Data folders with an experiment that has ended, written through the real store: for the matrix and Quick review."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from app.domain.evals.cases import Case, CaseContent, new_cases
from app.domain.evals.experiments import Cell, CellScore, Experiment
from app.domain.evals.scorers import Exact, Judge
from app.domain.events import Entry
from app.domain.messages import ToolCall
from app.domain.provenance import AgentRef
from app.workbench import Workbench
from tests.seeds import seed_traces
from tests.traces import asked, called, finished, ran, returned, said, started, trace_of
from tests.tried import ENDS, cell, experiment

AT_ONCE = 500
JUDGE = Judge(name="judge", model="demo/agent", criteria=("It answers the question.",))


def random_rows(cases: int, columns: int, repeats: int) -> list[str]:
    """What came of each case: mostly passed, some worse, better, flaky or ended in errors."""
    random = Random(17)
    pick = lambda: "".join(random.choices("PFE", (80, 17, 3), k=repeats))  # noqa: E731  short, and only here
    rows = [" ".join([pick()] * columns) for _ in range(cases)]
    return [row if place % 3 else " ".join(pick() for _ in range(columns)) for place, row in enumerate(rows)]


def seed_experiment(folder: Path, rows: Sequence[str], *, traces: bool = True, **fields: object) -> Experiment:
    """An experiment with a row for each case, as `tests.tried` writes them; with `traces` its runs can be read."""
    return asyncio.run(seeded(folder, rows, traces=traces, **fields))


async def seeded(folder: Path, rows: Sequence[str], *, traces: bool = True, **fields: object) -> Experiment:
    planned, cases, cells = await _kept(folder, rows, **fields)
    if traces:
        await seed_traces(folder, _traces(cases, cells))
    return planned


async def _kept(folder: Path, rows: Sequence[str], **fields: object) -> tuple[Experiment, list[Case], list[Cell]]:
    workbench = Workbench.open(folder)
    try:
        dataset = await workbench.collecting.new_dataset("Sums")
        contents = [
            CaseContent(input=f"What is {n} + 10? Case {n}.", reference=n + 10, tags=("vip",) if n % 5 == 0 else ())
            for n in range(1, len(rows) + 1)
        ]
        await workbench.collecting.add_all(dataset.id, new_cases(dataset.id, contents))
        digest, cases = await workbench.collecting.snapshot(dataset.id)
        words = rows[0].split()
        said = {
            "columns": len(words),
            "repeats": len(words[0]),
            "cases": digest,
            "scorers": (Exact(name="right"), JUDGE),
        }
        planned = experiment(cases, **(said | {"dataset_id": dataset.id, "primary": "right"} | fields))
        planned = await workbench.experiments.create(planned)
        cells = list(_cells(planned, rows))
        for place in range(0, len(cells), AT_ONCE):
            await asyncio.gather(*map(workbench.cells.create, cells[place : place + AT_ONCE]))
        return planned, list(cases), cells
    finally:
        await workbench.close()


def _cells(planned: Experiment, rows: Sequence[str]) -> Iterator[Cell]:
    random = Random(18)
    for case_id, row in zip(planned.plan.case_ids, rows, strict=True):
        for column, word in enumerate(row.split()):
            for repeat, letter in enumerate(word):
                end = ENDS[letter]
                passed = end == "passed" if end in ("passed", "failed") else None
                scores = (
                    ()
                    if passed is None
                    else (_score("right", passed), _score("judge", passed or random.random() < 0.3))
                )
                yield cell(planned, case_id, column, repeat, end, scores=scores, ms=random.uniform(400, 3000),
                           cost=0.01 / (column + 1), answer="It is so." if passed else "It is not so.")  # fmt: skip


def _score(name: str, passed: bool) -> CellScore:
    return CellScore(name=name, value=float(passed), passed=passed, reason="As expected." if passed else "Not so.",
                     scorer=JUDGE.digest if name == "judge" else "")  # fmt: skip


def _traces(cases: Sequence[Case], cells: Sequence[Cell]) -> Iterator[list[Entry]]:
    inputs = {one.id: one.input for one in cases}
    for one in cells:
        agent = AgentRef(id="a1", slug="tester", name="Tester", variant=one.column + 1)
        began = started(agent=agent, session_id=f"s-{one.runs[0]}", purpose="experiment")
        call = ToolCall(call_id="c1", name="calculator", arguments={"x": 5, "y": 10 + one.column})
        steps = (called(), said("I add them.", call), returned(), *ran(call, "15"))
        last = (called("m2"), said(f"**{one.answer}** That is all."), returned("m2"), finished())
        yield trace_of(began, asked(inputs[one.case_id]), *steps, *last, run_id=one.runs[0])
