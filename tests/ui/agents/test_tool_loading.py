from app.domain.tools import ToolSpec
from app.ui.agents.tool_loading import sizes_view


def spec(name: str, kit: str = "") -> ToolSpec:
    return ToolSpec(name=name, description="", parameters={}, kit=kit)


SPECS = [spec("small"), spec("big__one", "big"), spec("big__two", "big")]
SIZES = {"small": 10, "big__one": 100, "big__two": 890}


def words(how, window, percent=10):
    return sizes_view(SPECS, SIZES, how, window=window, percent=percent)


def test_what_tools_take_is_told_by_server_and_tool_the_largest_first():
    shown = words("auto", 128_000)
    assert "about 1,000 tokens, 0.8 % of the 128.0k tokens" in shown
    assert shown.index("890 tokens") < shown.index("100 tokens") < shown.index("small")
    assert "990 tokens" in shown


def test_it_is_said_when_they_are_found_as_they_are_needed():
    assert "All are sent" in words("auto", 128_000)
    assert "more than the 10 %" in words("auto", 4_000) and "those that it finds" in words("auto", 4_000)
    assert "more than the 10 %" in words("all", 4_000) and "All are sent" in words("all", 4_000)
    assert "those that it finds" in words("on_demand", 128_000)
    assert "All are sent" in words("auto", None)
    assert "no tools" in sizes_view([], {}, "auto", window=None, percent=10)
