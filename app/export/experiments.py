"""What came of an experiment, cell by cell, for spreadsheets, programs and build servers; without secrets.

JSON Lines: a header `{"format": "agent-playground/experiment", "version": 1, "id", "title", "status", "plan"}`, then a
cell a line. JUnit: a suite for each column, in which an error is an error and what was not scored is skipped.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args
from xml.etree import ElementTree

from app.domain.evals.cases import Case
from app.domain.evals.experiments import Cell, CellKey, CellState, Experiment, cell_id, planned
from app.domain.evals.results import state_of
from app.domain.values import Value
from app.export.exports import Exported
from app.export.redacting import Redactor
from app.export.words import file_stem, guarded, json_bytes

V = TypeVar("V", bound=Value)
ExperimentFormat = Literal["csv", "jsonl", "junit"]
EXPERIMENT_FORMATS: tuple[ExperimentFormat, ...] = get_args(ExperimentFormat)
FORMAT, VERSION = "agent-playground/experiment", 1
_ENDINGS: Mapping[ExperimentFormat, tuple[str, str]] = {
    "csv": ("csv", "text/csv; charset=utf-8"),
    "jsonl": ("jsonl", "application/x-ndjson"),
    "junit": ("xml", "application/xml"),
}
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 may have."""
_FIXED = (
    *("case", "input", "column", "repeat", "state", "failure", "why", "answer", "cost_usd", "judge_usd", "ms"),
    *("recorded", "called", "runs"),
)


@dataclass(frozen=True)
class Written:
    """An experiment with its cells and cases, without secrets."""

    experiment: Experiment
    cells: Sequence[Cell]
    cases: Mapping[str, Case]

    def column(self, key: CellKey) -> str:
        return self.experiment.plan.columns[key.column].words

    def input(self, key: CellKey) -> str:
        case = self.cases.get(key.case_id)
        return case.input if case else ""

    def state(self, cell: Cell | None) -> CellState:
        return state_of(cell, self.experiment)


def exported_experiment(
    experiment: Experiment,
    cells: Iterable[Cell],
    cases: Mapping[str, Case],
    format: ExperimentFormat,
    *,
    secrets: Iterable[str] = (),
) -> Exported:
    """The experiment as a file; for a thread, as it may have tens of thousands of cells."""
    redactor = Redactor(experiment.id, secrets)
    clean = {case_id: _clean(case, redactor) for case_id, case in cases.items()}
    written = Written(_clean(experiment, redactor), [_clean(cell, redactor) for cell in cells], clean)
    content = {"csv": _csv, "jsonl": _json_lines, "junit": _junit}[format](written)
    ending, media_type = _ENDINGS[format]
    return Exported(f"{file_stem(written.experiment.title, 'experiment')}.{ending}", media_type, content)


def _clean(value: V, redactor: Redactor) -> V:
    return type(value).model_validate(redactor.value(value.model_dump(mode="json")))


def _csv(written: Written) -> bytes:
    file = io.StringIO()
    names = [scorer.name for scorer in written.experiment.plan.scorers]
    table = csv.writer(file)
    table.writerow([guarded(name) for name in (*_FIXED, *(f"{what}: {name}" for name in names for what in _SAID))])
    for cell in written.cells:
        table.writerow([guarded(str(value)) for value in (*_values(written, cell), *_said(cell, names))])
    return ("\ufeff" + file.getvalue()).encode()  # or Excel takes it for Latin-1


_SAID = ("score", "passed", "reason")


def _values(written: Written, cell: Cell) -> Iterator[object]:
    yield from (cell.case_id, written.input(cell.key), written.column(cell.key), cell.repeat + 1)
    yield from (written.state(cell), cell.failure or "", cell.why, cell.answer, cell.cost, cell.judged)
    yield from (round(cell.ms, 1), cell.recorded, cell.called, " ".join(cell.runs))


def _said(cell: Cell, names: Sequence[str]) -> Iterator[object]:
    for name in names:
        score = cell.score(name)
        yield from (("", "", "") if score is None else (_or_empty(score.value), _or_empty(score.passed), score.reason))


def _or_empty(value: float | bool | None) -> object:
    return "" if value is None else value


def _json_lines(written: Written) -> bytes:
    experiment = written.experiment
    header = {"format": FORMAT, "version": VERSION, "id": experiment.id, "title": experiment.title}
    header |= {"status": experiment.status, "plan": experiment.plan.model_dump(mode="json")}
    cells = (
        cell.model_dump(mode="json")
        | {"state": written.state(cell), "column_words": written.column(cell.key), "input": written.input(cell.key)}
        for cell in written.cells
    )
    return b"".join(json_bytes(line) + b"\n" for line in (header, *cells))


def _junit(written: Written) -> bytes:
    experiment, known = written.experiment, {cell.id: cell for cell in written.cells}
    root = ElementTree.Element("testsuites", name=_xml(experiment.title))
    suites = [
        ElementTree.SubElement(root, "testsuite", name=_xml(f"{place + 1}. {column.words}"))
        for place, column in enumerate(experiment.plan.columns)
    ]
    for key in planned(experiment.plan):
        _test(suites[key.column], written, key, known.get(cell_id(experiment.id, key)))
    for suite in (*suites, root):
        suite.set("tests", str(len(suite.findall(".//testcase"))))
        for counted, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(counted, str(len(suite.findall(f".//{kind}"))))
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode").encode()


def _test(suite: ElementTree.Element, written: Written, key: CellKey, cell: Cell | None) -> None:
    case = written.cases.get(key.case_id)
    name = f"{case.headline[:120] if case else ''} [{key.case_id}] ({key.repeat + 1})"
    took = f"{(cell.ms if cell else 0) / 1000:.3f}"
    dataset = written.experiment.plan.dataset_slug
    test = ElementTree.SubElement(suite, "testcase", name=_xml(name), classname=_xml(dataset), time=took)
    state = written.state(cell)
    if state == "passed":
        return
    kind = {"failed": "failure", "error": "error"}.get(state, "skipped")
    reasons = [f"{score.name}: {score.reason}" for score in cell.scores if not score.passed] if cell else []
    why = (cell.why if cell else "") or "; ".join(reasons) or state.replace("_", " ")
    told = ElementTree.SubElement(test, kind, message=_xml(why))
    if kind != "skipped" and cell is not None:
        told.set("type", cell.failure or "score")
        told.text = _xml(cell.answer)


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
