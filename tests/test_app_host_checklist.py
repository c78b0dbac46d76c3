"""The list of what a host of MCP Apps has to do is whole, and each line leads to what shows it, or says why not."""

from pathlib import Path

from tests.app_host_checklist import REQUIREMENTS
from tests.hostile_views import VIEWS

TESTS = Path(__file__).parent / "e2e" / "test_apps.py"


def test_each_requirement_is_shown_or_explained() -> None:
    there_are = {view.name for view in VIEWS} | {
        line.removeprefix("def ").partition("(")[0]
        for line in TESTS.read_text(encoding="utf-8").splitlines()
        if line.startswith("def test_")
    }
    assert [one.id for one in REQUIREMENTS if one.shown_by and one.shown_by not in there_are] == []
    assert [one.id for one in REQUIREMENTS if bool(one.shown_by) == bool(one.why_not)] == []


def test_the_list_is_whole_and_says_what_must_be_and_is_not() -> None:
    assert len({one.id for one in REQUIREMENTS}) == len(REQUIREMENTS) == 45
    strict = [one.id for one in REQUIREMENTS if one.why_not and one.clause in ("MUST", "MUST NOT", "REQUIRED")]
    assert strict == ["security/sandbox-permissions", "lifecycle/tool-cancelled"]
