"""Datasets as files of other programs: what is written says the same when it is read back."""

import pytest

from app.domain.evals.cases import CaseContent, new_cases
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
