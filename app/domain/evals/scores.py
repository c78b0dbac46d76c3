"""Scores: what a person, a scorer or a judge says of a run. They point at it and are no part of its trace."""

from collections.abc import Iterable
from typing import Literal

from pydantic import AwareDatetime

from app.domain.provenance import Trigger
from app.domain.values import Value, new_id, now

Source = Literal["person", "scorer", "judge"]
Rating = Literal["good", "bad"]

RATING, TAG, NOTE, VOTE = "rating", "tag", "note", "vote"
"""The names of what people say: 1 or 0, a word, a sentence, and 1 for the best answer of a round in Compare."""
AGAIN = "again: "
"""Stands before the name of what is said a second time of a run by who does not know that, so that it replaces nothing.
"""
TIE = "tie"
"""The label of the votes, 0.5 each, of all answers of a round none of which was better than the others."""
LONGEST_NOTE = 10_000
LONGEST_LABEL = 60


class Score(Value):
    id: str
    run_id: str
    source: Source = "person"
    name: str
    """What it is about: one of those above, or a scorer's."""
    value: float | None = None
    """From 0, the worst, to 1; `None` where only a label or a note is given."""
    label: str = ""
    note: str = ""
    by: Trigger
    """Who gave it."""
    at: AwareDatetime
    experiment: str = ""
    """The experiment that it is of."""

    def replaces(self, other: "Score") -> bool:
        """Whether both say the same thing of the same run, so that the later one stands; a run may have many tags."""
        said, before = (self.run_id, self.source, self.name), (other.run_id, other.source, other.name)
        same = said == before and self.experiment == other.experiment and self.by.key == other.by.key
        return same and (self.name != TAG or self.label.casefold() == other.label.casefold())


class RunMarks(Value):
    """What people said of a run, as a list shows it."""

    rating: Rating | None = None
    """The latest one."""
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    votes: int = 0


UNMARKED = RunMarks()


def given(run_id: str, name: str, by: Trigger, *, value: float | None = None, label: str = "", note: str = "") -> Score:
    """A new score by a person."""
    return Score(
        id=new_id(), run_id=run_id, name=name, value=value, label=label.strip(), note=note.strip(), by=by, at=now()
    )


def marks_of(scores: Iterable[Score]) -> RunMarks:
    """What people said, from the oldest score to the newest."""
    said = [score for score in scores if score.source == "person"]
    rated = [score.value for score in said if score.name == RATING and score.value is not None]
    tags = {score.label.casefold(): score.label for score in said if score.name == TAG}
    return RunMarks(
        rating=rating_of(rated[-1]) if rated else None,
        tags=tuple(tags[one] for one in sorted(tags)),
        notes=tuple(score.note for score in said if score.note),
        votes=sum(score.name == VOTE and score.label != TIE for score in said),
    )


def rating_of(value: float) -> Rating:
    return "good" if value >= 0.5 else "bad"
