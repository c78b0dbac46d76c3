"""Dates read, said how, and calculated with."""

import json
from typing import Any

import pytest

from app.domain.errors import ToolError
from app.tools.builtin.date_utils.calculating import (
    date_utils__add,
    date_utils__business_days,
    date_utils__convert_time_zone,
    date_utils__difference,
    date_utils__iso,
)
from app.tools.builtin.date_utils.kit import date_utils__parse_column, date_utils__parse_dates
from app.tools.builtin.date_utils.lists import read_dates
from app.tools.function.tool import AnyTool
from tests.tools.builtin.using import told_by


async def told(tool: AnyTool, **arguments: object) -> Any:
    return json.loads(await told_by(tool, **arguments))


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("1/15/24", "2024-01-15"), ("15/1/2024", "2024-01-15"), ("15.1.2024", "2024-01-15"), ("2024-1-5", "2024-01-05"),
        ("March 5 2024", "2024-03-05"), ("5th of March, 2024", "2024-03-05"), ("15-Jan-24", "2024-01-15"),
        ("5. März 2024", "2024-03-05"), ("5 de marzo de 2024", "2024-03-05"), ("20240115", "2024-01-15"),
        ("Jan 15, 99", "1999-01-15"), ("45306", "2024-01-15"), ("1705276800", "2024-01-15T00:00:00+00:00"),
        ("1/15/24 4pm", "2024-01-15T16:00:00"), ("2024-01-15T10:00:00Z", "2024-01-15T10:00:00+00:00"),
        ("Tue, 5 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00+00:00"), ("2024-W03-1", "2024-01-15"),
        ("19970902090807", "1997-09-02T09:08:07"), ("950404 122212", "1995-04-04T12:22:12"), ("970902090807", None),
        ("March 5 2024 12.16 pm", "2024-03-05T12:16:00"), ("2024-03-05 12.16 pm", "2024-03-05T12:16:00"),
        ("5 March 2024 10h11", "2024-03-05T10:11:00"), ("le 5 mars 2024 à 10h", "2024-03-05T10:00:00"),
        ("15.1.2024 um 10.30 Uhr", "2024-01-15T10:30:00"), ("2024-12-16 12.16", None), ("12.16 pm", None),
        ("March 5 2024 2115", "2024-03-05T21:15:00"), ("March 5 2024 at noon", "2024-03-05T12:00:00"),
        ("10:00 noon 5 March 2024", None), ("at noon", None), ("2015-287", "2015-10-14"), ("2015-366", None),
        ("Tues 9th Aug, 2015", "2015-08-09"), ("Weds, 5 Mar 2024", "2024-03-05"), ("Thu 1/2/2024", "2024-02-01"),
        ("March 2024", None), ("12", None), ("2024", None), ("tomorrow", None), ("2024-02-30", None), ("", None),
        ("9999-365", "9999-12-31"), ("9999-366", None), ("2024-01-15 10:00 +25:00", None),
        ("Feb 30 2024", None), ("31/31/2024", None), ("2024-01-15 10:00 XYZ", None), ("n/a", None), ("1" * 200, None),
    ],
)  # fmt: skip
def test_a_date_is_read_or_refused_and_never_guessed(text: str, iso: str | None):
    [read] = read_dates([text])
    assert (read.reading.iso if read.reading else None) == iso
    assert read.reading or read.why


def test_what_a_date_says_of_itself_that_cannot_be_is_told():
    [sunday, fine] = read_dates(["Tues 9th Aug, 2015", "2024-03-05T10:11:12.123456789Z"])
    assert sunday.told["read_as"] == "month in words, though that is a Sunday"
    assert fine.told["read_as"] == "ISO 8601, cut to microseconds"


async def test_each_date_of_a_list_says_how_it_was_read():
    result = await told(date_utils__parse_dates, texts=["1/15/24", "2024-02-20", "March 5 2024", "soon", None])
    assert (result["parsed_count"], result["ambiguous_count"], result["failed_count"]) == (3, 0, 2)
    assert result["dates"][0]["read_as"] == "month/day/year, the year 24 as 2024"
    assert result["dates"][3]["problem"] == "It is not written like a date."


def test_an_ambiguous_date_says_what_else_it_may_mean_and_listens_to_its_list():
    def isos(texts: list[str], day_first: bool | None = None) -> list[tuple[str, bool]]:
        read = read_dates(texts, day_first=day_first)
        return [(one.reading.iso, bool(one.alternatives)) for one in read if one.reading]

    assert isos(["1/2/24"]) == [("2024-01-02", True)]
    assert isos(["1/2/24"], day_first=True) == [("2024-02-01", False)]
    assert isos(["1/2/24", "15/3/24"]) == [("2024-02-01", True), ("2024-03-15", False)]
    assert isos(["1/2/24", "15/3/24", "3/15/24"])[0] == ("2024-01-02", True)
    assert isos(["1.2.2024", "1/15/24"])[0] == ("2024-02-01", True)
    assert isos(["5/5/24"]) == [("2024-05-05", False)]
    assert "2024-02-01 (day/month/year" in str(read_dates(["1/2/2024"])[0].told["or"])


async def test_a_column_of_dates_is_made_iso_and_what_is_no_date_stays():
    rows = [{"d": "1/15/24", "n": 1}, {"d": None, "n": 2}, {"d": "soon", "n": 3}]
    result = await told(date_utils__parse_column, rows=rows, column="d")
    assert [row["d"] for row in result["rows"]] == ["2024-01-15", None, "soon"]
    assert result["empty_count"] == 1 and "Row 3: 'soon'" in result["notes"][0]


async def test_a_moment_is_written_in_iso_with_what_belongs_to_it():
    result = await told(date_utils__iso, text="March 5 2024 4pm", time_zone="berlin")
    assert (result["iso"], result["weekday"], result["iso_week"]) == (
        "2024-03-05T16:00:00+01:00",
        "Tuesday",
        "2024-W10",
    )


async def test_the_first_and_the_last_day_of_the_calendar_have_a_zone_as_others():
    for text in ("0001-01-01", "9999-12-31 23:00"):  # what programs write for no time at all
        for zone in ("Europe/Berlin", "America/New_York", "+14:00", "-12:00"):
            assert (await told(date_utils__iso, text=text, time_zone=zone))["iso"].startswith(text[:10])
    with pytest.raises(ToolError, match="out of the calendar"):
        await told(date_utils__convert_time_zone, time="0001-01-01", from_zone="+14:00", to_zone="UTC")


async def test_differences_count_days_and_calendar_months():
    result = await told(date_utils__difference, start="2024-01-31", end="2024-03-01")
    assert (result["days"], result["calendar"]) == (30, {"years": 0, "months": 1, "days": 1})
    assert (await told(date_utils__difference, start="2024-01-02", end="2024-01-01"))["days"] == -1
    with pytest.raises(ToolError, match="time zone"):
        await told(date_utils__difference, start="2024-01-01T10:00Z", end="2024-01-02")


async def test_adding_keeps_to_the_calendar():
    assert (await told(date_utils__add, start="2024-01-31", months=1))["iso"] == "2024-02-29"
    assert (await told(date_utils__add, start="Friday, March 1 2024", business_days=1))["iso"] == "2024-03-04"
    assert (await told(date_utils__add, start="2024-03-05T23:00", hours=2))["iso"] == "2024-03-06T01:00:00"
    for wrong in ({"years": 9000}, {"days": 10**12}, {"business_days": 10**9}):
        with pytest.raises(ToolError):
            await told(date_utils__add, start="2024-01-01", **wrong)


async def test_business_days_leave_out_weekends_and_holidays():
    result = await told(
        date_utils__business_days,
        start="2024-12-20",
        end="2025-01-02",
        holidays=["2024-12-25", "Jan 1 2025", "2024-12-28"],
    )
    assert (result["business_days"], result["calendar_days"]) == (8, 14)
    assert result["holidays_counted"] == ["2024-12-25", "2025-01-01"]
    assert (await told(date_utils__business_days, start="2024-03-08", end="2024-03-04"))["business_days"] == -5


async def test_times_move_between_zones_and_changed_clocks_are_told():
    arguments = {"time": "2024-03-05 16:00", "from_zone": "Europe/Berlin"}
    assert (await told(date_utils__convert_time_zone, **arguments, to_zone="tokyo"))[
        "iso"
    ] == "2024-03-06T00:00:00+09:00"
    gap = await told(date_utils__convert_time_zone, time="2024-03-31 02:30", from_zone="Europe/Berlin", to_zone="UTC")
    assert "does not exist" in gap["notes"][0]
    twice = await told(date_utils__convert_time_zone, time="2024-10-27 02:30", from_zone="Europe/Berlin", to_zone="UTC")
    assert "comes twice" in twice["notes"][0]
    with pytest.raises(ToolError, match="Did you mean Europe/Berlin"):
        await told(date_utils__convert_time_zone, **{**arguments, "from_zone": "Europe/Berln"}, to_zone="UTC")
