"""The format of a file that somebody picks."""

import pytest

from app.ui.evals.dataset_files import guessed


@pytest.mark.parametrize(
    ("name", "beginning", "format"),
    [
        ("cases.csv", "input,reference", "csv"),
        ("promptfooconfig.yaml", "prompts:", "promptfoo"),
        ("tests.json", '{"tests": []}', "promptfoo"),
        ("home.evalset.json", '{"eval_set_id": "home", "eval_cases": []}', "adk"),
        ("home.test.json", '{"evalSetId": "home", "evalCases": []}', "adk"),
        ("samples.jsonl", '{"input": [], "ideal": "4"}', "openai"),
        ("sums.jsonl", '{"format": "agent-playground/dataset", "version": 1}', "jsonl"),
        ("2026_task.eval", "PK\x03\x04", "inspect"),
        ("log.json", '{"version": 2, "eval": {"eval_id": "a"}}', "inspect"),
        ("nothing", "PK\x03\x04", "inspect"),
    ],
)
def test_a_format_is_guessed_by_name_and_beginning(name: str, beginning: str, format: str) -> None:
    assert guessed(name, beginning) == format
