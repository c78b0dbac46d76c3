import json
from datetime import UTC, datetime

import pytest

from app.domain.errors import WorkbenchError
from app.domain.events import FORMAT as TRACE_FORMAT
from app.domain.events import PLAIN_FORMAT, Forked
from app.export.json_lines import FORMAT, MOST_FORKS, json_lines, read_json_lines
from tests.export.runs import rich_run
from tests.traces import a_workflow_run, asked, finished, said, started, the_sum, trace_of

NO_TIME = datetime.min.replace(tzinfo=UTC)
FORKED = Forked(run_id="r0", seq=0, prefix_digest="0")
HEADER = {"format": FORMAT, "version": 1, "trace_format": PLAIN_FORMAT}


def written(header: dict[str, object], entries) -> bytes:
    return "\n".join([json.dumps(header), *(entry.model_dump_json() for entry in entries)]).encode()


def test_a_trace_comes_back_as_it_was():
    assert read_json_lines(json_lines(rich_run(), app="1")) == rich_run()


def test_a_workflow_says_that_it_needs_a_newer_reader():
    lines = json_lines(a_workflow_run(), app="1")
    assert json.loads(lines.splitlines()[0])["trace_format"] == TRACE_FORMAT
    assert read_json_lines(lines) == a_workflow_run()


def test_the_first_line_says_what_follows():
    lines = json_lines(the_sum(), app="1.2", redactions=3, notes=["Note"]).decode().splitlines()
    header = json.loads(lines[0])
    assert header == {
        **HEADER,
        **{"app": "1.2", "run_id": "r1", "status": "completed", "entries": 16, "redactions": 3, "notes": ["Note"]},
    }
    assert len(lines) == 17
    assert json.loads(lines[2])["event"]["message"]["parts"][0]["text"].startswith("What is 5 + 10")


def test_lines_are_those_of_the_file_whatever_was_said():
    entries = trace_of(started(), asked("a\u2028b\x85c\nd\x1e"))
    assert read_json_lines(json_lines(entries, app="1")) == entries


@pytest.mark.parametrize(
    ("content", "said_so"),
    [
        (b"", "not JSON"),
        (b"{}", "does not say"),
        (written({**HEADER, "version": 2}, the_sum()), "newer Agent Playground (format 2"),
        (written({**HEADER, "trace_format": TRACE_FORMAT + 1}, the_sum()), "newer Agent Playground"),
        (written({**HEADER, "version": True}, the_sum()), "no version number"),
        (written(HEADER, []), "does not begin"),
        (written(HEADER, the_sum()[1:]), "does not begin"),
        (written(HEADER, [*the_sum()[:3], *the_sum()[4:]]), "where entry 3 belongs, there is entry 4"),
        (written(HEADER, trace_of(started(), finished(), asked("x"))), "goes on after its end"),
        (written(HEADER, trace_of(started(), started())), "starts again"),
        (written(HEADER, trace_of(started(), *[FORKED] * (MOST_FORKS + 1))), "1,001 forks in it; 1,000 can be"),
        (written(HEADER, the_sum())[:-40], "Line 17 of the trace is damaged"),
        (written(HEADER, trace_of(started(format=TRACE_FORMAT + 1))), "newer Agent Playground"),
        (written(HEADER, [one.model_copy(update={"at": NO_TIME}) for one in the_sum()]), "entry 0 is of 0001-01-01"),
    ],
)
def test_what_no_app_wrote_is_refused_in_words(content, said_so):
    with pytest.raises(WorkbenchError) as caught:
        read_json_lines(content)
    assert said_so in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("figure", "another"),
    [
        ('"total_ms":100.0', '"total_ms":NaN'),
        ('"total_ms":100.0', '"total_ms":1e308'),
        ('"first_token_ms":20.0', '"first_token_ms":Infinity'),
        ('"cost":0.5', '"cost":NaN'),
        ('"cost":0.5', '"cost":-1e10'),
        ('"input_tokens":10', '"input_tokens":1' + "0" * 400),
        ('"ms":1.5', '"ms":NaN'),
        ('"waited_ms":null', '"waited_ms":Infinity'),
    ],
)
def test_a_figure_that_no_run_has_is_refused_with_its_place(figure, another):
    written = json_lines(rich_run(), app="1").decode()
    assert figure in written
    with pytest.raises(WorkbenchError, match=r"This is damaged: a figure in entry \d+ is none that a run can have\."):
        read_json_lines(written.replace(figure, another, 1).encode())


def test_a_run_without_an_end_is_a_trace_too():
    entries = trace_of(started(), asked("x"), said("Once", partial=True))
    assert json.loads(json_lines(entries, app="1", alive=True).splitlines()[0])["status"] == "running"
    assert read_json_lines(json_lines(entries, app="1")) == entries
