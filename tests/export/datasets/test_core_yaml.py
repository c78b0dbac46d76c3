"""YAML as promptfoo reads it: by the core schema of YAML 1.2, which tells numbers otherwise than PyYAML does."""

import pytest

from app.domain.errors import WorkbenchError
from app.domain.evals.cases import CaseContent, new_cases
from app.export.datasets import promptfoo

GREAT = "1" + "0" * 5_000


@pytest.mark.parametrize(
    ("written", "taken"),
    [
        ("012", "12"),
        ("08001", "8001"),
        ("-0123456", "-123456"),
        ("0x1F", "31"),
        ("0o17", "15"),
        ("2.50", "2.5"),
        ("12345678901234567890123", "12345678901234567890123"),
        (GREAT, GREAT),
        ("123e456", "123e456"),
        ("12:30", "12:30"),
        ("yes", "yes"),
    ],
)
def test_a_plain_number_is_taken_as_yaml_1_2_has_it_and_one_too_great_as_it_is_written(written, taken):
    (case,) = promptfoo.read_cases(f"tests:\n- vars: {{input: hi, told: {written}}}\n".encode(), "f.yaml").cases
    assert case.content.variables["told"] == taken


@pytest.mark.parametrize(
    "text", ["08001", "012", "1e5", "0e12", "123e456", "0o17", "1_000", "12:30", "no", "2020-01-01"]
)
def test_a_text_that_could_be_read_as_a_number_is_written_as_a_text(text):
    written = promptfoo.write_cases(new_cases("d", [CaseContent(input="hi", variables={"told": text})]))
    assert f"'{text}'".encode() in written
    (case,) = promptfoo.read_cases(written, "f.yaml").cases
    assert case.content.variables["told"] == text


@pytest.mark.parametrize("threshold", ["1" + "0" * 400, "1e999", "-1", "1e-323"])
def test_a_threshold_that_is_no_time_is_told(threshold):
    told = f"tests:\n- vars: {{input: hi}}\n  assert: [{{type: latency, threshold: {threshold}}}]\n"
    received = promptfoo.read_cases(told.encode(), "f.yaml")
    assert received.cases[0].content.checks == ()
    assert "Not taken: 1 × assertions of the type latency without a value" in received.notes[0]


@pytest.mark.parametrize("written", ["!!int ''", "!!int x", "!!float ''", "!!bool x", "!!timestamp x"])
def test_a_value_that_is_none_of_its_tag_is_refused_in_words(written):
    with pytest.raises(WorkbenchError, match=r"f.yaml.*this is no YAML that can be read"):
        promptfoo.read_cases(f"tests:\n- vars: {{input: {written}}}\n".encode(), "f.yaml")
