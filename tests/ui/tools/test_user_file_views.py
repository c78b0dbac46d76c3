"""Tool files as a page shows them, as pure functions."""

from pathlib import Path

from app.domain.tools import ToolSpec
from app.tools.user_tools.user_file import FileProblem, PreviewedTool, UserFile
from app.ui.tools.user_file_views import file_row, problem_view, status_chip, tools_view

HOSTILE = "<script>hurt()</script>\"'><img src=x onerror=hurt()>"
COUNT = ToolSpec(name="count", description="Count words.", parameters={})


def a_file(**changes: object) -> UserFile:
    plain = {"name": "count.py", "path": Path("tools/count.py"), "status": "ready", "tools": (COUNT,)}
    return UserFile(**(plain | changes))


def test_every_status_has_words():
    statuses = ("ready", "loading", "untrusted", "broken", "empty")
    shown = {status: status_chip(a_file(status=status)) for status in statuses}
    assert len(set(shown.values())) == len(statuses)
    assert "Not allowed to run yet" in shown["untrusted"]


def test_a_broken_file_says_where_and_that_its_last_version_is_used():
    problem = FileProblem("NameError: name 'x' is not defined", 7, "Traceback (most recent call last)…")
    shown = problem_view(a_file(status="broken", problem=problem))
    assert "Line 7: NameError" in shown
    assert "Its last good version is still used: 1 tool of it." in shown
    assert "Traceback (most recent" in shown
    assert "last good version" not in problem_view(a_file(status="broken", problem=problem, tools=()))


def test_a_line_that_the_problem_names_itself_is_said_once():
    shown = problem_view(a_file(status="broken", problem=FileProblem("invalid syntax (line 3)", 3)))
    assert "Line 3:" not in shown


def test_missing_packages_come_with_the_command_to_copy():
    command = '"/usr/bin/python3" -m pip install "requests>=2"'
    problem = FileProblem("No module named 'requests'", missing=("requests",), install=command)
    shown = problem_view(a_file(status="broken", problem=problem))
    assert "It needs requests." in shown
    assert "&quot;requests&gt;=2&quot;" in shown
    assert 'aria-label="Copy the command"' in shown


def test_tools_of_a_file_that_may_not_run_are_only_promised():
    preview = (PreviewedTool("promised", "Does it.", 4),)
    shown = tools_view(a_file(status="untrusted", preview=preview, tools=()))
    assert "promised" in shown
    assert "href" not in shown
    assert 'href="/tools/count"' in tools_view(a_file())


def test_clashes_and_what_was_left_out_are_told():
    shown = tools_view(a_file(clashes=("count is in a.py too.",), left_out=("f takes **kwargs.",), requires=("numpy",)))
    assert "count is in a.py too." in shown
    assert "f takes **kwargs." in shown
    assert "It asks for numpy." in shown


def test_nothing_in_a_file_becomes_markup():
    hostile = a_file(
        name=HOSTILE,
        status="broken",
        printed=HOSTILE,
        problem=FileProblem(HOSTILE, 1, HOSTILE, (HOSTILE,), HOSTILE),
        tools=(ToolSpec(name="x", description=HOSTILE, parameters={}),),
        clashes=(HOSTILE,),
    )
    for shown in (file_row(hostile), problem_view(hostile), tools_view(hostile)):
        assert "<script" not in shown
        assert "<img" not in shown
