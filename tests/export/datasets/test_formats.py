"""Files of other programs: what is taken of them, and what is told instead of dropped."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from app.domain.errors import TooLarge, WorkbenchError
from app.domain.evals.cases import CaseContent, ExpectedCall, new_cases
from app.domain.evals.scorers import Contains, Cost, Exact, JsonMatch, Judge, Latency, Regex
from app.domain.trace.recorded import recorded_calls
from app.export.datasets import adk, csv_table, inspect_log, openai_evals, promptfoo
from app.export.datasets.received import Received
from app.export.limits import LARGEST_DATASET

FILES = Path(__file__).parent / "files"


def content(name: str) -> bytes:
    return (FILES / name).read_bytes()


def inputs(received: Received) -> list[str]:
    return [case.content.input for case in received.cases]


def test_tests_of_promptfoo_become_cases_with_what_they_assert():
    received = promptfoo.read_cases(content("promptfooconfig.yaml"), "promptfooconfig.yaml", judge="demo/judge")
    assert inputs(received) == [
        "Convert this English to French: Hello world",
        "Convert this English to German: Hello world",
        "Convert this English to Spanish: Where is the library?",
        "Convert this English to Danish: 10:30, yes or no?",
    ]
    french, _, spanish, danish = (case.content for case in received.cases)
    assert french.variables == {"tone": "friendly", "language": "French", "input": "Hello world"}
    assert french.note == "A greeting"
    assert french.checks == (
        Latency(name="latency", most_seconds=3),
        Contains(name="contains-any", texts=("Bonjour", "Hallo"), mode="any", ignore_case=False),
    )
    assert (spanish.reference, french.reference) == (
        "¿Dónde está la biblioteca?",
        "does not describe self as an AI",
    )
    assert spanish.checks[1:] == (
        Exact(name="equals", ignore_space=False),
        Contains(name="not-icontains", texts=("library",), mode="none", ignore_case=True),
        Cost(name="cost", most_usd=0.001),
    )
    assert danish.checks[1:] == (
        JsonMatch(name="is-json", expected={"`true`": True}),
        Regex(name="regex", pattern=r"\d+"),
        Contains(name="icontains-all", texts=("ja", "nej"), mode="all", ignore_case=True),
        Contains(name="contains", texts=("friendly",), mode="all", ignore_case=False),
    )
    judge, checks = received.scorers
    assert isinstance(judge, Judge)
    assert (judge.model, checks.type) == ("demo/judge", "checks")


def test_what_promptfoo_has_more_of_is_told_and_never_run():
    notes = promptfoo.read_cases(content("promptfooconfig.yaml"), "p.yaml").notes
    assert notes[0] == "It describes itself as: Translations for the shop"
    assert sorted(notes[1:]) == sorted(
        (
            "Not taken: 2 × assertions of the type javascript, as code in a file is never run.",
            "Not taken: 2 × assertions of the type similar, which this app does not know.",
            "Not taken: 4 × questions to a model about an answer, as no model is chosen that could judge.",
            "Not taken: 1 × the field “weight” of an assertion.",
            "Not taken: 1 × assertions of the type python, as code in a file is never run.",
            "Not taken: 2 × variables from files or templates, as no file is opened and no template run.",
            "Not taken: 2 × tests whose message takes more of nunjucks, or other variables, than they have.",
            "Not taken: 1 × JSON Schemas of is-json: answers are only to be JSON.",
            "Not taken: 1 × assertions with more of nunjucks in them than the names of variables.",
            "Not taken: 1 × the field “threshold” of a test.",
            "Not taken: 1 × the field “metadata” of a test.",
            "Not taken: 1 × tests in other files, as none is opened.",
            "Not taken: 1 × prompts: the message of a case is the first that is a text, or else a variable.",
            "Not taken: 1 × the field “options” of the default test.",
            "Not taken: 1 × the field “providers” of the file.",
            "Not taken: 1 × the field “outputPath” of the file.",
            "Not taken: 1 × the field “evaluateOptions” of the file.",
        )
    )


def test_a_list_of_tests_alone_is_taken_by_its_usual_variable():
    told = "- vars: {question: Why?, tone: dry}\n  assert: [{type: equals, value: Because.}]\n"
    (case,) = promptfoo.read_cases(told.encode(), "tests.yaml").cases
    assert (case.content.input, case.content.reference) == ("Why?", "Because.")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (b"tests:\n  - vars: {a: 1\n", "f.yaml, line 3: this is no YAML that can be read"),
        (b"[" * 100_000, "f.yaml, line 1: this is nested more than 60 levels deep"),
        (b"tests: {a: !!python/object/apply:os.system ['true']}", "could not determine a constructor"),
        (b"tests: [{vars: [1]}]", "f.yaml, test 1: here belongs an object of names and values, not a list"),
        (b"tests: [[1]]", "f.yaml, test 1: here belongs an object"),
        (b"tests: [{vars: {input: !!binary aGk=}}]", "a value of the kind bytes cannot be read"),
        (b"0: 1", "the names of values are texts"),
        (b'a: "\\UFFFFFFFF"', "invalid Unicode"),
    ],
)
def test_yaml_that_cannot_be_read_is_refused_in_words(told, words):
    with pytest.raises(WorkbenchError, match=words):
        promptfoo.read_cases(told, "f.yaml")


def test_what_is_small_as_it_lies_there_and_large_once_read_is_refused():
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(TooLarge, match="2,000,000 values"):
        promptfoo.read_cases("\n".join(lines).encode(), "bomb.yaml")
    names = {f"v{number}": list(range(100)) for number in range(9)}
    for tests in ([{"vars": names}], [{"vars": {"a": [*range(6000)], "input": "{{ nobody.here }}"}}] * 2):
        with pytest.raises(TooLarge, match="at most 10,000 cases"):
            promptfoo.read_cases(json.dumps({"tests": tests}).encode(), "many.yaml")
    long = {"prompts": "x" * 100_000 + "{{input}}", "tests": [{"vars": {"input": "a"}}] * 500}
    with pytest.raises(TooLarge, match="more than 32 MiB"):
        promptfoo.read_cases(json.dumps(long).encode(), "long.yaml")
    asserts = [{"type": "contains", "value": "a"}] * 101
    with pytest.raises(TooLarge, match="at most 100 things"):
        promptfoo.read_cases(json.dumps({"tests": [{"vars": {"input": "a"}, "assert": asserts}]}).encode(), "f.yaml")
    with pytest.raises(TooLarge, match="at most 500 columns; this one has 1,000,001"):
        csv_table.read_cases(b"a" + b"," * 1_000_000, "wide.csv")


def test_a_table_is_taken_with_columns_of_promptfoo():
    received = csv_table.read_cases(content("prompts.csv"), "prompts.csv", judge="demo/judge")
    french, german, spanish = (case.content for case in received.cases)
    assert (french.input, french.variables, french.note) == ("Hello world", {"language": "French"}, "A greeting")
    assert french.checks == (
        Contains(name="contains", texts=("Bonjour",), ignore_case=False),
        Latency(name="latency", most_seconds=2),
    )
    assert (german.reference, german.checks) == ("Guten Morgen", (Exact(name="equals", ignore_space=False),))
    assert spanish.checks[0].texts == ("cómo", "qué")
    assert spanish.reference == "is polite"
    assert "Not taken: 1 × assertions of the type javascript, as code in a file is never run." in received.notes
    assert "Not taken: 1 × cells of the column __metric." in received.notes
    assert "Not taken: 1 × cells of the column __metadata:area." in received.notes


def test_a_table_of_ours_is_read_back_and_holds_no_formulas():
    said = [
        CaseContent(
            input="=1+1", reference="-2", tags=("a", "b"), must_pass=True, note="'=x", variables={"tone": "+49"}
        ),
        CaseContent(input='"quoted"\nline', reference="@home", note="''=x"),
    ]
    written = csv_table.write_cases(new_cases("d1", said))
    for line in written.decode("utf-8-sig").split("\r\n"):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in line.split(","))
    again = csv_table.read_cases(written, "t.csv")
    assert [case.content.model_copy(update={"variables": {}}) for case in again.cases] == [
        one.model_copy(update={"variables": {}}) for one in said
    ]
    assert [case.content.variables["tone"] for case in again.cases] == ["+49", ""]
    assert again.notes == ()


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (b"a,b\n1,2\n", "t.csv, line 1: no column is called 'input'. Columns: 'a', 'b'"),
        (b"input,input\n1,2\n", "two columns are called 'input'"),
        (b'input\n"open\n', "t.csv, line 2: this is no CSV"),
        (b"input\nok\n\xff\n", "t.csv, line 3: this is not UTF-8"),
    ],
)
def test_a_table_that_cannot_be_read_names_the_line(told, words):
    with pytest.raises(WorkbenchError, match=words):
        csv_table.read_cases(told, "t.csv")


def test_a_table_with_other_signs_between_cells_and_too_many_of_them():
    received = csv_table.read_cases(b"question;reference\nWhy?;Because\nHow?;So;more\n", "t.csv")
    assert inputs(received) == ["Why?", "How?"]
    assert received.notes == ("Not taken: 1 × cells without a column.",)


def test_an_evalset_of_adk_becomes_cases_of_several_turns():
    received = adk.read_cases(content("home_automation.evalset.json"), "set.json", judge="demo/agent")
    lights, camel, scenario = received.cases
    assert (lights.content.input, lights.content.turns) == ("What can you do?", ("Turn off device_2 in the Bedroom.",))
    assert lights.content.reference == "I have set the device_2 status to off."
    arguments = {"location": "Bedroom", "device_id": "device_2", "status": "OFF"}
    assert lights.content.expected_calls == (ExpectedCall(name="set_device_info", arguments=arguments),)
    assert lights.content.variables == {"house": "north", "rooms": '["a","b"]'}
    (recorded,) = recorded_calls(lights.record)
    assert recorded.returned.result.text == '{"result":"Device device_2 is off."}'
    assert camel.content.expected_calls == (ExpectedCall(name="read_sensor", arguments={"roomName": "hall"}),)
    assert recorded_calls(camel.record)[0].returned.result.text == '{"lux":3}'
    assert scenario.content.user.goal == "Have the lamp switched on, then off."
    assert scenario.content.expected_calls is None
    assert [scorer.type for scorer in received.scorers] == ["trajectory"]


def test_what_adk_has_more_of_is_told():
    notes = adk.read_cases(content("home_automation.evalset.json"), "set.json").notes
    assert "Not taken: 1 × expected answers to other messages than the last one of a case." in notes
    assert "Not taken: 1 × simulated users, as no model is chosen that could speak for them." in notes
    for field in (
        "“inline_data” of a part", "“rubrics” of a case", "“intermediate_responses” of intermediate data",
        "“creation_timestamp” of an invocation", "“app_name” of a session", "“author” of an event",
        "“description” of the evalset", "“invocation_id” of an invocation",
    ):  # fmt: skip
        assert any(field in note for note in notes), field


def test_responses_without_an_id_answer_the_calls_of_their_tool_in_order():
    uses = [{"name": "roll", "args": {"sides": sides}} for sides in (6, 8)]
    responses = [{"name": "roll", "response": {"rolled": rolled}} for rolled in (4, 7)]
    turn = {
        "user_content": {"parts": [{"text": "Roll"}]},
        "intermediate_data": {"tool_uses": uses, "tool_responses": responses},
    }
    told = json.dumps({"eval_cases": [{"conversation": [turn]}]}).encode()
    (case,) = adk.read_cases(told, "set.json").cases
    assert [(call.called.arguments, call.returned.result.text) for call in recorded_calls(case.record)] == [
        ({"sides": 6}, '{"rolled":4}'),
        ({"sides": 8}, '{"rolled":7}'),
    ]


def test_the_older_form_of_adk_is_read_too():
    first, second = adk.read_cases(content("older.test.json"), "older.test.json").cases
    assert (first.content.input, first.content.expected_calls) == ("hi", ())
    assert first.content.reference == "Hello! What can I do for you?\n"
    assert second.content.expected_calls == (ExpectedCall(name="roll_die", arguments={"sides": 6}),)


def test_an_evalset_of_ours_is_read_back():
    calls = (ExpectedCall(name="add", arguments={"x": 1}),)
    said = CaseContent(input="a", turns=("b",), reference="c", expected_calls=calls, variables={"v": "1"})
    (again,) = adk.read_cases(adk.write_cases(new_cases("d1", [said]), name="set"), "set.json").cases
    assert again.content.model_copy(update={"note": ""}) == said


def test_samples_of_openai_become_cases_with_what_was_said_before():
    received = openai_evals.read_cases(content("samples.jsonl"), "samples.jsonl")
    capital, louvre, hosted, cat = (case.content for case in received.cases)
    assert (capital.input, capital.reference) == ("Italy?", "Rome")
    assert [message.text for message in capital.history] == ["France?", "Paris"]
    assert louvre.checks == (Contains(name="ideal", texts=("Paris", "paris"), mode="any"),)
    assert (hosted.input, hosted.reference, hosted.variables) == ("What is 2 + 2?", "4", {"topic": "sums"})
    assert cat.input == "What is on it?"
    assert set(received.notes[1:]) == {
        "Not taken: 1 × messages of the role system.",
        "Not taken: 1 × the field “difficulty” of a sample.",
        "Not taken: 1 × the field “sample” of a sample.",
        "Not taken: 1 × parts of messages of the type image_url.",
    }
    again = openai_evals.read_cases(openai_evals.write_cases(new_cases("d", [capital, hosted])), "again.jsonl")
    assert [case.content.input for case in again.cases] == ["Italy?", "What is 2 + 2?"]
    assert again.cases[0].content.history == capital.history


def test_json_lines_that_cannot_be_read_name_the_line():
    with pytest.raises(WorkbenchError, match=r"s.jsonl, line 3: this is no JSON"):
        openai_evals.read_cases(b'{"input": "a"}\n\n{"input": \n', "s.jsonl")
    with pytest.raises(WorkbenchError, match=r"s.jsonl, line 1: here belongs an object of names and values, not 3"):
        openai_evals.read_cases(b"3\n", "s.jsonl")
    with pytest.raises(WorkbenchError, match="nested more than 60 levels"):
        openai_evals.read_cases(b'{"input": ' + b"[" * 100 + b"]" * 100 + b"}", "s.jsonl")


def packed(files: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, one in files.items():
            archive.writestr(name, one)
    return written.getvalue()


def eval_log() -> bytes:
    log = json.loads(content("inspect.json"))
    samples = {f"samples/{one['id']}_epoch_{one['epoch']}.json": json.dumps(one).encode() for one in log.pop("samples")}
    return packed({**samples, "header.json": json.dumps(log).encode()})


@pytest.mark.parametrize("log", [content("inspect.json"), eval_log()])
def test_a_log_of_inspect_becomes_cases_in_both_forms(log):
    received = inspect_log.read_cases(log, "log.eval")
    sky, vowels = (case.content for case in received.cases)
    assert (sky.input, sky.reference, sky.variables) == (
        "Is the sky blue?",
        " Yes",
        {"label": "Yes", "confidence": "0.9"},
    )
    assert vowels.input == "Which are vowels?"
    assert vowels.checks == (Contains(name="target", texts=("A", "B"), mode="any"),)
    assert "Not taken: 1 × further epochs of a sample." in received.notes
    assert "Not taken: 1 × the field “scores” of a sample." in received.notes
    assert "Not taken: 1 × the field “choices” of a sample." in received.notes


def test_a_log_that_is_too_large_or_damaged_is_refused():
    with pytest.raises(TooLarge, match="unpacked, this log has more than 32 MiB"):
        inspect_log.read_cases(packed({"samples/1_epoch_1.json": b" " * (LARGEST_DATASET + 1)}), "bomb.eval")
    with pytest.raises(TooLarge, match="more than 50,000 files"):
        inspect_log.read_cases(packed({f"f{number}": b"" for number in range(50_001)}), "many.eval")
    with pytest.raises(WorkbenchError, match="damaged"):
        inspect_log.read_cases(eval_log()[:-40], "half.eval")


def test_a_case_of_ours_is_a_test_of_promptfoo():
    check = Contains(name="names it", texts=("Paris",), mode="any")
    said = CaseContent(
        input="Capital of France?", reference="Paris", checks=(check, Exact()), variables={"tone": "dry"}
    )
    (again,) = promptfoo.read_cases(promptfoo.write_cases(new_cases("d", [said])), "out.yaml").cases
    assert again.content.input == said.input
    assert (again.content.reference, again.content.checks[1].texts) == ("Paris", ("Paris",))
