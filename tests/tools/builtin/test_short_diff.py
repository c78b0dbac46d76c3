"""Short words on what changed."""

from app.tools.builtin.files import short_diff
from tests.processor import at_work


def text(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def test_a_change_is_shown_with_the_lines_around_it() -> None:
    before = [f"line {number}" for number in range(1, 101)]
    after = [*before[:49], "changed", *before[50:]]
    assert short_diff(text(*before), text(*after)).splitlines() == [
        "@@ -47,7 +47,7 @@",
        " line 47",
        " line 48",
        " line 49",
        "-line 50",
        "+changed",
        " line 51",
        " line 52",
        " line 53",
    ]


def test_lines_that_were_only_added_are_placed() -> None:
    assert short_diff(text("a", "c"), text("a", "b", "c")).splitlines() == ["@@ -1,2 +1,3 @@", " a", "+b", " c"]


def test_a_long_change_is_cut_in_words() -> None:
    shown = short_diff("", text(*map(str, range(500)))).splitlines()
    assert len(shown) == 41 and shown[-1] == "[… 461 more lines of the change]"


def test_a_long_line_is_cut() -> None:
    assert short_diff("", "x" * 100_000).splitlines()[1] == "+" + "x" * 198 + "…"


def test_a_change_too_large_to_compare_is_counted() -> None:
    before = text("same", *map(str, range(50_000)))
    assert short_diff(before, text("same", *map(str, range(-1, -50_000, -1)))) == (
        "50000 lines from line 2 on became 49999 lines"
    )


def test_a_small_change_of_a_large_file_is_quick() -> None:
    lines = ["same"] * 100_000
    with at_work() as work:
        shown = short_diff(text(*lines), text(*lines[:50_000], "new", *lines[50_000:]))
        assert "+new" in shown and "@@ -49998,6 +49998,7 @@" in shown
    assert work.seconds < 1


def test_ends_of_lines_are_named() -> None:
    assert short_diff("a\nb", "a\nb\n") == "only the ends of lines changed"
