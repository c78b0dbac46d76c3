"""REST for what there is to score with: the types of scorers, and the files of one's own."""

from typing import get_args

from pydantic import ConfigDict, JsonValue

from app.api.door.access import managers_only
from app.api.door.dependencies import Asking, Here, resource
from app.api.door.envelopes import Envelope, Reply
from app.domain.evals.scorers import NEEDS_MODEL, Scorer, ScorerBase

_FILE: dict[str, JsonValue] = {"file": "tone.py", "description": "Is it polite?", "trusted": True, "problem": None}


class ScorerType(Reply):
    """A way to score."""

    type: str
    description: str
    fields: dict[str, JsonValue]
    """JSON Schema of what it is sent as in an experiment or a dataset."""
    asks_a_model: bool
    """Whether it costs money."""


class ScorerFileReply(Reply):
    """A file in the folder `scorers` of the data folder, for scorers of the type `python`."""

    file: str
    description: str
    trusted: bool
    """Whether its owner has allowed it to run."""
    problem: str | None
    """What is wrong with its text."""


class ScorersReply(Reply):
    """What there is to score with."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"types": [], "files": [_FILE]}]})

    types: tuple[ScorerType, ...]
    files: tuple[ScorerFileReply, ...]


router = resource("/scorers", "Evals")


@router.get("")
async def list_scorers(workbench: Here, caller: Asking) -> Envelope[ScorersReply]:
    """The types of scorers with their fields, and the Python files there are; none of them is run for this."""
    managers_only(caller, "see the scorers")
    files = [
        ScorerFileReply(file=one.name, description=one.description, trusted=one.trusted, problem=one.problem or None)
        for one in await workbench.scorer_files.files()
    ]
    return Envelope(data=ScorersReply(types=scorer_types(), files=tuple(files)))


def scorer_types() -> tuple[ScorerType, ...]:
    """All there are, in the order in which they are declared."""
    kinds: tuple[type[ScorerBase], ...] = get_args(get_args(Scorer)[0])
    return tuple(_type_of(kind) for kind in kinds)


def _type_of(kind: type[ScorerBase]) -> ScorerType:
    name = str(kind.model_fields["type"].default)
    description = (kind.__doc__ or "").strip()
    return ScorerType(
        type=name, description=description, fields=kind.model_json_schema(), asks_a_model=name in NEEDS_MODEL
    )
