"""A dataset as JSON Lines that another copy of the app reads back whole; each line says what it is.

The first line is `{"format": "agent-playground/dataset", "version": 1, "name", "description", "scorers", "primary"}`; a
case is a line `{"format": "agent-playground/case", "version": 1, …}` with the fields of `CaseContent`, `record` its
recorded calls as entries of a trace; the contents of its files are lines `{"format": "agent-playground/content",
"version": 1, "sha256", "base64"}`.
"""

import base64
import binascii
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.evals.cases import Case, CaseContent, Dataset
from app.domain.evals.scorers import Scorer
from app.domain.events import Entry
from app.domain.values import Value
from app.export.datasets.received import Draft, Fields, Left, Received, lines_of, rows, unfit, words
from app.export.limits import LARGEST_DATASET
from app.export.redacting import Redactor
from app.export.words import json_bytes, one_line

DATASET, CASE, CONTENT = "agent-playground/dataset", "agent-playground/case", "agent-playground/content"
VERSION = 1
_SCORER: TypeAdapter[Scorer] = TypeAdapter(Scorer)
V = TypeVar("V", bound=Value)
_OF_CASE = ("id", "run_id", "step")
"""What a program may want to know of a case, which is another one where it is read back."""


def write_cases(
    dataset: Dataset,
    cases: Iterable[Case],
    *,
    records: Mapping[str, tuple[Entry, ...]],
    artifacts: Mapping[str, bytes],
    redactor: Redactor,
) -> bytes:
    """`records`: by case; `artifacts`: the contents that cases name, by sha256. Secrets are taken out of all."""
    contents, renamed = redactor.artifacts(artifacts)
    redactor.rename(renamed)
    head = dataset.model_dump(mode="json", include={"name", "description", "scorers", "primary"})
    lines: list[Fields] = [{"format": DATASET, **head}]
    lines += ({"format": CONTENT, "sha256": digest, "base64": _packed(one)} for digest, one in contents.items())
    for case in cases:
        kept = {name for name, field in CaseContent.model_fields.items() if getattr(case, name) != field.default}
        said = case.model_dump(mode="json", include={*kept, *_OF_CASE})
        recorded = [entry.model_dump(mode="json") for entry in records.get(case.id, ())]
        lines.append({"format": CASE, **said} | ({"record": recorded} if recorded else {}))
    clean = (line if line["format"] == CONTENT else redactor.value({**line}) for line in lines)
    return b"".join(json_bytes({"version": VERSION, **_object(line)}) + b"\n" for line in clean)


def read_cases(content: bytes, name: str, *, judge: str = "") -> Received:
    """Raises `WorkbenchError` with the line that cannot be read, or that a newer app wrote."""
    draft, said, artifacts, size = Draft(judge), Received(), dict[str, bytes](), 0
    for place, told in lines_of(content, name):
        with draft.left.reading(told, place, what="a line") as line:
            match _kind(line, place):
                case "agent-playground/dataset":
                    told_scorers = rows(line.pop("scorers", None), place)
                    said.scorers = tuple(_scorer(one, place, draft.left) for one in told_scorers)
                    said.primary, said.name = words(line.pop("primary", None)), words(line.pop("name", None))
                    said.description = words(line.pop("description", None))
                case "agent-playground/content":
                    unpacked = _unpacked(line, place)
                    if (size := size + len(unpacked)) > LARGEST_DATASET:
                        raise TooLarge(f"{place}: the files in it have more than {LARGEST_DATASET // 1024**2} MiB.")
                    artifacts[hashlib.sha256(unpacked).hexdigest()] = unpacked
                case _:
                    _take(draft, line, place)
    found = draft.received()
    return replace(said, cases=found.cases, notes=found.notes, artifacts=artifacts)


def _take(draft: Draft, line: Fields, place: str) -> None:
    record = [
        _value(Entry, one, place, draft.left, "an entry of a record") for one in rows(line.pop("record", None), place)
    ]
    said = {name: line.pop(name) for name in CaseContent.model_fields if name in line}
    for name in _OF_CASE:
        line.pop(name, None)
    content = _value(CaseContent, {"input": "", **said}, place, draft.left, "a case")
    draft.add(place, dict(content), record)


def _kind(line: Fields, place: str) -> str:
    kind, version = line.pop("format", CASE), line.pop("version", VERSION)
    if kind not in (DATASET, CASE, CONTENT):
        raise WorkbenchError(f"{place}: {one_line(words(kind), 60)!r} is no format of a dataset's lines.")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise WorkbenchError(f"{place}: this line has no version number.")
    if version > VERSION:
        raise WorkbenchError(
            f"{place}: this was written by a newer Agent Playground (version {version}, this one reads up to "
            f"{VERSION}). Update the app and import it again."
        )
    return words(kind)


def _value(kind: type[V], told: JsonValue, place: str, left: Left, what: str) -> V:
    try:
        found = kind.model_validate(told)
    except ValidationError as error:
        raise unfit(place, error) from error
    for name in unread(told, found.model_dump(mode="json")):
        left.out(f"the field “{one_line(name, 60)}” of {what}")
    return found


def _scorer(told: JsonValue, place: str, left: Left) -> Scorer:
    try:
        found = _SCORER.validate_python(told)
    except ValidationError as error:
        raise unfit(place, error) from error
    for name in unread(told, found.model_dump(mode="json")):
        left.out(f"the field “{one_line(name, 60)}” of a scorer")
    return found


def unread(told: JsonValue, kept: JsonValue, within: str = "") -> Iterable[str]:
    """The names in what was told that are not in what was kept of it."""
    if isinstance(told, dict) and isinstance(kept, dict):
        for name, value in told.items():
            if name not in kept:
                yield within + name
            else:
                yield from unread(value, kept[name], f"{within}{name}.")
    elif isinstance(told, list) and isinstance(kept, list):
        for one, other in zip(told, kept, strict=False):
            yield from unread(one, other, within)


def _packed(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _unpacked(line: Fields, place: str) -> bytes:
    try:
        content = base64.b64decode(words(line.pop("base64", "")), validate=True)
    except binascii.Error as error:
        raise WorkbenchError(f"{place}: the content of a file in it is damaged.") from error
    if hashlib.sha256(content).hexdigest() != line.pop("sha256", ""):
        raise WorkbenchError(f"{place}: the content of a file in it is not what its sha256 says.")
    return content


def _object(value: JsonValue) -> Fields:
    return value if isinstance(value, dict) else {}
