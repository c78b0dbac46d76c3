"""What the Runs page makes of its filter: chips, saved filters, chosen rows, found lines."""

from datetime import date, datetime, timedelta

import pytest

from app.domain.settings import SavedFilter
from app.domain.trace import Excerpt, run_row
from app.domain.values import now
from app.ui.runs.filter_chips import chips, without
from app.ui.runs.runs_page import picked
from app.ui.runs.trace_query import RunsQuery
from app.ui.runs.trace_rows import cells, unread_words
from app.ui.runs.trace_saved import query_of, with_filter, without_filter
from tests.hostile import PAYLOADS
from tests.traces import the_sum

FULL = RunsQuery(
    text="two words",
    status="failed",
    agent="writer",
    variant=2,
    model="demo/agent",
    provider="demo",
    tool="calculator",
    purpose="judge",
    background=True,
    unpriced=True,
    failure="rate_limit",
    first_day=date(2026, 1, 2),
    last_day=date(2026, 1, 3),
    min_cost=0.25,
    max_cost=2,
    min_seconds=1.5,
    sort="cost",
    page=3,
)


def test_what_is_set_is_said_in_chips():
    assert [chip.words for chip in chips(FULL, {"writer": "The Writer"})] == [
        "Text: two words",
        "Failed",
        "The Writer",
        "Variant 2",
        "demo/agent",
        "Provider: demo",
        "Called calculator",
        "Judges",
        "In the background",
        "Unpriced",
        "Too many requests",
        "2026-01-02 to 2026-01-03",
        "Cost $0.25 to $2.00",
        "Took at least 1.5 s",
    ]
    assert not chips(RunsQuery(sort="cost"), {})


def test_moments_are_said_as_the_clock_shows_them():
    half_past = datetime(2026, 1, 2, 9, 30).astimezone()
    query = RunsQuery(first_day=half_past, last_day=half_past + timedelta(minutes=30))
    assert [chip.words for chip in chips(query, {})] == ["2026-01-02 09:30 to 2026-01-02 10:00"]
    assert without(query, "days") == RunsQuery()


def test_a_chip_takes_away_what_it_says_and_nothing_else():
    query = FULL
    for chip in chips(FULL, {}):
        if chip.field != "variant":
            query = without(query, chip.field)
            assert chip.words not in [other.words for other in chips(query, {})]
    assert query == RunsQuery(sort="cost")
    assert without(FULL, "all") == RunsQuery(sort="cost")
    assert without(FULL, "variant").agent == "writer"
    assert without(FULL, "agent").variant is None
    assert without(FULL, "sort") == FULL


def test_one_sided_ranges_are_said_as_such():
    query = RunsQuery(last_day=date(2026, 1, 3), max_cost=1, max_seconds=90)
    assert [chip.words for chip in chips(query, {})] == [
        "Up to 2026-01-03",
        "Cost at most $1.00",
        "Took at most 1 min 30 s",
    ]


def test_runs_that_nobody_talked_in_are_shown_on_request():
    query = RunsQuery(behind=True)
    [chip] = chips(query, {})
    assert chip.words == "With experiments, judges and tries" and query.filter.behind
    assert without(query, chip.field) == RunsQuery() and not RunsQuery().filter.behind


def test_a_click_chooses_a_row_and_again_lets_it_go():
    assert picked(["a", "b", "c"], [], "b", since=None) == ["b"]
    assert picked(["a", "b", "c"], ["b", "c"], "b", since=None) == ["c"]


@pytest.mark.parametrize(
    ("chosen", "clicked", "expected"), [(["b"], "d", "bcd"), (["b"], "a", "ab"), (["b", "c"], "c", "")]
)
def test_with_shift_all_rows_since_the_last_click_become_alike(chosen: list[str], clicked: str, expected: str):
    assert picked(list("abcde"), chosen, clicked, since="b") == list(expected)


def test_a_range_from_a_row_that_is_not_there_any_more_is_one_row():
    assert picked(["a", "b"], ["a"], "b", since="gone") == ["a", "b"]


def test_saved_filters_come_by_name_and_replace_their_namesakes():
    kept = with_filter((), SavedFilter(name="zebra", address="/runs?q=1"))
    kept = with_filter(kept, SavedFilter(name="Ape", address="/runs?q=2"))
    kept = with_filter(kept, SavedFilter(name="ZEBRA", address="/runs?q=3"))
    assert [(saved.name, saved.address) for saved in kept] == [("Ape", "/runs?q=2"), ("ZEBRA", "/runs?q=3")]
    assert without_filter(kept, "ape") == kept[1:]


def test_a_saved_address_is_the_query_again():
    assert query_of(FULL.address) == FULL


@pytest.mark.parametrize("payload", PAYLOADS)
def test_what_was_found_is_text_whatever_it_says(payload: str):
    row = run_row(the_sum(), alive=False)
    shown = cells(row, now(), Excerpt(seq=7, place=payload, before=payload, hit=payload, after=payload))
    assert "<script" not in shown["found"] and "<img" not in shown["found"]
    assert shown["address"] == "/runs/r1?step=7"
    assert cells(row, now())["address"] == "/runs/r1"


def test_runs_that_cannot_be_searched_yet_are_counted():
    assert unread_words(0) == ""
    assert unread_words(1200) == " · 1,200 more runs still to be searched"
