"""Datasets as files of other programs: what is written says the same when it is read back."""

import pytest

from app.domain.evals.cases import LONGEST_INPUT, CaseContent, new_cases
from app.domain.evals.scorers import Contains, Regex
from app.export.datasets import csv_table, openai_evals, promptfoo


@pytest.mark.parametrize("format", [csv_table, openai_evals])
def test_a_number_that_64_bits_do_not_hold_is_written_in_full(format):
    case = CaseContent(input="How many?", reference=12345678901234567890123)
    assert b"12345678901234567890123" in format.write_cases(new_cases("d", [case]))


@pytest.mark.parametrize(
    ("check", "again"),
    [
        (Contains(), Contains(texts=("Par.s",))),
        (Contains(mode="none", ignore_case=False), Contains(texts=("Par.s",), mode="none", ignore_case=False)),
        (Regex(), Regex(pattern="Par.s")),
        (Regex(whole=True), Regex(pattern="Par.s", whole=True)),
        (Regex(pattern="a|b", whole=True), Regex(pattern="a|b", whole=True)),
        (Regex(pattern="(a)|(b)", whole=True), Regex(pattern="^(?:(a)|(b))$")),
        (Regex(pattern="^(?:a)|(?:b)$"), Regex(pattern="^(?:a)|(?:b)$")),
    ],
)
def test_a_check_asks_the_same_in_a_file_of_promptfoo(check, again):
    said = CaseContent(input="Capital of France?", reference="Par.s", checks=(check,))
    received = promptfoo.read_cases(promptfoo.write_cases(new_cases("d", [said])), "f.yaml")
    assert (received.cases[0].content.checks, received.notes) == ((again,), ())


def test_a_check_for_references_asks_for_each_and_one_without_is_left_out():
    said = [CaseContent(input="Which?", reference=one, checks=(Contains(mode="any"),)) for one in (["a", "b"], None)]
    several, none = promptfoo.read_cases(promptfoo.write_cases(new_cases("d", said)), "f.yaml").cases
    assert several.content.checks == (Contains(texts=("a", "b"), mode="any"),)
    assert none.content.checks == ()


def test_an_input_as_long_as_may_be_is_read_back_from_a_table():
    said = CaseContent(input="x" * LONGEST_INPUT)
    (again,) = csv_table.read_cases(csv_table.write_cases(new_cases("d", [said])), "t.csv").cases
    assert again.content == said


def test_variables_of_any_name_are_read_back_from_a_table():
    names = ("-a", "@b", "note", "reference", "tags", "must_pass", "input", "__expected", "variable: x", "tone")
    said = CaseContent(input="hi", note="mine", variables={name: f"its {name}" for name in names})
    received = csv_table.read_cases(csv_table.write_cases(new_cases("d", [said])), "t.csv")
    assert ([case.content for case in received.cases], received.notes) == ([said], ())


def test_a_variable_that_is_the_input_has_no_column_of_its_own():
    said = CaseContent(input="hi", variables={"input": "hi"})
    assert csv_table.write_cases(new_cases("d", [said])).splitlines()[1] == b"hi,,,,"
