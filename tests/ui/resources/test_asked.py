"""What the page of resources is asked for, as its address says it."""

from datetime import date
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.ui.resources.asked import GROUPS, ResourcesQuery, named, runs_of

TODAY = date(2026, 3, 5)
NAMES = {"a1": ("The Writer", "writer")}


def of(address: str) -> ResourcesQuery:
    return ResourcesQuery.of_address(dict(parse_qsl(urlsplit(address).query)))


def test_what_an_address_says_is_what_the_query_says_back():
    address = "/resources?by=variant&over=last&of=tokens&at=openai%2Fgpt-4o"
    assert of(address).address == address
    assert of("/resources").address == "/resources"
    assert of("/resources?by=colour&over=ages&of=love") == ResourcesQuery()


@pytest.mark.parametrize(
    ("over", "first", "last"),
    [
        ("week", date(2026, 2, 27), TODAY),
        ("month", date(2026, 2, 4), TODAY),
        ("quarter", date(2025, 12, 6), TODAY),
        ("this", date(2026, 3, 1), TODAY),
        ("last", date(2026, 2, 1), date(2026, 2, 28)),
    ],
)
def test_days_end_today_or_with_their_month(over: str, first: date, last: date):
    query = of(f"/resources?over={over}")
    assert query.span(TODAY) == (first, last)
    assert query.usage((first, last)).span(TODAY) == (first, last)


def test_files_say_the_same_days_told_apart_the_same_way():
    query = of("/resources?by=variant&over=this")
    address = query.download(query.span(TODAY), "csv", at="openai/gpt-4o")
    assert dict(parse_qsl(urlsplit(address).query)) == {
        "by": "agent,variant",
        "since": "2026-03-01",
        "until": "2026-03-05",
        "at": "openai/gpt-4o",
        "format": "csv",
    }


def test_each_group_is_named_and_leads_to_its_runs():
    assert named("agent", ("a1",), NAMES) == ("The Writer", {"agent": "writer"})
    assert named("variant", ("a1", "0"), NAMES) == ("The Writer, working copy", {"agent": "writer", "variant": "0"})
    assert named("variant", ("judge", "1"), NAMES) == ("judge, variant 1", {"agent": "judge", "variant": "1"})
    assert named("purpose", ("judge",), NAMES) == ("Judges", {"purpose": "judge"})
    assert named("background", ("true",), NAMES) == ("In the background", {"background": "true"})
    assert named("provider", ("",), NAMES) == ("No model of its own", {})
    assert named("tool", ("kit__a",), NAMES) == ("kit__a", {"tool": "kit__a"})
    assert runs_of((TODAY, TODAY), tool="a&b") == ("/runs?tool=a%26b&from=2026-03-05&to=2026-03-05&behind=1&sort=cost")
    assert list(GROUPS) == ["model", "agent", "variant", "provider", "tool", "purpose", "background"]
