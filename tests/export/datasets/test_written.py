"""Datasets as files of other programs: what is written says the same when it is read back."""

import pytest

from app.domain.evals.cases import CaseContent, new_cases
from app.export.datasets import csv_table, openai_evals


@pytest.mark.parametrize("format", [csv_table, openai_evals])
def test_a_number_that_64_bits_do_not_hold_is_written_in_full(format):
    case = CaseContent(input="How many?", reference=12345678901234567890123)
    assert b"12345678901234567890123" in format.write_cases(new_cases("d", [case]))
