"""What is typed of a case, and read back."""

import json

import pytest
from pydantic import JsonValue

from app.domain.errors import WorkbenchError
from app.domain.evals.cases import CaseContent, ExpectedCall, SimulatedUser
from app.ui.evals.case_form import also_holds, content_of, texts_of

FULL = CaseContent(
    input="What is 5 + 10?",
    turns=("And times 3?", "Thanks,\nbye"),
    data={"rows": [1, 2]},
    variables={"tone": "kind = short"},
    reference={"sum": 15},
    expected_calls=(ExpectedCall(name="calculator", arguments={"x": 5}), ExpectedCall(name="notes")),
    tags=("sums", "Large ones"),
    must_pass=True,
    note="From the shop",
)


@pytest.mark.parametrize(
    "case",
    [
        FULL,
        CaseContent(input="Hello"),
        CaseContent(input="Hello", expected_calls=()),
        CaseContent(input="Hello", reference=45, variables={"letter": "two\nlines"}),
        CaseContent(input="Hello", turns=("first\n---\nsecond", "  indented code")),
        CaseContent(input="Hello", variables={"between": " "}),
        CaseContent(input="Hello", variables={"{mode}": "kind"}),
        CaseContent(input="Hello", data={}, reference=" "),
        CaseContent(input="Hello", expected_calls=(ExpectedCall(name="none"), ExpectedCall(name="two words"))),
        CaseContent(input="Hello", tags=("large, and dear",), note="  From the shop"),
        CaseContent(input="Hello", user=SimulatedUser(goal="", persona=" ", model="demo/agent")),
        CaseContent(input="Hello", user=SimulatedUser(goal="A refund", persona="In a hurry", model="demo/agent")),
    ],
)
def test_a_case_that_nobody_changed_is_read_back_as_it_was(case: CaseContent) -> None:
    assert CaseContent.model_validate(content_of(texts_of(case), case)) == case
    filled = {name: value for name, value in texts_of(case).items() if value not in (None, "", " ")}
    assert CaseContent.model_validate(content_of(filled, case)) == case


def test_a_change_of_one_variable_leaves_the_others_as_they_were() -> None:
    before = CaseContent(input="Hello", variables={"between": " ", "a=b": "c", "tone": "kind"})
    typed = str(texts_of(before)["variables"]).replace("kind", "short")
    after = content_of({"input": "Hello", "variables": typed}, before)
    assert after["variables"] == {"between": " ", "a=b": "c", "tone": "short"}


@pytest.mark.parametrize(("before", "typed"), [(1, True), ({"rows": 1}, {"rows": 1.0}), (None, {}), ([1], None)])
def test_data_that_was_typed_anew_takes_the_place_of_what_was_there(before: JsonValue, typed: JsonValue) -> None:
    after = content_of({"input": "Hello", "data": typed}, CaseContent(input="Hello", data=before))
    assert json.dumps(after["data"]) == json.dumps(typed)


def read(typed: dict[str, JsonValue]) -> CaseContent:
    return CaseContent.model_validate(content_of({"input": "Hi", **typed}, CaseContent(input="")))


def test_what_begins_like_json_is_read_as_json_and_all_else_as_text() -> None:
    assert read({"reference": ' {"a": 1} '}).reference == {"a": 1}
    assert read({"reference": "45"}).reference == "45"


def test_no_call_is_another_thing_than_nobody_said() -> None:
    assert read({"expected_calls": "none"}).expected_calls == ()
    assert read({"expected_calls": " "}).expected_calls is None


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"input": " "}, "Write the message"),
        ({"reference": "{broken"}, "Expected answer: this is no JSON"),
        ({"expected_calls": "calculator [1]"}, "arguments are JSON with names"),
        ({"variables": "no equals sign"}, "as name = value"),
        ({"variables": "tone = friendly\n = nameless"}, "write '= nameless' as name = value"),
        ({"goal": "A refund"}, "Model: Field required"),
        ({"goal": "A refund", "model": "demo/agent", "turns": "And?"}, "not both"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_field(typed: dict[str, JsonValue], words: str) -> None:
    with pytest.raises(WorkbenchError, match=words.replace("(", r"\(")):
        read(typed)


def test_what_no_box_shows_is_kept_and_told() -> None:
    before = CaseContent(input="Hi", files={"/a.csv": "0" * 64, "/b.csv": "1" * 64})
    after = CaseContent.model_validate(content_of({"input": "Hello"}, before))
    assert after.files == before.files
    told = "It also holds 2 files of its session, the recorded results of its tools."
    assert also_holds(before, recorded=True) == told
    assert also_holds(CaseContent(input="Hi"), recorded=False) == ""
