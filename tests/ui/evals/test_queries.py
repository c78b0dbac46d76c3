"""Addresses of the pages of evals, and back."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from app.ui.evals.queries import DatasetQuery, EvalsQuery


def parameters(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


@pytest.mark.parametrize("query", [EvalsQuery(), EvalsQuery(show="experiments"), EvalsQuery(text="a & b", page=3)])
def test_the_list_is_found_again_by_its_address(query: EvalsQuery) -> None:
    assert EvalsQuery.of(parameters(query.address)) == query


@pytest.mark.parametrize("query", [DatasetQuery(slug="sums"), DatasetQuery(slug="sums", tag="x y", text="7", page=2)])
def test_cases_are_found_again_by_their_address(query: DatasetQuery) -> None:
    assert urlsplit(query.address).path == "/evals/sums"
    assert DatasetQuery.of("sums", parameters(query.address)) == query


def test_what_an_address_says_wrongly_is_left_out() -> None:
    assert EvalsQuery.of({"show": "nothing", "page": "-3"}) == EvalsQuery()
    assert DatasetQuery.of("sums", {"show": "?", "page": "two"}) == DatasetQuery(slug="sums")
