"""A log of Inspect, as JSON or as the zip file `.eval`: the samples as cases, without what a model made of them.

https://inspect.aisi.org.uk/eval-logs.html
"""

import io
import re
import zipfile
from collections.abc import Iterator

from pydantic import JsonValue

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.evals.scorers import Contains
from app.domain.unpacked import check_listing
from app.export.bundle import DAMAGE
from app.export.datasets.chat import asked_in, listed, variables_of
from app.export.datasets.received import Draft, Fields, Received, parsed, rows, table, words
from app.export.limits import LARGEST_DATASET

MOST_FILES = 50_000
LARGEST_LISTING = 8 * 1024 * 1024
_SAMPLE = re.compile(r"samples/.+_epoch_(\d+)\.json")
_ATTACHED = "attachment://"


def read_cases(content: bytes, name: str, *, judge: str = "") -> Received:
    """Raises `WorkbenchError` in words for what is no log, `TooLarge` for one that holds too much."""
    draft = Draft(judge)
    for place, sample in _packed(content, name, draft) if content.startswith(b"PK") else _whole(content, name, draft):
        _take(draft, sample, place)
    if any(case.content.reference is not None or case.content.checks for case in draft.cases):
        draft.score_by(Contains())
        draft.note("The log's scorers are code: here answers are to contain the target.")
    return draft.received()


def _whole(content: bytes, name: str, draft: Draft) -> Iterator[tuple[str, JsonValue]]:
    with draft.left.reading(parsed(content, name), name, what="the log") as log:
        samples = rows(log.pop("samples", None), f"{name}, samples")
        for number, sample in enumerate(samples, start=1):
            yield f"{name}, sample {number}", sample


def _packed(content: bytes, name: str, draft: Draft) -> Iterator[tuple[str, JsonValue]]:
    """One sample in memory at a time: what it says of itself may be a lie."""
    packed, left = io.BytesIO(content), LARGEST_DATASET
    try:
        check_listing(packed, LARGEST_LISTING)
        with zipfile.ZipFile(packed) as archive:
            if len(archive.infolist()) > MOST_FILES:
                raise TooLarge(f"{name}: this log has more than {MOST_FILES:,} files in it.")
            for member in archive.infolist():
                if (found := _SAMPLE.fullmatch(member.filename)) is None:
                    draft.left.out(f"the file {member.filename} of the log")
                elif found[1] != "1":
                    draft.left.out("further epochs of a sample")
                else:
                    with archive.open(member) as file:
                        written = file.read(left + 1)
                    if (left := left - len(written)) < 0:
                        raise TooLarge(f"{name}: unpacked, this log has more than {LARGEST_DATASET // 1024**2} MiB.")
                    place = f"{name}, {member.filename}"
                    yield place, parsed(written, place)
    except DAMAGE as error:
        raise WorkbenchError(
            f"{name}: this log is damaged, or packed in a way that cannot be read: {error}."
        ) from error


def _take(draft: Draft, told: JsonValue, place: str) -> None:
    with draft.left.reading(told, place, what="a sample") as sample:
        if sample.pop("epoch", 1) != 1:
            draft.left.out("further epochs of a sample")
            sample.clear()
            return
        attached = sample.pop("attachments", None)
        asked = asked_in(_resolved(sample.pop("input", None), attached), place, draft.left)
        targets = [target for target in listed(sample.pop("target", None), place) if target]
        metadata: Fields = table(sample.pop("metadata", None) or {}, place)
        fields: dict[str, object] = {
            **asked._asdict(),
            "variables": variables_of(metadata, draft.left, what="metadata"),
            "reference": targets[0] if len(targets) == 1 else None,
            "checks": (Contains(name="target", texts=tuple(targets), mode="any"),) if len(targets) > 1 else (),
            "note": f"Sample {words(sample.pop('id', ''))}",
        }
    draft.add(place, fields)


def _resolved(told: JsonValue, attached: JsonValue) -> JsonValue:
    """With long texts in place of where they are kept in the sample."""
    if isinstance(told, str) and told.startswith(_ATTACHED) and isinstance(attached, dict):
        return attached.get(told.removeprefix(_ATTACHED), told)
    if isinstance(told, dict):
        return {name: _resolved(value, attached) for name, value in told.items()}
    return [_resolved(value, attached) for value in told] if isinstance(told, list) else told
