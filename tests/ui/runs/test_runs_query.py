import time
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.domain.trace import RunFilter, run_row
from app.ui.runs.trace_query import RunsQuery
from app.ui.runs.trace_rows import cells, columns, range_words
from tests.traces import asked, started, the_sum, trace_of


def of_address(address: str) -> RunsQuery:
    return RunsQuery.of(dict(parse_qsl(urlsplit(address).query)))


def test_an_address_without_a_query_shows_all_runs_newest_first():
    query = of_address("/runs")
    assert (query.filter, query.sort, query.descending, query.offset) == (RunFilter(), "started_at", True, 0)
    assert query.address == "/runs"
    assert not query.filtered


def test_what_an_address_says_is_what_the_query_says_back():
    address = (
        "/runs?q=two+words&agent=writer&variant=2&model=demo%2Fagent&provider=demo&tool=kit__a&purpose=judge&unpriced=1&status=failed&error=rate_limit"
        "&min_cost=0.000001&max_cost=12.5&min_seconds=0&max_seconds=90&from=2026-01-02&to=2026-01-03&behind=1&background=false&sort=cost&order=asc&page=3"
    )
    assert of_address(address).address == address


def test_a_text_with_signs_of_an_address_survives_it():
    query = RunsQuery(text="a&b=c?#/ <b>ü</b>")
    assert of_address(query.address) == query


@pytest.mark.parametrize(
    "address",
    [
        "/runs?status=exploded",
        "/runs?sort=secret",
        "/runs?page=-1",
        "/runs?page=0",
        "/runs?page=99999999999999999999",
        "/runs?page=²",
        "/runs?from=yesterday&to=0001-01-01",
        "/runs?to=9999-12-31",
        "/runs?from=2026-01-02Tnoon&to=9999-12-31T23:59Z",
        "/runs?from=0001-01-01T00:00Z",
        "/runs?error=exploded",
        "/runs?purpose=exploded&unpriced=yes&background=1",
        "/runs?variant=2",
        "/runs?min_cost=free&max_cost=-1&min_seconds=nan&max_seconds=inf",
        "/runs?max_cost=1e99",
    ],
)
def test_nonsense_in_the_address_is_left_out(address: str):
    assert of_address(address) == RunsQuery()


def test_a_day_means_all_of_it_where_the_computer_stands():
    query = of_address("/runs?from=2026-01-02&to=2026-01-02")
    assert query.filter.since and query.filter.until
    assert query.filter.since == datetime(2026, 1, 2).astimezone()
    assert query.filter.until - query.filter.since == timedelta(days=1) - timedelta(microseconds=1)


def test_a_day_whose_last_hour_comes_twice_ends_with_the_second_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Asia/Beirut")  # at midnight the clocks go back to 23:00
    time.tzset()
    shown = of_address("/runs?from=2026-10-24&to=2026-10-24").filter
    monkeypatch.undo()
    time.tzset()
    assert shown.since == datetime(2026, 10, 23, 21, tzinfo=UTC)
    assert shown.until == datetime(2026, 10, 24, 22, tzinfo=UTC) - timedelta(microseconds=1)


def test_a_moment_is_a_moment_and_the_last_one_is_left_out():
    query = of_address("/runs?from=2026-01-02T09:30Z&to=2026-01-02T10:00Z")
    assert query.filter.since == datetime(2026, 1, 2, 9, 30, tzinfo=UTC)
    assert query.filter.until == datetime(2026, 1, 2, 9, 59, 59, 999_999, tzinfo=UTC)
    assert of_address(query.address) == query


def test_choosing_the_column_again_turns_the_order_round_on_the_first_page():
    by_cost = RunsQuery(page=4).sorted_by("cost")
    assert (by_cost.sort, by_cost.descending, by_cost.page) == ("cost", True, 1)
    assert not by_cost.sorted_by("cost").descending


def test_the_sorted_column_says_so():
    orders = {column["name"]: column.get("order") for column in columns(RunsQuery(sort="cost", descending=False))}
    assert orders["cost"] == "ascending"
    assert orders["started"] is None


def test_a_row_in_words():
    shown = cells(run_row(the_sum(), alive=False), datetime(2027, 1, 1, tzinfo=UTC))
    assert shown["request"] == "What is 5 + 10, then multiply by 3?"
    assert (shown["agent"], shown["variant"], shown["model"]) == ("Assistant", "v1", "demo/agent")
    assert (shown["model_calls"], shown["tool_calls"], shown["tokens"]) == ("3 model", "2 tool", "90")
    assert shown["duration"] == "1.5 s"
    assert "Completed" in shown["pill"]


def test_a_running_run_counts_its_time_in_whole_seconds():
    row = run_row(trace_of(started(), asked("Go")), alive=True)
    assert cells(row, row.started_at + timedelta(seconds=7.9))["duration"] == "7.0 s"


def test_how_many_runs_there_are_is_said_in_words():
    row = run_row(the_sum(), alive=False)
    assert range_words(RunsQuery(), [row], 1) == "1 run"
    assert range_words(RunsQuery(page=2), [row] * 50, 10_000) == "Runs 51 to 100 of 10,000"
    assert range_words(RunsQuery(), [], 0) == "0 runs"
