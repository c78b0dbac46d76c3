"""Which cases a search for a better prompt learns from, chooses by and proves with."""

from collections import Counter

import pytest

from app.domain.evals.cases import Case, CaseContent, new_cases
from app.domain.evals.suggestions import gain, split


def cases(count: int, *tagged: str) -> list[Case]:
    """As many of each tag."""
    return new_cases("d", (CaseContent(input=f"{place}", tags=(tag,)) for tag in tagged for place in range(count)))


@pytest.mark.parametrize("count", [32, 33, 34, 35, 36, 99])
def test_each_case_is_in_one_part_and_half_of_them_are_learned_from(count: int):
    made = cases(count, "sums")
    parts = split(made)
    assert Counter(id for part in parts for id in part) == Counter(case.id for case in made)
    assert [abs(len(part) - share * count) < 1 for part, share in zip(parts, (0.5, 0.25, 0.25), strict=True)] == [
        True
    ] * 3
    assert split(reversed(made)) == parts


def test_few_cases_are_all_learned_from():
    assert [len(part) for part in split(cases(31, "sums"))] == [31, 0, 0]


def test_cases_of_one_tag_are_in_all_parts_alike():
    made = cases(12, "sums", "words", "tables")
    tags = {case.id: case.tags[0] for case in made}
    learn, choose, prove = (Counter(tags[id] for id in part) for part in split(made))
    assert learn == dict.fromkeys(("sums", "words", "tables"), 6)
    assert choose == prove == dict.fromkeys(("sums", "words", "tables"), 3)


@pytest.mark.parametrize(
    ("scores", "more"),
    [
        ({"a": 1.0, "b": 1.0, "c": 1.0}, 2.0),
        ({"a": 0.0, "b": 1.0, "d": 1.0, "e": 1.0}, 0.0),  # the prompt before had no scores of d and e
        ({"c": 1.0}, 0.0),  # a and b ended in errors
        ({}, -1.0),
    ],
)
def test_a_gain_is_one_on_the_cases_that_had_a_score_before(scores, more):
    assert gain(scores, {"a": 1.0, "b": 0.0, "c": 0.0}) == more
