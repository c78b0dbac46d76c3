"""Scorers as they are asked for in a form."""

from typing import get_args

import pytest

from app.domain.errors import WorkbenchError
from app.domain.evals.scorers import Contains, Scorer, Trajectory
from app.ui.evals.fields import value_of
from app.ui.evals.scorer_form import FIELDS, TYPES, scorer_of, scorer_words, shown_fields, usual

KINDS = get_args(get_args(Scorer)[0])
NEEDED = {
    "judge": {"model": "demo/agent", "criteria": ["It names the price."]},
    "pairwise": {"model": "demo/agent", "criterion": "It is kinder."},
    "python": {"name": "mine", "file": "mine.py"},
}


def test_every_type_has_words_and_fields_that_it_knows() -> None:
    assert {kind.model_fields["type"].default for kind in KINDS} == set(TYPES) == set(FIELDS)
    for kind in KINDS:
        names = {words.name for words in shown_fields(kind.model_fields["type"].default)}
        assert names <= set(kind.model_fields)


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_can_be_added_as_it_is_offered(kind: str) -> None:
    scorer = scorer_of(kind, {**usual(kind), **NEEDED.get(kind, {})})
    assert scorer.type == kind
    assert scorer_words(scorer).startswith(TYPES[kind])


def test_what_is_missing_is_named() -> None:
    with pytest.raises(WorkbenchError, match="Criteria: "):
        scorer_of("judge", {"model": "demo/agent"})


@pytest.mark.parametrize(
    ("typed", "number"),
    [("1,000", 1000), ("2,500.5", 2500.5), ("1,5", 1.5), ("0,125", 0.125), (" 30 ", 30), ("-3", -3)],
)
def test_a_number_is_taken_as_people_write_it(typed: str, number: float) -> None:
    assert value_of("number", typed, "Seconds at most") == number


@pytest.mark.parametrize("typed", ["inf", "nan", "1e400", "5 %", "1,50,0", "soon"])
def test_what_is_no_number_is_named(typed: str) -> None:
    with pytest.raises(WorkbenchError, match=f"Seconds at most: {typed!r} is no number"):
        value_of("number", typed, "Seconds at most")


def test_words_say_what_was_set() -> None:
    assert scorer_words(Contains(texts=("a", "b"), mode="any")) == "The answer contains texts: any of a, b"
    assert "nothing but these" in scorer_words(Trajectory(relation="nothing_but"))
