import json

from markdown_it import MarkdownIt

from app.domain.errors import ErrorInfo
from app.domain.events import ChildStarted, RunFinished
from app.domain.provenance import Imported, Parent
from app.export.markdown import LONGEST_SHOWN, review
from app.export.markdown_text import fenced, plain
from tests.export.runs import PNG, digest, forked_run, rich_run
from tests.hostile import PAYLOADS
from tests.sent import WAYS, run_with_files
from tests.traces import ADD, BEGAN, asked, called, finished, ran, returned, said, started, the_sum, trace_of


def headings(document: str) -> list[str]:
    tokens = MarkdownIt("commonmark").parse(document)
    return [
        tokens[place + 1].content
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]


def test_a_review_has_the_parts_in_their_order():
    assert headings(review(the_sum()).document) == [
        *("Run of Assistant", "User", "Trajectory", "Step 1", "Step 2", "Step 3", "Final response", "Usage"),
    ]


def test_each_step_says_what_was_decided_done_and_observed():
    document = review(the_sum()).document
    step = document.split("### Step 2")[1].split("### Step 3")[0]
    assert step.index("**Decision**") < step.index("Then the product.") < step.index("**Actions**")
    assert step.index('"operation": "multiply"') < step.index("**Observations**") < step.index("15 * 3 = 45")
    assert "## Final response\n\nThe answer is 45.\n" in document
    assert "| Input tokens | 30 |" in document and "| Cost | $1.5000 |" in document


def test_each_file_says_how_it_went_along_at_first():
    document = review(run_with_files()).document
    for name, words in WAYS.items():
        assert f"[{name}](" in document and f") ({words})" in document
    assert "Later" not in document


def test_calls_and_images_are_files_beside_it():
    written = review(rich_run())
    assert [file.path for file in written.files] == [
        "tool_calls/01_execute_python.json",
        "tool_calls/01_execute_python.py",
        "tool_calls/02_draw.json",
        "images/01_a-chart.png",
        "files/02_notes.csv",
    ]
    assert written.files[1].content == b"print(1)"
    record = json.loads(written.files[2].content)
    assert (record["name"], record["status"], record["files_changed"][0]["path"]) == ("draw", "ok", "/notes.csv")
    assert "![A chart](images/01_a-chart.png)" in written.document
    assert "(tool_calls/02_draw.json)" in written.document
    assert "1. execute_python ([file](tool_calls/01_execute_python.json), [code](tool_calls/01_execute_python.py))" in (
        written.document
    )


def test_an_image_that_does_not_come_along_is_said_to_be_missing():
    written = review(rich_run(), missing={digest(PNG)})
    assert "A chart: its content is not in this export." in written.document
    assert "images/01_a-chart.png" not in [file.path for file in written.files]


def test_a_run_that_goes_on_is_reviewed_as_it_stands():
    document = review(the_sum()[:8], alive=True).document
    assert "Status: still going on" in document
    assert "## Final response\n\n*None: the run is still going on" in document
    assert headings(document)[-1] == "Usage"


def test_a_call_without_a_result_says_so():
    assert "calculator: no result yet" in review(the_sum()[:6], alive=True).document


def test_a_failure_says_what_to_do():
    entries = the_sum()[:-1]
    error = ErrorInfo(failure="invalid_key", text="401: no such key")
    end = trace_of(*(entry.event for entry in entries), RunFinished(status="failed", error=error))
    document = review(end).document
    assert "**The key was not accepted** (`invalid_key`)" in document and "> 401: no such key" in document


def test_nothing_that_was_said_can_pass_for_a_part_of_the_review():
    forged = "# Run of Evil\n## Usage\n```\n## Final response\nI was never said"
    bad = ADD.model_copy(update={"name": "x`\n## Usage", "arguments": {"a": "```\n## Usage"}})
    entries = trace_of(
        started(),
        asked(forged),
        called(),
        said(forged, bad, reasoning=forged),
        returned(),
        *ran(bad, forged),
        finished(),
    )
    assert headings(review(entries).document) == [
        "Run of Assistant",
        "User",
        "Trajectory",
        "Step 1",
        "Final response",
        "Usage",
    ]


def test_names_become_one_line_without_signs_that_mean_something():
    for payload in (*PAYLOADS, "a\n# b", "\u202egnp.exe"):
        line = plain(payload)
        assert "\n" not in line and "\u202e" not in line
        tokens = MarkdownIt("commonmark", {"html": True}).parseInline(f"x {line}")[0].children or []
        assert {token.type for token in tokens} <= {"text", "text_special"}, payload


def test_a_fence_is_longer_than_any_in_it():
    assert fenced("a ````` b")[0] == "``````"


def test_a_long_result_is_cut_and_its_file_has_all_of_it():
    text = "x" * (LONGEST_SHOWN + 5)
    entries = trace_of(started(), asked("?"), called(), said("", ADD), returned(), *ran(ADD, text), finished())
    written = review(entries)
    assert "*5 more characters are in [its file](tool_calls/01_calculator.json).*" in written.document
    assert text in written.files[0].content.decode()


def test_a_review_of_a_run_without_an_answer_can_be_read():
    document = review(trace_of(started(), asked("Hello"))).document
    assert "*The model has not answered.*" in document


def test_a_fork_counts_what_is_its_own_and_says_what_it_took_over():
    document = review(forked_run()).document
    assert "- Forked from: run r1, behind its entry 6: 1 step reused, 2 new" in document
    assert "- Began: run child (failed)" in document
    assert "| Steps | 1 step reused, 2 new |" in document and "| Input tokens | 20 |" in document
    assert "*The figures are those of the fork alone: 1 step reused, 2 new.*" in document
    assert "*The runs that it began count for themselves.*" in document


def test_a_run_that_began_by_itself_says_nothing_of_others():
    document = review(the_sum()).document
    assert "Forked" not in document and "Began" not in document and "count for themselves" not in document


def test_a_run_says_who_began_it_and_where_it_was_imported_from():
    imported = Imported(run_id="r7", app="1", at=BEGAN)
    entries = trace_of(started(parent=Parent(run_id="p1", call_id="c9"), imported=imported), asked("Hi"), finished())
    document = review(entries).document
    assert "- Begun by: run p1, call c9" in document
    assert "- Imported from: run r7 of another copy of the app" in document


def test_of_many_runs_that_it_began_some_are_named_and_the_others_counted():
    children = [ChildStarted(call_id="c1", child_run_id=f"child-{number}") for number in range(25)]
    document = review(trace_of(started(), asked("Hi"), *children, finished())).document
    assert "run child-19 (its end was not waited for) and 5 more" in document
