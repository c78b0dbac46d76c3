"""Experiments with an end, written down case by case: `"P F"` is a case that the baseline passed and another failed."""

from collections.abc import Sequence

from app.domain.evals.cases import Case
from app.domain.evals.experiments import Cell, CellEnd, CellKey, CellScore, Column, Experiment, Plan, cell_id
from app.domain.evals.scorers import Exact, Scorer
from app.domain.provenance import Trigger
from tests.cases import case
from tests.traces import BEGAN

ENDS: dict[str, CellEnd] = {"P": "passed", "F": "failed", "E": "error", "N": "not_scored", "S": "skipped"}
SCORED = ("passed", "failed")


def cases_of(count: int) -> list[Case]:
    return [case(f"Question {number}", id=f"case{number}") for number in range(1, count + 1)]


def experiment(cases: Sequence[Case], /, *, columns: int = 2, repeats: int = 1, **fields: object) -> Experiment:
    scorers: tuple[Scorer, ...] = (Exact(name="right"), Exact(name="polite"))
    said = {
        "dataset_id": "d1",
        "dataset_slug": "sums",
        "dataset_version": 1,
        "cases": "",
        "case_ids": [one.id for one in cases],
        "agent_id": "a1",
        "agent_slug": "tester",
        "columns": [Column(variant=number) for number in range(1, columns + 1)],
        "repeats": repeats,
        "scorers": scorers,
    }
    plan = Plan.model_validate(said | {name: value for name, value in fields.items() if name in Plan.model_fields})
    known = {"id": "e1", "title": "Sums", "status": "completed", "by": Trigger(kind="page")}
    known |= {"created_at": BEGAN, "updated_at": BEGAN, "plan": plan}
    return Experiment.model_validate(known | {k: v for k, v in fields.items() if k in Experiment.model_fields})


def cell(experiment: Experiment, case_id: str, column: int, repeat: int, end: CellEnd, **fields: object) -> Cell:
    key = CellKey(case_id, column, repeat)
    passed = end == "passed" if end in SCORED else None
    scores = (CellScore(name="right", value=float(passed), passed=passed),) if passed is not None else ()
    known: dict[str, object] = {
        "id": cell_id(experiment.id, key),
        "experiment_id": experiment.id,
        **key._asdict(),
        "end": end,
        "runs": (f"{case_id}-{column}-{repeat}",) if end != "skipped" else (),
        "scores": scores,
        "answer": "It is so.",
        "ms": 1000.0,
        "cost": 0.01,
    }
    return Cell.model_validate(known | fields)


def cells(experiment: Experiment, *rows: str) -> list[Cell]:
    """A row for each case: a word for each column, a letter for each repeat; `.` is not begun."""
    return [
        cell(experiment, case_id, column, repeat, ENDS[letter])
        for case_id, row in zip(experiment.plan.case_ids, rows, strict=True)
        for column, word in enumerate(row.split())
        for repeat, letter in enumerate(word)
        if letter != "."
    ]
